"""The mark that tells Admit's own lines from text that imitates them.

A nonce is derived from the install key and the hash of one stored output, so nobody without the key can
write it into another output. Every line of Admit's own starts with it:

    [admit 3f9a1c2b] 5,870 of 121,437 chars … admit recall o_3f9a1c2b7d10     the first line of a render
    [admit 3f9a1c2b: 412 lines omitted, 120-531]                              a gap
    [admit 3f9a1c2b] lines 120-531 of 1,502 of o_3f9a1c2b7d10, verbatim       the first line of a recall
"""

from __future__ import annotations

import hmac
from collections.abc import Callable

LEAST, STEP, MOST = 8, 4, 64
ID_DIGITS = 12
# A first line of Admit's own is short; what is longer was not written here.
HEADER_CHARS = 1_000

_HEX = frozenset("0123456789abcdef")


def nonce(key: bytes, data_sha256: bytes, view: str | bytes) -> str:
    """The nonce for one output: 8 hex digits, lengthened by 4 until they do not occur in `view`.

    Args:
        key: The install key.
        data_sha256: SHA-256 of the raw bytes, as 32 bytes.
        view: The text, or its bytes, that will stand beside the nonce.
    """
    digits = _digits(key, data_sha256)
    length = LEAST
    if isinstance(view, str):
        while length < MOST and digits[:length] in view:
            length += STEP
    else:
        raw = digits.encode()
        while length < MOST and raw[:length] in view:
            length += STEP
    return digits[:length]


def header_line(nonce: str, words: str) -> str:
    """A first line, without its newline."""
    return f"[admit {nonce}] {words}"


def marker_line(nonce: str, words: str) -> str:
    """A line between kept pieces, such as a gap, without its newline."""
    return f"[admit {nonce}: {words}]"


def header_id(text: str | bytes) -> tuple[str, str] | None:
    """The nonce and the output id that the first line names, unverified; None where it is no header."""
    line = text[:HEADER_CHARS].decode("utf-8", "replace") if isinstance(text, bytes) else text[:HEADER_CHARS]
    line = line.partition("\n")[0]
    if not line.startswith("[admit "):
        return None
    end = line.find("] ")
    found = line[len("[admit ") : end]
    if end < 0 or not LEAST <= len(found) <= MOST or len(found) % STEP or not _HEX.issuperset(found):
        return None
    at = line.rfind("o_")
    while at > end:
        output_id = line[at : _end_of_hex(line, at + 2)]
        if len(output_id) >= 2 + ID_DIGITS:
            return found, output_id
        at = line.rfind("o_", 0, at)
    return None


def verifies(text: str | bytes, key: bytes, hash_of: Callable[[str], bytes | None]) -> bool:
    """Whether `text` is an earlier render or a recall: its first line names a stored output by its nonce.

    Args:
        text: A tool output as it came.
        key: The install key.
        hash_of: SHA-256 (32 bytes) of the stored output with this id, or None where none is stored.
    """
    named = header_id(text)
    if named is None:
        return False
    found, output_id = named
    data_sha256 = hash_of(output_id)
    if data_sha256 is None:
        return False
    return hmac.compare_digest(_digits(key, data_sha256)[: len(found)], found)


def _digits(key: bytes, data_sha256: bytes) -> str:
    return hmac.digest(key, data_sha256, "sha256").hex()


def _end_of_hex(line: str, at: int) -> int:
    while at < len(line) and line[at] in _HEX:
        at += 1
    return at
