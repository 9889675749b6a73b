"""Shapes: what lines have in common when their numbers are forgotten. Rarity is counted over shapes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

LONGEST = 160
# What is looked at of a line: enough that its shape still has `LONGEST` characters.
LOOKED_AT = 240
# With more distinct shapes than this, rarity is counted over whole shapes alone.
MOST_WORDED = 20_000


class Shapes(NamedTuple):
    """Shapes of all lines.

    Attributes:
        ids: One number per line; equal shapes have equal numbers, in order of first occurrence.
        counts: Lines per shape.
        rarity: Per shape, 0 to 1: how much a line of this shape stands out among the others.
    """

    ids: list[int]
    counts: list[int]
    rarity: list[float]

    def count(self, line: int) -> int:
        """How many lines have this line's shape."""
        return self.counts[self.ids[line]]


def shapes(texts: Sequence[str]) -> Shapes:
    """Number the shapes of lines: without a leading timestamp, what holds a digit as `#`, spaces collapsed."""
    numbers: dict[str, int] = {}
    ids = [numbers.setdefault(shape, len(numbers)) for shape in _texts(texts)] if texts else []
    tally = Counter(ids)
    counts = [tally[number] for number in range(len(numbers))]
    return Shapes(ids, counts, _rarity(list(numbers), counts))


def _rarity(distinct: Sequence[str], counts: Sequence[int]) -> list[float]:
    """The larger of two: repetitive/count over whole shapes, and the same over their rarest word.

    Each counts only as far as the output repeats itself: the first by the share of lines whose shape is not
    their own, the second by the share of lines without a word that no other line has. So a table whose rows
    all differ still shows the one row with a name like no other.
    """
    total = max(1, sum(counts))
    repetitive = 1 - len(counts) / total
    by_shape = [repetitive / count for count in counts]
    if len(distinct) > MOST_WORDED:
        return by_shape
    found = [set(_words().findall(shape)) for shape in distinct]
    lines: Counter[str] = Counter()
    for words, count in zip(found, counts, strict=True):
        for word in words:
            lines[word] += count
    rarest = [min((lines[word] for word in words), default=total) for words in found]
    own = sum(count for count, least in zip(counts, rarest, strict=True) if least == 1)
    familiar = 1 - own / total
    return [max(value, familiar / least) for value, least in zip(by_shape, rarest, strict=True)]


def _texts(texts: Sequence[str]) -> list[str]:
    blob = "\n".join([text[:LOOKED_AT].rstrip() for text in texts])
    blob = _timestamps().sub("", blob)
    blob = _numbers().sub("#", blob)
    blob = _spaces().sub(" ", blob)
    return [shape[:LONGEST] for shape in blob.split("\n")]


@lru_cache(maxsize=1)
def _timestamps() -> re.Pattern[str]:
    """ISO 8601, syslog (RFC 3164), `[12.345]`, bare times; an opening bracket may stand before."""
    date = r"\d{4}[-/]\d\d[-/]\d\d"
    time = r"\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?"
    zone = r"(?:Z|[ \t]?[+-]\d\d:?\d\d)?"
    syslog = rf"[A-Z][a-z]{{2}} [ \d]\d {time}"
    return re.compile(
        rf"^[\[(]?(?:{date}[T ]{time}{zone}|{syslog}|{time}{zone}|[ \t]*\d+\.\d+)[\])]?[:,]?[ \t]+",
        re.MULTILINE,
    )


@lru_cache(maxsize=1)
def _numbers() -> re.Pattern[str]:
    return re.compile(r"[a-fA-F]{7,}|[A-Za-z]*\d[0-9A-Za-z]*")


@lru_cache(maxsize=1)
def _spaces() -> re.Pattern[str]:
    return re.compile(r"[^\S\n]{2,}|[^\S\n ]")


@lru_cache(maxsize=1)
def _words() -> re.Pattern[str]:
    return re.compile(r"[^\W\d_]{2,}")
