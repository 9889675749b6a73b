"""The extracts of an ingest: the pairs below its one heading ``## Quotes``.

A pair is a ``Source extract (verbatim)`` and its ``Source location``. The words of an extract stand in a
fence, in a block quote, or as they are, beside or below their label.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

EXTRACT = "Source extract (verbatim)"
LOCATION = "Source location"
QUOTATION_MARKS = frozenset({('"', '"'), ("“", "”"), ("«", "»")})


class Extract(NamedTuple):
    """One quotation of a source: its words, where they stand in the source, and its line in the ingest."""

    text: str
    location: str
    line: int


def quotes_section(text: str) -> tuple[int, int]:
    """Code points from after the one heading ``## Quotes`` to the next of its level or above; else 0, 0."""
    from admit.evidence.markdown import parse

    headings = [one for one in parse(text).headings if one.level <= 2]
    own = [k for k, one in enumerate(headings) if one.level == 2 and one.text.strip() == "Quotes"]
    if len(own) != 1:
        return 0, 0
    data = text.encode()
    after = headings[own[0] + 1 :]
    start, end = headings[own[0]].end, after[0].start if after else len(data)
    return len(data[:start].decode()), len(data[:end].decode())


def extracts(section: str, first: int) -> Iterator[Extract]:
    """Pairs of an extract and its location; labels inside a fence or a block quote are words of the source.

    Args:
        first: Line of the file on which the section begins.
    """
    extract: list[tuple[int, str]] = []
    location: list[str] | None = None
    fence = ""
    for number, line in enumerate(section.split("\n"), first):
        line = line.removesuffix("\r")
        label = None if fence else _label().match(line)
        within, fence = fence, _fence_after(line, fence)
        if label is not None and label.group(1).lower() == LOCATION.lower():
            location = [label.group(2) or ""]
            continue
        if label is None and location is not None:
            # A location is one paragraph, beside its label or below it.
            ended = (not line.strip() and any(map(str.strip, location))) or _heading().match(line)
            if not ended:
                location.append(line)
                continue
        if label is not None or location is not None or (not within and _heading().match(line)):
            yield from _pair(extract, location)
            extract, location = [], None
        if label is not None:
            extract = [(number, label.group(2) or "")]
        elif extract:
            extract.append((number, line))
    yield from _pair(extract, location)


def _pair(lines: list[tuple[int, str]], location: list[str] | None) -> Iterator[Extract]:
    """The pair, if it has words: those of the first fence, of a block quote, or as they stand."""
    while lines and not lines[0][1].strip():
        lines = lines[1:]
    while lines and not lines[-1][1].strip():
        lines = lines[:-1]
    if not lines:
        return
    texts = [text for _, text in lines]
    first = lines[0][0]
    if fence := _fence_after(texts[0], ""):
        first += 1
        closed = next((k for k, one in enumerate(texts[1:], 1) if not _fence_after(one, fence)), len(texts))
        texts = texts[1:closed]
    elif all(text.lstrip().startswith(">") or not text.strip() for text in texts):
        texts = [text.strip().removeprefix(">").removeprefix(" ") for text in texts]
    text = textwrap.dedent("\n".join(texts)).strip("\n")
    if len(text) > 1 and (text[0], text[-1]) in QUOTATION_MARKS:
        text = text[1:-1]
    if text.strip():
        words = " ".join(" ".join(location or ()).split()).removeprefix("> ")
        yield Extract(text, words, first)


def _fence_after(line: str, fence: str) -> str:
    """The marks of the fence that is open after a line, given those of the one before it; empty for none."""
    found = _fence().match(line)
    if not fence:
        return found.group(1) if found is not None else ""
    closes = found is not None and found.group(1).startswith(fence) and not found.group(2).strip()
    return "" if closes else fence


@lru_cache(maxsize=1)
def _label() -> re.Pattern[str]:
    """A label at the head of a line: as a list item, a heading, or in bold, with or without a colon."""
    words = "|".join(re.escape(one) for one in (EXTRACT, LOCATION))
    marks = r"[*_]{0,3}"
    before = r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:#{1,6}\s+)?"
    return re.compile(rf"{before}{marks}({words}){marks}\s*(?::{marks}\s*(.*)|$)", re.IGNORECASE)


@lru_cache(maxsize=1)
def _heading() -> re.Pattern[str]:
    return re.compile(r" {0,3}#{1,6}(?:\s|$)")


@lru_cache(maxsize=1)
def _fence() -> re.Pattern[str]:
    return re.compile(r"\s*(`{3,}|~{3,})(.*)$")
