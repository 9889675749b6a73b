"""Finding words in many lines at once: one lower-cased copy, and `str.find` per word."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple


class LineIndex(NamedTuple):
    """The lines joined by line feeds.

    Attributes:
        joined: The text as it is.
        lowered: The same in lower case, of the same length.
        starts: Where each line begins, and one past the end.
    """

    joined: str
    lowered: str
    starts: Sequence[int]

    def line_at(self, offset: int) -> int:
        """The index of the line that holds this offset."""
        return bisect_right(self.starts, offset) - 1

    def holding(self, word: str) -> Iterator[int]:
        """Indexes of the lines that hold a lower-case word as a substring, ascending, each once."""
        lowered, starts = self.lowered, self.starts
        at = lowered.find(word)
        while at >= 0:
            line = bisect_right(starts, at) - 1
            yield line
            at = lowered.find(word, starts[line + 1])


def index_lines(texts: Sequence[str]) -> LineIndex:
    """Index view lines."""
    joined = "\n".join(texts)
    lowered = joined.lower()
    if len(lowered) != len(joined):
        # A few letters grow when lowered (İ): then only those that do not are lowered.
        lowered = "".join(low if len(low := letter.lower()) == 1 else letter for letter in joined)
    starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
    return LineIndex(joined, lowered, starts)
