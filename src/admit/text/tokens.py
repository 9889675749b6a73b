"""Token counts without a tokenizer: two estimates, each with the name of its counter.

No vendor's tokenizer is asked, so neither figure is exact. One is for people to read, the other is for
limits and errs upwards.
"""

from __future__ import annotations

COUNTER = "estimate"
"""The counter of `estimate_tokens`; figures that come from it are written ``~412``."""

LIMIT_COUNTER = "utf8-bytes/3"
"""The counter of `limit_tokens`."""


def estimate_tokens(text: str) -> int:
    """About how many tokens a text takes: a quarter per ASCII character, one per other code point.

    Rounded up.
    """
    if text.isascii():
        return -(-len(text) // 4)
    plain = sum(map(str.isascii, text))
    return -(-plain // 4) + len(text) - plain


def limit_tokens(text: str) -> int:
    """What a text counts for against a model's limit: UTF-8 bytes / 3, rounded up."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // 3)
