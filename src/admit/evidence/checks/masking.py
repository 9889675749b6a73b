"""A block with all but its own words blanked out: code, tags, comments and the targets of links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise

from admit.evidence.matching import Span
from admit.evidence.note import Block, Link


def spans(block: Block, links: Sequence[Link]) -> list[tuple[Link, Span]]:
    """The links of a block with the code points of its text where they stand."""
    ends = sorted({at - block.start for link in links for at in (link.start, link.end)})
    points = {at: at for at in ends}
    if not block.text.isascii():
        data = block.text.encode()
        pieces = (data[low:high].decode("utf-8", "ignore") for low, high in pairwise([0, *ends]))
        points = dict(zip(ends, accumulate(map(len, pieces)), strict=True))
    return [(link, Span(points[link.start - block.start], points[link.end - block.start])) for link in links]


def masked(text: str, links: Iterable[tuple[Link, Span]]) -> str:
    """The text with spaces for what is no word of the writer, so that places stay the same."""
    hidden = [*_code(text), *_comments(text)]
    hidden += (Span(*match.span()) for match in _tags().finditer(text))
    hidden += (_target(text, link, span) for link, span in links)
    return blank(text, hidden)


def blank(text: str, hidden: Iterable[Span]) -> str:
    """The text with spaces for some stretches; they may overlap."""
    pieces: list[str] = []
    at = 0
    for start, end in sorted(hidden):
        if end > at:
            start = max(start, at)
            pieces += (text[at:start], " " * (end - start))
            at = end
    return "".join([*pieces, text[at:]])


def _target(text: str, link: Link, span: Span) -> Span:
    """What of a link is not its text."""
    if link.via in ("autolink", "html"):
        return span
    if link.via in ("wiki", "embed"):
        bar = text.rfind("|", span.start, span.end)
        return Span(span.start, bar if bar >= 0 else span.end)
    ends = [text.rfind(mark, span.start, span.end) for mark in ("](", "][")]
    return Span(max(ends), span.end) if max(ends) >= 0 else Span(span.end, span.end)


def _code(text: str) -> Iterator[Span]:
    """From each run of backticks to the next of the same length."""
    runs = [Span(*match.span()) for match in _backticks().finditer(text)]
    places: dict[int, list[int]] = {}
    for n in range(len(runs) - 1, -1, -1):
        places.setdefault(runs[n].end - runs[n].start, []).append(n)
    n = 0
    while n < len(runs):
        same = places[runs[n].end - runs[n].start]
        while same and same[-1] <= n:
            same.pop()
        if same:
            yield Span(runs[n].start, runs[same[-1]].end)
            n = same[-1]
        n += 1


def _comments(text: str) -> Iterator[Span]:
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start + 4)
        end = len(text) if end < 0 else end + 3
        yield Span(start, end)
        start = text.find("<!--", end)


@lru_cache(maxsize=1)
def _backticks() -> re.Pattern[str]:
    return re.compile("`+")


@lru_cache(maxsize=1)
def _tags() -> re.Pattern[str]:
    return re.compile(r"</?[A-Za-z][^<>]*>")
