"""Parsers of well-known tools' outputs: each marks lines, and what all of them say is put together here.

A parser is one module with the same three things: `NAME`, `HINTS` and `parse`. It is asked only where one of
its hints, RE2 patterns, is found in the text; all of them are looked for in one pass. Several may claim one
output, each from its first to its last own mark.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import re2

from admit.outputs.model import Block, Mark, Parsed
from admit.outputs.parsers import (
    cargo,
    git_diff,
    git_log,
    git_status,
    go,
    install,
    jest,
    json_text,
    junit,
    lint,
    make,
    pytest,
    source,
    tap,
)
from admit.outputs.parsers.sheet import RANK, disjoint
from admit.outputs.words import has_prefix, without_prefix

# A parser that calls most of an output a failure has singled nothing out.
MOST_FAILURES = 0.6
AT_ONCE_CHARS = 1 << 18


class Parser(Protocol):
    """What each parser module offers.

    Attributes:
        NAME: Its name, the first part of its rules.
        HINTS: RE2 patterns over UTF-8 bytes, with no other than ASCII characters in a class; a line end
            stands before the first line too. Where none is found it is not asked. Empty: it is always asked.
    """

    NAME: str
    HINTS: tuple[str, ...]

    def parse(self, lines: Sequence[str], text: str) -> Parsed | None:
        """Mark the lines of an output; `text` is the lines joined by line ends. None: it does not apply."""
        ...


PARSERS: tuple[Parser, ...] = (
    cargo, git_diff, git_log, git_status, go, install, jest, json_text, junit, lint, make, pytest,
    source, tap,
)  # fmt: skip


class Region(NamedTuple):
    """The lines one parser claims, by index, both ends included; quiet ones report nothing by their words."""

    name: str
    first: int
    last: int
    has_summary: bool
    quiet: bool = False


class ParseReport(NamedTuple):
    """What all parsers together say of an output.

    Attributes:
        marks: At most one a line, in line order: the strongest.
        regions: In line order, then by name.
        blocks: In line order, not overlapping.
        notes: Sentences for the header, by parser name.
        faults: Names of the parsers that threw and were skipped.
        parsed: A parser found a failure or a summary.
        composite: Two parsers found a summary each, in stretches that do not overlap.
    """

    marks: tuple[Mark, ...] = ()
    regions: tuple[Region, ...] = ()
    blocks: tuple[Block, ...] = ()
    notes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    parsed: bool = False
    composite: bool = False


def parse_all(lines: Sequence[str], joined: str, parsers: Sequence[Parser] = PARSERS) -> ParseReport:
    """Ask every parser that has a hint in the text, and put their answers together. Never raises.

    Args:
        lines: View lines, without their line ends.
        joined: The same, joined by ``\\n``.
        parsers: Who may be asked; their order does not matter.
    """
    lines, joined = _plain(lines, joined)
    found = []
    faults = []
    for parser in _recognised(joined, parsers):
        try:
            answer = parser.parse(lines, joined)
        except Exception:  # a parser is a guess about foreign text: its fault must cost nothing but its marks
            faults.append(parser.NAME)
        else:
            if answer is not None:
                found.append(answer)
    return merge(found, len(lines))._replace(faults=tuple(sorted(faults)))


def merge(found: Iterable[Parsed], count: int) -> ParseReport:
    """Put the answers of several parsers together; their order does not matter.

    The strongest mark of a line wins: failure, summary, detail, structure, noise. A parser that calls over
    60 % of the `count` lines a failure has them taken as detail.
    """
    best: dict[int, tuple[int, str, Mark]] = {}
    regions = []
    blocks: list[Block] = []
    parsed = False
    found = sorted(found, key=lambda answer: answer.name)
    for answer in found:
        kinds = [mark.kind for mark in answer.marks]
        has_summary = "summary" in kinds
        parsed = parsed or has_summary or "failure" in kinds
        reduced = kinds.count("failure") > MOST_FAILURES * count
        for mark in answer.marks:
            if reduced and mark.kind == "failure":
                mark = mark._replace(kind="detail")
            entry = (RANK[mark.kind], mark.rule, mark)
            if mark.line not in best or entry < best[mark.line]:
                best[mark.line] = entry
        first, last = answer.marks[0].line, answer.marks[-1].line
        regions.append(Region(answer.name, first, last, has_summary, answer.quiet))
        blocks += answer.blocks
    stages = [region for region in regions if region.has_summary]
    return ParseReport(
        marks=tuple(best[line][2] for line in sorted(best)),
        regions=tuple(sorted(regions, key=lambda region: (region.first, region.last, region.name))),
        blocks=disjoint(blocks),
        notes=tuple(answer.note for answer in found if answer.note),
        parsed=parsed,
        composite=bool(stages) and min(stage.last for stage in stages) < max(stage.first for stage in stages),
    )


def _plain(lines: Sequence[str], joined: str) -> tuple[Sequence[str], str]:
    """Take off carriage returns, and timestamps where most lines carry one: tools show at line starts."""
    returns = "\r" in joined
    sample = [line.rstrip("\r") for line in lines[:200] if line.rstrip("\r")][:40]
    stamped = bool(sample) and sum(map(has_prefix, sample)) >= 0.8 * len(sample)
    if not returns and not stamped:
        return lines, joined
    # From the joined text, not from the lines: it holds each character in as few bytes as it can.
    plain = joined.split("\n")
    for at, line in enumerate(plain):
        if returns:
            line = line.rstrip("\r")
        plain[at] = without_prefix(line) if stamped else line
    return plain, "\n".join(plain)


def _recognised(joined: str, parsers: Sequence[Parser]) -> list[Parser]:
    finder, owners = _hints(tuple(parser.HINTS for parser in parsers))
    asked: set[int] = set()
    at = 0
    while at <= len(joined):
        # In parts, each from a line's start to a line's end: no second copy of the whole text.
        end = joined.find("\n", at + AT_ONCE_CHARS)
        end = len(joined) if end < 0 else end
        hits = finder.Match(f"\n{joined[at:end]}".encode("utf-8", "surrogatepass")) or ()
        asked.update(owners[hit] for hit in hits)
        at = end + 1
    return [parser for i, parser in enumerate(parsers) if i in asked or not parser.HINTS]


@functools.lru_cache(maxsize=4)
def _hints(hints: tuple[tuple[str, ...], ...]) -> tuple[Any, list[int]]:
    """Compile the hints of all parsers into one finder, and say whose each is."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # bytes are matched as they are
    finder = re2.Set.SearchSet(options)
    owners = []
    for i, own in enumerate(hints):
        for hint in own:
            finder.Add(hint.encode())
            owners.append(i)
    finder.Compile()
    return finder, owners
