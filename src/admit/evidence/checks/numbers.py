"""Numbers of claims, held against the artifacts of their blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from admit.evidence.checks.masking import blank, masked
from admit.evidence.checks.page import Page
from admit.evidence.checks.texts import Text
from admit.evidence.checks.values import Number, dates_in, numbers_in
from admit.evidence.matching import Span
from admit.evidence.model import Finding
from admit.evidence.note import Block

RULES = ("number",)


def check(page: Page) -> Iterator[Finding]:
    """One finding for each number of a claim that none of its artifacts holds."""
    for block, own, texts in claims(page):
        seen = set()
        for number, span in stated(own):
            if number in seen or any(text.values.hold(number) for text in texts):
                continue
            seen.add(number)
            yield about(page, "number", block, span, texts)


def claims(page: Page) -> Iterator[tuple[Block, str, tuple[Text, ...]]]:
    """The claims that hold a digit, masked, with the texts of all their artifacts."""
    for block in page.note.blocks:
        if block.role != "claim" or not _digit().search(block.text):
            continue
        own = _others().sub(lambda one: " " * len(one[0]), masked(block.text, page.spans(block)))
        if not _digit().search(own):
            continue
        texts = [page.texts.of(link) for link in page.artifacts(block)]
        held = tuple(text for text in texts if text is not None and text.stretches)
        # What cannot be read may hold it, and so may the source of an ingest without extracts.
        if held and len(held) == len(texts):
            yield block, own, held


def stated(own: str) -> Iterator[tuple[Number, Span]]:
    """The numbers of a claim that it states: no parts of dates or names."""
    own = blank(own, (span for _, span in dates_in(own)))
    for number, span in numbers_in(own):
        if (number.digits > 1 or number.marked) and not _named(own, span, number.marked):
            yield number, span


def about(page: Page, rule: str, block: Block, span: Span, texts: tuple[Text, ...]) -> Finding:
    """The finding about a span of a claim that none of these texts holds."""
    start = block.start + len(block.text[: span.start].encode())
    words = block.text[span.start : span.end]
    paths = list(dict.fromkeys(text.path for text in texts))
    some = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    return page.finding(
        rule,
        start,
        start + len(words.encode()),
        f"{words} does not stand in {some}",
        block=block.id,
        artifact=paths[0] if len(paths) == 1 else "",
        fix="link what it is from, or correct it",
    )


def _named(own: str, span: Span, marked: bool) -> bool:
    """Whether a number is a part of a name: ``GPT-40``, ``H100``, ``RFC 9110``, ``#123``, ``3f9a``."""
    before, after = own[max(0, span.start - 2) : span.start], own[span.end : span.end + 8]
    if before and (before[-1].isalpha() or before[-1] in "_#@"):
        return True
    if not marked and _acronym().search(own, max(0, span.start - 24), span.start):
        return True
    if len(before) > 1 and before[-1] in "-./" and (before[0].isalpha() or before[-1] == "/"):
        return True
    return _tail().match(after) is not None


@lru_cache(maxsize=1)
def _digit() -> re.Pattern[str]:
    return re.compile("[0-9]")


@lru_cache(maxsize=1)
def _others() -> re.Pattern[str]:
    """The marker of a list item, footnotes, sizes of embedded images, addresses, and paths of files."""
    return re.compile(
        r"\A\s*[0-9]{1,9}[.)](?=\s)|\[\^[^\]\s]*\]|\|[0-9x]+\]\]|https?://[^\s<>]+|www\.[^\s<>]+|[\w.-]*/[\w./-]*\.\w+"
    )


@lru_cache(maxsize=1)
def _acronym() -> re.Pattern[str]:
    """A word of capitals before a number and the parts of one, as in ``SP 800-53``; currencies aside."""
    return re.compile(r"\b(?!USD|EUR|GBP|CHF)[A-Z]{2,}[ \u00a0](?:[0-9]+[-./:])*\Z")


@lru_cache(maxsize=1)
def _tail() -> re.Pattern[str]:
    """What makes a word of digits a name: a letter and a digit after it, or more letters than a unit has."""
    return re.compile(r"[^\W\d]{1,3}[0-9_]|[^\W\d]{4}|_")
