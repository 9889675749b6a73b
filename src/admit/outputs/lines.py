"""Finding words in many lines at once: one lower-cased copy, and `str.find` per word."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

# Lines joined in one go where a second copy of the whole text is to be avoided.
AT_ONCE = 2_048
AT_ONCE_CHARS = 1 << 18


class LineIndex(NamedTuple):
    """The lines joined by line feeds, in lower case, characters beyond the basic plane as U+FFFD.

    Attributes:
        lowered: The text; as long as the lines are.
        starts: Where each line begins, and one past the end.
    """

    lowered: str
    starts: Sequence[int]

    def holding(self, word: str) -> Iterator[int]:
        """Indexes of the lines that hold a lower-case word as a substring, ascending, each once."""
        lowered, starts = self.lowered, self.starts
        word = _basic(word)
        at = lowered.find(word)
        while at >= 0:
            line = bisect_right(starts, at) - 1
            yield line
            at = lowered.find(word, starts[line + 1])


def joined(texts: Sequence[str]) -> str:
    """View lines joined by line feeds, for looking at, not for showing.

    Characters beyond the basic plane (emoji) become U+FFFD: one of them would make Python hold every
    character of the whole text in four bytes.
    """
    parts: list[str] = []
    for begin in range(0, len(texts), AT_ONCE):
        parts.append(_basic("\n".join(texts[begin : begin + AT_ONCE])))
    return "\n".join(parts)


def index_lines(texts: Sequence[str], text: str) -> LineIndex:
    """Index view lines; `text` is what `joined` made of them."""
    lowered = "".join(_lower(text[at : at + AT_ONCE_CHARS]) for at in range(0, len(text), AT_ONCE_CHARS))
    return LineIndex(lowered, list(accumulate((len(line) + 1 for line in texts), initial=0)))


def _lower(text: str) -> str:
    """In lower case, and as long: of the few letters that grow (İ) only those that do not are lowered.

    In parts, for lowering wide text takes Python twelve bytes a character while it lasts.
    """
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)


def _basic(text: str) -> str:
    return text if text.isascii() else _astral().sub("\ufffd", text)


@lru_cache(maxsize=1)
def _astral() -> re.Pattern[str]:
    return re.compile("[\U00010000-\U0010ffff]")
