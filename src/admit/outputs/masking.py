"""Credentials out of what is shown: found in the whole output, as it came and as a terminal would leave it.

An escape sequence inside a credential hides it from a search of the bytes, and disappears from what is
shown; so the text is searched without them too, and every find is taken back to the bytes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate

from admit.judges.redact import Redacted, merged
from admit.judges.secret_shapes import Mask, secrets
from admit.text.ansi import sequences

from .model import OutputResult, RawOutput
from .view import as_text, as_utf8


class Masked:
    """Bytes, and where in them credentials stand.

    Args:
        data: The whole output, as UTF-8; a part of it could hold a part of a credential.

    Attributes:
        masks: In order, not overlapping, in bytes.
    """

    def __init__(self, data: bytes) -> None:
        # One character per byte, so that offsets are those of the bytes; credentials are ASCII.
        text = data.decode("latin-1")
        self.masks = tuple(merged(sorted(set(_found(text)))))
        self._data = data
        self._redacted = Redacted(text, self.masks)

    def slice(self, start: int, end: int) -> bytes:
        """The bytes between two offsets without credentials; one that is cut is masked on either side."""
        return self._redacted.slice(start, end).encode("latin-1") if self.masks else self._data[start:end]

    def hides(self, start: int, end: int) -> bool:
        """Whether anything between two offsets is masked."""
        return self.slice(start, end) != self._data[start:end]

    def blanked(self) -> bytes:
        """The same number of bytes and lines, with an asterisk for every byte of a credential."""
        blank = bytearray(self._data)
        for mask in self.masks:
            blank[mask.start : mask.end] = re.sub(rb"[^\n]", b"*", blank[mask.start : mask.end])
        return bytes(blank)


def masked_whole(data: bytes) -> bytes:
    """A whole output as UTF-8 without credentials; the same bytes where it holds none."""
    utf8 = as_utf8(data)
    masked = Masked(utf8)
    return masked.slice(0, len(utf8)) if masked.masks else data


def masked_result(result: OutputResult, output: RawOutput) -> OutputResult:
    """An output that is shown uncut, without its credentials; changed where it held any."""
    data = masked_whole(output.data)
    return result if data is output.data else result._replace(text=as_text(data), data=data, changed=True)


def _found(text: str) -> Iterator[Mask]:
    """Finds in the bytes as they came, without escapes, and without what a carriage return overwrote."""
    yield from secrets(text.encode("latin-1"))
    plain, escapes = _without(text, sequences(text))
    if len(plain) < len(text):
        yield from map(escapes.back, secrets(plain.encode("latin-1")))
    final, returns = _without(plain, (match.span() for match in _overwritten().finditer(plain)))
    if len(final) < len(plain):
        for found in secrets(final.encode("latin-1")):
            yield escapes.back(returns.back(found))


class _Removed:
    """Stretches that were taken out of a text, and the way from what is left back to the text."""

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        self._totals = [0, *accumulate(end - start for start, end in spans)]
        self._at = [start - before for (start, _), before in zip(spans, self._totals, strict=False)]

    def back(self, found: Mask) -> Mask:
        """The find in the text before, from its first character to its last."""
        return Mask(self._place(found.start), self._place(found.end - 1) + 1, found.kind)

    def _place(self, at: int) -> int:
        return at + self._totals[bisect_right(self._at, at)]


def _without(text: str, spans: Iterable[tuple[int, int]]) -> tuple[str, _Removed]:
    gone = list(spans)
    parts: list[str] = []
    place = 0
    for start, end in gone:
        parts.append(text[place:start])
        place = end
    parts.append(text[place:])
    return "".join(parts), _Removed(gone)


@lru_cache(maxsize=1)
def _overwritten() -> re.Pattern[str]:
    return re.compile(r"(?m)^[^\n]*\r(?=[^\n\r])")
