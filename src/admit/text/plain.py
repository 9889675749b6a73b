"""Text without what cannot be seen: control, zero-width and bidirectional characters, lone surrogates."""

from __future__ import annotations

import unicodedata

_UNSEEN = frozenset(("Cc", "Cf", "Cs"))


def plain(text: str) -> str:
    """The text with unseen characters left out; line ends and tabs stay."""
    return "".join(char for char in text if char in "\n\t" or unicodedata.category(char) not in _UNSEEN)


def one_line(text: str) -> str:
    """Visible text on one line: white space of any kind is single spaces."""
    return " ".join(plain(" ".join(text.split())).split())
