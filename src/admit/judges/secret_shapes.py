"""What credentials look like: the shapes behind redaction.

A few passes of RE2 over the bytes of a text, each linear. What a pass stops at is looked at in bounded
steps, or over what is then passed over, so the whole is linear too, whatever the text is.

Everything works on UTF-8 bytes: whatever begins or ends a secret is ASCII, so no cut parts a character.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log2
from typing import Any

from .secret_patterns import LEAST_VALUE, TOKEN_STEMS, regex
from .secret_values import NAME_BYTES, Mask, at_name, begins_word, follows_escape, is_placeholder

__all__ = ["Mask", "Tick", "secrets"]

Tick = Callable[[], None]

_LEAST_RUN_BITS = 4.0
_LONG_RUN = 4096
_NAME_ENDS = frozenset(b" \t\r\n\f:=>(|\"'`")
"""What stands before the first bytes of a value, and never that near to the end of a token or a run.

A name without one of them there holds a space, a tab or a backslash, and a token or a run never does.
"""

_REACH = 1024
"""Bytes past a stretch of text that are looked at for the end of what begins in it."""

_MOST_NAME = len("authorization")
_SHORTEST_WITH_SHAPE = 12
"""Bytes of a name and its separator below which no token begins inside: a bot's does in `key12345678:`."""


def secrets(data: bytes, tick: Tick | None = None) -> Iterator[Mask]:
    """Every secret, pass by pass; finds may overlap.

    Args:
        tick: Called wherever one might stand, so that who counts time can raise.
    """
    for finds in (_key_blocks, _addresses, _json_web_tokens, _shapes_and_names):
        for found in finds(data):
            if tick is not None:
                tick()
            if found is not None:
                yield found


# --- key blocks, addresses and web tokens -----------------------------------------------------------------


def _key_blocks(data: bytes) -> Iterator[Mask]:
    """From a private key's first line to its last; without a last line, to the end of the text."""
    place = 0
    while (first := regex("pem_begin").search(data, place)) is not None:
        last = regex("pem_end").search(data, first.end())
        place = last.end() if last is not None else len(data)
        yield Mask(first.start(), place, "pem")


def _addresses(data: bytes) -> Iterator[Mask | None]:
    """`scheme://user:password@host`: the user and the password."""
    for match in regex("address").finditer(data):
        start, end = match.span(1)
        userinfo = data[start:end]
        a_scheme = data[max(0, match.start() - 1) : match.start()].isalnum()
        hidden = is_placeholder(userinfo) or is_placeholder(userinfo.partition(b":")[2])
        yield Mask(start, end, "url_userinfo") if a_scheme and not hidden else None


def _json_web_tokens(data: bytes) -> Iterator[Mask]:
    for match in regex("jwt").finditer(data):
        yield Mask(match.start(), match.end(), "jwt")


# --- tokens by their prefix, long random runs, and names --------------------------------------------------


def _shapes_and_names(data: bytes) -> Iterator[Mask | None]:
    """One pass for both: it stops at whichever begins first, and there looks for the other inside.

    None where nothing is found at a stop.
    """
    stops = regex("shape_or_name").finditer
    shapes = _Shapes(data)
    place, at = 0, stops(data)
    while (match := next(at, None)) is not None:
        start, end = match.span()
        text, gap = data[start:end], data[place:start]
        if text in shapes.plain and gap.strip(NAME_BYTES) and not follows_escape(data, start):
            place = end
            yield None
            continue
        is_name = data[end - LEAST_VALUE - 1] in _NAME_ENDS or b" " in text or b"\t" in text or b"\\" in text
        if is_name:
            value = _value_start(data, start, end)
            if value - start >= _SHORTEST_WITH_SHAPE:
                yield from shapes.beginning(start + 1, value)
            found, place = _at_stop(data, start, value)
            yield found
            at = stops(data, place)
            continue
        # What goes on from one run to the next is one identifier; it is gone through once, and not
        # again for each run in it.
        place = end if gap.strip(NAME_BYTES) else regex("identifier").match(data, end).end()
        yield from shapes.finds(start, end)
        yield from shapes.beginning(end, place)
        if shapes.hold_a_name(start, place):
            value, last = start, place
            while (name := next(_beginning("named", data, value, last), None)) is not None:
                value = _value_start(data, *name.span())
                found, after = _at_stop(data, name.start(), value)
                yield found
                yield from shapes.beginning(place, value)
                place = max(place, after)
        if place != end:
            at = stops(data, place)


def _value_start(data: bytes, start: int, end: int) -> int:
    """Where what follows a name begins; a match ends with the first bytes of it, and of a scheme with all."""
    return end if data[start] in b"bB" else end - LEAST_VALUE


