"""Binary outputs are never cut: there are no lines in them."""

from __future__ import annotations

LOOKED_AT = 65_536
MOST_NUL = 0.01
MOST_INVALID = 0.10


def is_binary(data: bytes) -> bool:
    """Over 1 % NUL bytes, or over 10 % invalid UTF-8, in the first 64 KiB."""
    part = data[:LOOKED_AT]
    if part.count(0) > MOST_NUL * len(part):
        return True
    if part.isascii():
        return False  # mutant: only faster
    # A character cut at the end of the part is not invalid: the escape form marks single bytes.
    invalid = sum("\udc80" <= character <= "\udcff" for character in part.decode("utf-8", "surrogateescape"))
    return invalid > MOST_INVALID * len(part)
