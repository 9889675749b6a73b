"""Redaction: credentials are taken out of a whole text before any of it is cut, assembled or sent.

Order: whole text, redact, cut, assemble, scan the assembled payload again, send. A hit of the second scan
means that nothing is sent.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from admit.errors import ConfigError

from .clock import Clock, SystemClock
from .secret_shapes import Mask, Tick, secrets

MOST_BYTES = 10 << 20
"""UTF-8 bytes of one text above which it is not sent at all."""

_PIECE = 4096

CLASSES = ("pem", "url_userinfo", "dsn", "auth", "token", "jwt", "pair", "entropy", "custom")


class Redacted:
    """A text without its credentials, and the way back to the places of the original.

    Attributes:
        masks: In order, not overlapping.
    """

    def __init__(self, original: str, masks: Sequence[Mask]) -> None:
        self.masks = tuple(masks)
        self._original = original
        self._starts = [mask.start for mask in self.masks]
        self._ends = [mask.end for mask in self.masks]

    @cached_property
    def text(self) -> str:
        """The whole text, redacted."""
        return self.slice(0, len(self._original))

    def slice(self, start: int, end: int) -> str:
        """The redacted text of ``original[start:end]``, in code points.

        A cut inside a mask yields the whole replacement, on either side of the cut.
        """
        start, end = max(0, start), min(end, len(self._original))
        if start >= end:
            return ""
        pieces: list[str] = []
        place = start
        for mask in self.masks[bisect_right(self._ends, start) : bisect_left(self._starts, end)]:
            pieces += (self._original[place : mask.start], mask.replacement)
            place = mask.end
        pieces.append(self._original[place:end])
        return "".join(pieces)

    def pointers(self, at: str, start: int = 0, end: int | None = None) -> tuple[dict[str, Any], ...]:
        """Where something was masked in ``original[start:end]``, for the record: never the value or its hash.

        Args:
            at: The place of this text in what is sent, such as ``/c3``.
        """
        end = len(self._original) if end is None else end
        inside = self.masks[bisect_right(self._ends, start) : bisect_left(self._starts, end)]
        places = [(max(mask.start, start), min(mask.end, end), mask.kind) for mask in inside]
        return tuple(
            {"at": at, "start": first - start, "len": last - first, "class": kind}
            for first, last, kind in places
        )


class Unredacted(Exception):
    """A text could not be redacted within its bounds, so nothing of it may be sent."""


class Redactor:
    """Finds credentials by their shape.

    Args:
        extra_patterns: RE2 patterns of the user; they add to the built-in shapes and replace none.
        clock: What a budget is counted on; the machine's monotonic clock when None.

    Raises:
        ConfigError: A pattern does not compile, or matches the empty text.
    """

    def __init__(self, extra_patterns: Iterable[str] = (), *, clock: Clock | None = None) -> None:
        self._extra = tuple(map(_compiled, extra_patterns))
        self._clock = clock or SystemClock()

    def redact(self, text: str, tick: Tick | None = None) -> Redacted:
        """The whole text without its credentials. Time is linear in the text; nothing else bounds it.

        Args:
            tick: Called wherever a credential might stand; what it raises ends the redaction.
        """
        data = _encoded(text)
        found = sorted(self._found(data, tick))
        if not found:
            return Redacted(text, ())
        masks = merged(found)
        return Redacted(text, masks if len(data) == len(text) else _in_code_points(data, masks))

    def budget(self, milliseconds: float) -> Budget:
        """The bounds of one ask, counted from now: every text of it shares the time."""
        return Budget(self, self._clock, milliseconds)

    def finds(self, text: str) -> bool:
        """Whether anything would be masked: the second scan, over what is about to be sent."""
        return any(True for _ in self._found(_encoded(text), None))

    def _found(self, data: bytes, tick: Tick | None) -> Iterator[Mask]:
        yield from secrets(data, tick)
        for pattern in self._extra:
            for match in pattern.finditer(data):
                if tick is not None:
                    tick()
                if match.end() > match.start():
                    yield Mask(match.start(), match.end(), "custom")


class Budget:
    """The bounds within which the texts of one ask are redacted: a size for each, a time for all."""

    def __init__(self, redactor: Redactor, clock: Clock, milliseconds: float) -> None:
        self._redactor = redactor
        self._clock = clock
        self._end = clock.monotonic() + milliseconds / 1000

    def redact(self, text: str) -> Redacted:
        """As `Redactor.redact`; the time is looked at wherever a credential might stand, and at the end.

        Raises:
            Unredacted: The text holds more than `MOST_BYTES`, or the time is over.
        """
        if is_too_large(text):
            raise Unredacted
        redacted = self._redactor.redact(text, self._tick)
        self._tick()
        return redacted

    def _tick(self) -> None:
        if self._clock.monotonic() > self._end:
            raise Unredacted


def is_too_large(text: str) -> bool:
    """Whether a text holds more than `MOST_BYTES`, as UTF-8."""
    if len(text) * 4 <= MOST_BYTES or len(text) > MOST_BYTES:
        return len(text) > MOST_BYTES
    return len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES


def _encoded(text: str) -> bytes:
    """A text as UTF-8; most pieces of a text are ASCII, which is four times as fast to encode."""
    if text.isascii():
        return text.encode()
    pieces = (text[place : place + _PIECE] for place in range(0, len(text), _PIECE))
    return b"".join([piece.encode("utf-8", "surrogatepass") for piece in pieces])


def _compiled(pattern: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    # UTF-8 and not Latin-1, so that a user's own letters match; matches then end between characters.
    options.encoding = re2.Options.Encoding.UTF8
    try:
        compiled = re2.compile(pattern.encode(), options)
    except (re2.error, UnicodeEncodeError) as error:
        raise ConfigError(f"pattern {pattern!r} is not RE2: {error}", key="judge.redact_patterns") from None
    if compiled.search(b"") is not None:
        raise ConfigError(f"pattern {pattern!r} matches the empty text", key="judge.redact_patterns")
    return compiled


def merged(found: Sequence[Mask]) -> list[Mask]:
    """Overlapping finds, in order, as one mask, of the class that begins first."""
    masks: list[Mask] = []
    last = 0
    for mask in found:
        if mask[0] >= last:
            masks.append(mask)
            last = mask[1]
        elif mask[1] > last:
            last = mask[1]
            masks[-1] = masks[-1]._replace(end=last)
    return masks


def _in_code_points(data: bytes, masks: Sequence[Mask]) -> list[Mask]:
    """Masks in bytes as masks in code points, in one walk."""
    placed: list[Mask] = []
    byte = point = 0
    for mask in masks:
        start = point + _length(data[byte : mask.start])
        end = start + _length(data[mask.start : mask.end])
        placed.append(Mask(start, end, mask.kind))
        byte, point = mask.end, end
    return placed


def _length(data: bytes) -> int:
    return len(data.decode("utf-8", "surrogatepass"))
