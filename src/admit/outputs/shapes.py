"""Shapes: what lines have in common when their numbers are forgotten. Rarity is counted over shapes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from .lines import AT_ONCE

LONGEST = 160
# What is looked at of a line: enough that its shape still has `LONGEST` characters.
LOOKED_AT = 240
STAMP_STARTS = frozenset("0123456789[( JFMASOND")
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
    """Number the shapes: a line without leading timestamp, words with a digit as `#`, spaces collapsed."""
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
    words_of = _words().findall
    found = [set(words_of(shape)) for shape in distinct]
    lines: Counter[str] = Counter()
    for words, count in zip(found, counts, strict=True):
        for word in words:
            lines[word] += count
    rarest = [min((lines[word] for word in words), default=total) for words in found]
    own = sum(count for count, least in zip(counts, rarest, strict=True) if least == 1)
    familiar = 1 - own / total
    return [max(value, familiar / least) for value, least in zip(by_shape, rarest, strict=True)]


def _texts(texts: Sequence[str]) -> Iterator[str]:
    stamp, numbers = _timestamp().match, _numbers()
    for begin in range(0, len(texts), AT_ONCE):
        heads: list[str] = []
        for text in texts[begin : begin + AT_ONCE]:
            head = text[:LOOKED_AT]
            # Few lines begin as a timestamp can: the pattern is tried on those alone.
            if head[:1] in STAMP_STARTS and (found := stamp(head)):
                head = head[found.end() :]
            heads.append(" ".join(head.split()))
        for shape in numbers.sub("#", "\n".join(heads)).split("\n"):
            yield shape[:LONGEST]


@lru_cache(maxsize=1)
def _timestamp() -> re.Pattern[str]:
    """ISO 8601, syslog (RFC 3164), `[12.345]`, bare times; an opening bracket may stand before."""
    date = r"\d{4}[-/]\d\d[-/]\d\d"
    time = r"\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?"
    zone = r"(?:Z|[ \t]?[+-]\d\d:?\d\d)?"
    syslog = rf"[A-Z][a-z]{{2}} [ \d]\d {time}"
    stamp = rf"{date}[T ]{time}{zone}|{syslog}|{time}{zone}|[ \t]*\d+\.\d+"
    return re.compile(rf"[\[(]?(?:{stamp})[\])]?[:,]?[ \t]+")


@lru_cache(maxsize=1)
def _numbers() -> re.Pattern[str]:
    """Runs of letters and digits with at least one digit; possessive, and begun only where a run begins."""
    return re.compile(r"(?<![0-9A-Za-z])[A-Za-z]*+[0-9][0-9A-Za-z]*+")


@lru_cache(maxsize=1)
def _words() -> re.Pattern[str]:
    return re.compile(r"[^\W\d_]{2,}")