def _at_stop(data: bytes, start: int, end: int) -> tuple[Mask | None, int]:
    """What stands at a name, and where to go on."""
    place = end - (data[end - 1] in b"\"'")
    found = at_name(data, start, place)
    if found is None and data[start] == 0x2D:
        # A hyphen that begins no option is a part of a name, as in `x-api-key = …`.
        inner = next(_beginning("pair", data, start + 1, place), None)
        found = inner and _at_stop(data, inner.start(), inner.end() - LEAST_VALUE)[0]
    return found, place if found is None else max(place, found.end)


def _beginning(pattern: str, data: bytes, start: int, end: int) -> Iterator[Any]:
    """Matches that begin between two places, and may end after them."""
    limit = min(len(data), end + _REACH)
    for match in regex(pattern).finditer(data, start, limit):
        if match.start() >= end:
            return
        yield match if match.end() < limit else regex(pattern).match(data, match.start())


class _Shapes:
    """The tokens and long runs of a text. What was looked at is remembered: logs repeat their paths.

    Attributes:
        plain: Those that are known to hide nothing, and to hold no name.
    """

    def __init__(self, data: bytes) -> None:
        self.plain: set[bytes] = set()
        self._data = data
        self._kinds: dict[bytes, str] = {}

    def beginning(self, start: int, end: int) -> Iterator[Mask | None]:
        """Those that begin between two places."""
        if start < end:
            for match in _beginning("shape", self._data, start, end):
                yield from self.finds(*match.span())

    def hold_a_name(self, start: int, end: int) -> bool:
        """Whether the name of a secret begins between two places."""
        text = self._data[start:end]
        # It may end after the second, where a token of a fixed length stops inside a word.
        rest = self._data[end : end + _MOST_NAME] if self._data[end : end + 1].isalpha() else b""
        if regex("begins_named").search(text + rest) is not None:
            return True
        if not rest and self._kinds.get(text) == "plain" and not text.endswith(TOKEN_STEMS):
            self.plain.add(text)
        return False

    def finds(self, start: int, end: int) -> Iterator[Mask | None]:
        """What a token or a run hides; None for a plain one."""
        text = self._data[start:end]
        if follows_escape(self._data, start):
            start, text = start + 1, text[1:]
            kind = _kind(text)
        else:
            kind = self._kinds.get(text) or self._kinds.setdefault(text, _kind(text))
        if kind == "entropy" or (
            kind == "token" and (begins_word(self._data, start) or text[:1] not in b"shS")
        ):
            yield Mask(start, end, kind)
        if kind in ("holds_token", "entropy") or text.endswith(TOKEN_STEMS):
            # Also one that begins in a run and goes on after it, as in `…abcghp_…`.
            for token in _beginning("token", self._data, start, end):
                yield Mask(token.start(), token.end(), "token")
        else:
            yield None


def _kind(text: bytes) -> str:
    """What a token or a run is: ``token``, ``entropy``, ``holds_token`` or ``plain``."""
    token = regex("token").search(text)
    if token is not None and token.span() == (0, len(text)):
        return "token"
    if text.startswith(b"data:image/"):
        return "plain"
    if _looks_random(text):
        return "entropy"
    return "plain" if token is None else "holds_token"


_LOWER = b"abcdefghijklmnopqrstuvwxyz"
_UPPER = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = b"0123456789"
_SYMBOLS = b"+/_-="
_ALPHABETS = (_LOWER, _UPPER, _DIGITS, _SYMBOLS)
_KINDS = bytes(
    ord("a") if byte in _LOWER else ord("A") if byte in _UPPER else ord(" ") for byte in range(256)
)


def _looks_random(run: bytes) -> bool:
    # To search a run for each byte is a hundred times as fast as to go through its bytes.
    distinct = [[byte for byte in alphabet if byte in run] for alphabet in _ALPHABETS]
    if sum(map(bool, distinct)) < 3 or sum(map(len, distinct)) < 2**_LEAST_RUN_BITS:
        return False
    if len(run) > _LONG_RUN:
        return True
    return regex("ordinary").fullmatch(run) is None and not _is_wordy(run) and _bits(run) >= _LEAST_RUN_BITS


def _bits(run: bytes) -> float:
    """Shannon entropy, in bits per byte."""
    shares = [run.count(byte) / len(run) for byte in sorted(frozenset(run))]
    return -sum([share * log2(share) for share in shares])


def _is_wordy(run: bytes) -> bool:
    """A path or an identifier: it falls into words of four letters and more on average, with few digits."""
    kinds = run.translate(_KINDS)
    # Words are `maven`, `Maven` and `MAVEN`; a capital and the small letters after it are one word.
    words = len(kinds.replace(b"A", b" ").split()) + len(kinds.replace(b"a", b" ").split())
    words -= kinds.count(b"Aa") - kinds.count(b"AAa")
    letters = kinds.count(b"a") + kinds.count(b"A")
    return letters >= 4 * words and letters >= 4 * (len(run) - len(run.translate(None, _DIGITS)))
