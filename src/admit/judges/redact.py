"""Redaction: credentials are taken out of a whole text before any of it is cut, assembled or sent.

Order: whole text, redact, cut, assemble, scan the assembled payload again, send. A hit of the second scan
means that nothing is sent.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from admit.errors import ConfigError

from .secret_shapes import Found, secrets

MOST_BYTES = 10 << 20
"""UTF-8 bytes of one text above which it is not sent at all."""

CLASSES = ("pem", "url_userinfo", "dsn", "auth", "token", "jwt", "pair", "entropy", "custom")


class Mask(NamedTuple):
    """One masked stretch of the original: code points, end exclusive."""

    start: int
    end: int
    kind: str

    @property
    def replacement(self) -> str:
        """What stands in its place."""
        return f"[redacted:{self.kind}]"


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

    def pointers(self, at: str) -> tuple[dict[str, Any], ...]:
        """Where something was masked, for the record: never the value, never a hash of it.

        Args:
            at: The place of this text in what is sent, such as ``/c3``.
        """
        return tuple(
            {"at": at, "start": mask.start, "len": mask.end - mask.start, "class": mask.kind}
            for mask in self.masks
        )


class Redactor:
    """Finds credentials by their shape.

    Args:
        extra_patterns: RE2 patterns of the user; they add to the built-in shapes and replace none.

    Raises:
        ConfigError: A pattern does not compile, or matches the empty text.
    """

    def __init__(self, extra_patterns: Iterable[str] = ()) -> None:
        self._extra = tuple(map(_compiled, extra_patterns))

    def redact(self, text: str) -> Redacted:
        """The whole text without its credentials. Time is linear in the text."""
        data = text.encode("utf-8", "surrogatepass")
        found = [*secrets(data), *self._custom(data)]
        if not found:
            return Redacted(text, ())
        masks = merged(sorted(found))
        return Redacted(text, masks if len(data) == len(text) else _in_code_points(data, masks))

    def finds(self, text: str) -> bool:
        """Whether anything would be masked: the second scan, over what is about to be sent."""
        data = text.encode("utf-8", "surrogatepass")
        return any(True for _ in secrets(data)) or any(True for _ in self._custom(data))

    def _custom(self, data: bytes) -> Iterator[Found]:
        for pattern in self._extra:
            for match in pattern.finditer(data):
                if match.end() > match.start():
                    yield Found(match.start(), match.end(), "custom")


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


def merged(found: Sequence[Found]) -> list[Mask]:
    """Overlapping finds, in order, as one mask, of the class that begins first."""
    masks: list[Mask] = []
    for start, end, kind in found:
        if masks and start < masks[-1].end:
            masks[-1] = masks[-1]._replace(end=max(end, masks[-1].end))
        else:
            masks.append(Mask(start, end, kind))
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
