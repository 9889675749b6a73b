"""Heading anchors as GitHub makes them.

The algorithm is that of html-pipeline and github-slugger: lower case, everything but word characters,
hyphens and spaces removed, each space a hyphen, and a number after a slug that is taken.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

# Letters by their Unicode property, though their category is symbol: circled and squared capitals.
_LETTER_SYMBOLS = (
    range(0x24B6, 0x24EA), range(0x1F130, 0x1F14A), range(0x1F150, 0x1F16A), range(0x1F170, 0x1F18A),
)  # fmt: skip


def slug(text: str) -> str:
    """The anchor of a heading's plain text, before its number among equal ones."""
    return "".join(["-" if char == " " else char for char in text.lower() if _kept(char)])


class Slugger:
    """Numbers the slugs of one document: the second of equal ones ends in ``-1``, the third in ``-2``."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def unique(self, text: str) -> str:
        """The slug of a heading, that no heading before it has."""
        plain = slug(text)
        unique = plain
        while unique in self._taken:
            self._taken[plain] += 1
            unique = f"{plain}-{self._taken[plain]}"
        self._taken[unique] = 0
        return unique


@lru_cache(maxsize=4096)
def _kept(char: str) -> bool:
    if char in "- ":
        return True
    category = unicodedata.category(char)
    if category[0] in "LM" or category in ("Nd", "Nl", "Pc"):
        return True
    return any(ord(char) in letters for letters in _LETTER_SYMBOLS)
