"""Cuts between code points, and text that can always be encoded.

A Python string may hold surrogates: halves of a pair from somebody's JSON, or undecodable bytes. They cannot
be encoded as UTF-8, so text from outside passes `without_surrogates` before it is sent, hashed or shown.
"""

from __future__ import annotations


def head(text: str, n: int) -> str:
    """The first `n` code points at most; a surrogate pair is never parted, so it may be one fewer."""
    if n <= 0:
        return ""
    if n < len(text) and _parts_a_pair(text, n):
        n -= 1
    return text[:n]


def tail(text: str, n: int) -> str:
    """The last `n` code points at most; a surrogate pair is never parted, so it may be one fewer."""
    if n <= 0:
        return ""
    start = max(0, len(text) - n)
    if start and _parts_a_pair(text, start):
        start += 1
    return text[start:]


def without_surrogates(text: str) -> str:
    """Surrogate pairs as the one character they mean, and U+FFFD for each half that stands alone."""
    if _encodes(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def utf16_length(text: str) -> int:
    """Length in UTF-16 units, the way hosts written in JavaScript count characters."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _parts_a_pair(text: str, at: int) -> bool:
    return "\ud800" <= text[at - 1] <= "\udbff" and "\udc00" <= text[at] <= "\udfff"


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
