"""Quotations, held against what the nearest link leads to."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from html.entities import codepoint2name
from typing import NamedTuple

from admit.evidence.checks.masking import masked, spans
from admit.evidence.checks.page import Page, is_artifact
from admit.evidence.checks.texts import Text
from admit.evidence.matching import Closest, Span, parts
from admit.evidence.model import Finding
from admit.evidence.note import Block, Link

RULES = ("quote", "quote-long", "quote-unresolved")

_LOCATOR = 60  # characters before or after the link of an attribution: a name, a page, a section
_LOCATOR_WORDS = 5  # after it; more are a sentence that goes on

_LIKE = 1 / 3  # of the runs of three words that a quotation shares with what it may be from

_ELSEWHERE = 8  # links that are tried for a quotation that its own does not hold

_MARKS = (
    # Name, marks that open, marks that close, marks that do not stand inside.
    ("straight", '"', '"', '"'),
    ("mixed", "“", '"', '“”„"'),
    ("curly", "“", "”", "“”"),
    ("low", "„", '“”"', '„“”"'),
    ("angled", "«", "»", "«»"),
    ("turned", "»", "«", "«»"),
    ("half", '"', "”", '“”„"'),
    ("closing", "”", "”", '“”„"'),
    ("corner", "「", "」", "「」"),
    ("single", "‘", "’", "‘"),
)
_UNSURE = '"”’‘'
_ONLY_LONG = "single"
"""An apostrophe looks the same, so that only a long span is one."""


class Quotation(NamedTuple):
    """A quoted span.

    Attributes:
        start, end: Bytes of the note, the marks around it left out.
        wordings: What may be the quotation: of a block quote with and without its attribution.
        link: What it is held against; None where two links are equally near.
        sure: It is marked as a quotation; else it is one only where its target has something like it.
    """

    rule: str
    block: str
    start: int
    end: int
    wordings: tuple[str, ...]
    link: Link | None
    sure: bool = True


def check(page: Page) -> Iterator[Finding]:
    """One finding for each quotation that its target does not hold, or that has no one target."""
    # Target by target, so that each is worked out once however many there are.
    for one in sorted(quotations(page), key=_target):
        if one.link is None:
            text = "two links are equally near to this quotation, so it was not looked up"
            fix = "put the link to its source right after it"
            yield page.finding("quote-unresolved", one.start, one.end, text, block=one.block, fix=fix)
            continue
        text = page.texts.of(one.link)
        if text is None or _found(text, one):
            continue
        if one.sure or _resembles(page, text, one):
            yield _mismatch(page, one, text)


def verified(page: Page) -> frozenset[str]:
    """The targets that hold a quotation of the note which is looked up."""
    found = set()
    for one in sorted(quotations(page), key=_target):
        if one.link is not None and one.link.target not in found:
            text = page.texts.of(one.link)
            if text is not None and _found(text, one):
                found.add(one.link.target)
    return frozenset(found)


def quotations(page: Page) -> Iterator[Quotation]:
    """The quotations of a note that are looked up, in document order."""
    blocks = page.note.blocks
    n = 0
    while n < len(blocks):
        last = n
        while last + 1 < len(blocks) and _goes_on(page, blocks[last], blocks[last + 1]):
            last += 1
        group = blocks[n : last + 1]
        n = last + 1
        if not any(block.id in page.links_of for block in group):
            continue
        whole = None
        if group[0].quote and not _callout().match(group[0].text):
            whole = _block_quote(page, group)
        if whole is not None:
            yield whole
            continue
        for block in group:
            yield from _inline(page, block)


def _target(one: Quotation) -> tuple[str, bool]:
    return (one.link.target, one.link.snapshot_required) if one.link else ("", False)


def _goes_on(page: Page, block: Block, following: Block) -> bool:
    """Whether two blocks stand in the same block quote."""
    if not (block.quote and following.quote):
        return False
    gap = page.data[block.end : following.start].split(b"\n")
    return all(line.strip().startswith(b">") for line in gap[1:]) and not gap[0].strip()


def _inline(page: Page, block: Block) -> Iterator[Quotation]:
    """The spans in quotation marks of a block that has a link."""
    if block.id not in page.links_of:
        return
    if not _mark().search(block.text):
        return
    links = [(link, span) for link, span in page.spans(block) if link.via not in ("image", "embed")]
    own = masked(block.text, links)
    found = [(match.lastgroup or "", match) for match in _quoted().finditer(own)]
    quoted = [(Span(*match.span(name)), name == _ONLY_LONG) for name, match in found]
    outside, at = [], 0
    for span, _ in quoted:
        outside.append(own[at : span.start])
        at = span.end
    said = _verbatim().search(" ".join([*outside, own[at:]])) is not None
    for span, only_long in quoted:
        words = block.text[span.start : span.end]
        long = len(words.split()) >= page.settings.quote_min_words
        if not (long or (said and not only_long)) or not parts(words):
            continue
        near = _nearest(span, links)
        if not any(is_artifact(link) for link in near):
            continue
        start = block.start + len(block.text[: span.start].encode())
        yield Quotation(
            "quote" if said else "quote-long",
            block.id,
            start,
            start + len(words.encode()),
            (words,),
            near[0] if len(near) == 1 else None,
        )


def _nearest(span: Span, links: list[tuple[Link, Span]]) -> tuple[Link, ...]:
    """The link around a span; else the next after it, else the last before; both where they are as near."""
    opened = bisect_right(links, span.start, key=_start)
    if opened and links[opened - 1][1].end >= span.end:
        return (links[opened - 1][0],)
    before = links[opened - 1 : opened]
    at = bisect_left(links, span.end, key=_start)
    after = links[at : at + 1]
    if before and after:
        (one, place), (other, following) = before[0], after[0]
        if span.start - place.end == following.start - span.end and one.target != other.target:
            return one, other
    return tuple(link for link, _ in after or before)


def _start(link: tuple[Link, Span]) -> int:
    return link[1].start


def _block_quote(page: Page, group: tuple[Block, ...]) -> Quotation | None:
    """A block quote as one quotation: the link that tells where it is from is none of its words.

    Notes and tips stand in block quotes too. An attribution after a dash, or the word verbatim, marks a
    quotation; a link within a sentence marks none; any other is one if it is long and like its target.
    """
    start, end = group[0].start, group[-1].end
    text = page.raw(start, end)
    whole = group[0]._replace(end=end, text=text)
    links = [
        link
        for block in group
        for link in page.links_of.get(block.id, ())
        if link.via not in ("image", "embed")
    ]
    places = spans(whole, links)
    if not places:
        return None
    wordings = [text]
    target, last = places[-1]
    tail = _attribution().search(text, 0, last.start)
    led = places[0][1].start <= _LOCATOR and _says().match(text, places[0][1].end) is not None
    said = _verbatim().search(text) is not None
    passing = tail is None and not led and _in_sentence().search(text, 0, last.start) is not None
    if passing and (not said or _mark().search(text)):
        return None
    after = text[last.end :]
    ends = len(after) <= _LOCATOR and "\n" not in after.strip()
    place = ends and len(after.split()) <= _LOCATOR_WORDS
    sure = said or (place and tail is not None and tail["dash"] != "-")
    if tail is not None:
        wordings = [text[: tail.start()], text]
    elif ends:
        wordings.append(text[: last.start].rstrip(" \n\t>([—–-"))
    first, head = places[0]
    if tail is None and led:
        target = first
        wordings.append(text[head.end :].lstrip(" :,\n\t>—–-)"))
    wordings = [words for words in dict.fromkeys(wordings) if parts(words)]
    long = wordings and len(min(wordings, key=len).split()) >= page.settings.quote_min_words
    if wordings and is_artifact(target) and (sure or long):
        return Quotation("quote", group[0].id, start, end, tuple(wordings), target, sure)
    return None


def _found(text: Text, one: Quotation) -> bool:
    return any(text.find(words) is not None for words in one.wordings)


def _resembles(page: Page, text: Text, one: Quotation) -> bool:
    """Whether a third of the words of a quotation, or of a long sentence in it, are those of its target."""
    words = min(one.wordings, key=len)
    least = page.settings.quote_min_words
    sentences = [part for part in _sentence().split(words) if len(part.split()) >= least]
    return any(text.source.share(part) >= _LIKE for part in (words, *sentences))


def _mismatch(page: Page, one: Quotation, text: Text) -> Finding:
    """The finding about a quotation that its target does not hold, with the closest that there is."""
    words = one.wordings[0]
    near: Closest | None = None
    said = f"{text.path} does not hold this quotation"
    fix = "quote it as it stands, or leave out the marks"
    if text.ingest is not None:
        said = f"the Quotes of {text.path} do not hold this quotation"
        analysis = text.source.find(words)
        if analysis is not None:
            line = text.source.line(analysis.start)
            near = Closest(line, text.source.text[analysis.start : analysis.end])
            said += f": it stands in the ingest's own words at line {line}, and Quotes only are evidence"
            fix = "quote an extract, or add the passage to Quotes"
    if near is None:
        near = text.closest(words)
        other = _elsewhere(page, one)
        if other:
            fix = f"{other} holds it: put the link to that right after the quotation"
        if near is not None:
            said += f"; the closest is line {near.line}"
    return page.finding(
        one.rule, one.start, one.end, said, block=one.block, artifact=text.path, passage=near, fix=fix
    )


def _elsewhere(page: Page, one: Quotation) -> str:
    """Another artifact of the block that holds a quotation; empty without one."""
    for link in page.links_of.get(one.block, [])[:_ELSEWHERE]:
        if is_artifact(link) and one.link is not None and link.target != one.link.target:
            text = page.texts.of(link)
            if text is not None and _found(text, one):
                return text.path
    return ""


@lru_cache(maxsize=1)
def _mark() -> re.Pattern[str]:
    return re.compile(_any("".join(dict.fromkeys(opening for _, opening, _, _ in _MARKS))), re.IGNORECASE)


@lru_cache(maxsize=1)
def _quoted() -> re.Pattern[str]:
    """A span within each pair of `_MARKS`. Those of two uses open after no word and close before none."""
    ways = []
    for name, opening, closing, barred in _MARKS:
        before = r"(?<![\w\"])" if opening in _UNSURE else ""
        inside = rf"(?P<{name}>(?=\S)(?:(?!{_any(barred)}).)+?)"
        if name == "mixed":
            inside += r"(?<=[^\s(])"  # else the mark opens a quotation within
        after = r"(?!\w)" if closing in _UNSURE else ""
        ways.append(f"{before}{_any(opening)}{inside}{_any(closing)}{after}")
    return re.compile("|".join(ways), re.IGNORECASE | re.DOTALL)


def _any(marks: str) -> str:
    """A pattern of marks, each as it is or as an entity."""
    found = []
    for mark in marks:
        name = codepoint2name.get(ord(mark), "")
        found += [mark, f"&#{ord(mark)};", f"&#x{ord(mark):x};", *([f"&{name};"] if name else [])]
    return f"(?:{'|'.join(found)})"


@lru_cache(maxsize=1)
def _verbatim() -> re.Pattern[str]:
    return re.compile(r"\bverbatim\b", re.IGNORECASE)


@lru_cache(maxsize=1)
def _callout() -> re.Pattern[str]:
    return re.compile(r"\[!")


@lru_cache(maxsize=1)
def _attribution() -> re.Pattern[str]:
    """A dash at the head of a line, or after a sentence or quotation, with no other before the link."""
    return re.compile(r"(?:(?:^|\n)[\s>]*|(?<=[.!?\"”'’…])\s+)(?P<dash>—|–|--?)\s*[^\n—–]*\Z")


@lru_cache(maxsize=1)
def _sentence() -> re.Pattern[str]:
    return re.compile(r"(?<=[.!?])\s+")


@lru_cache(maxsize=1)
def _in_sentence() -> re.Pattern[str]:
    """Words before a link that go on in it: no end of a sentence, of a line or of a quotation."""
    return re.compile(r"[\w,;:] *(?:\*\*|[*_])?\Z")


@lru_cache(maxsize=1)
def _says() -> re.Pattern[str]:
    return re.compile(r"\)?[^.\n]{0,20}[:—–]|\)?\s*\n")
