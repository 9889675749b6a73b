"""Find a quotation in a text as a reader would: what print and Markdown change is undone on both sides.

Compatibility forms, entities, curly quotes, dashes, emphasis, code marks, quote marks, link targets and line
breaks do not count; letters, their case and their order do.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections import Counter
from functools import cached_property, lru_cache
from html import unescape
from typing import NamedTuple

from admit.evidence.positions import in_lines
from admit.text.terms import MARKS, UNSPACED

MAX_PASSAGE = 400
"""Characters of a passage that is shown."""

_CANDIDATES = 8  # lines that are compared word by word
_COMPARED = 400  # words of a quotation
_COMMON = 2000  # a word on more lines says nothing about where a quotation may come from

_DROPPED = "*_`>[]\\\u00ad\u034f\u180e\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_QUOTES = "\"'´‘’‚‛“”„‟‹›«»′″\u02bc"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\ufe58\ufe63\uff0d"
_TABLE = {
    **dict.fromkeys(map(ord, _DROPPED)),
    **dict.fromkeys(map(ord, _QUOTES), "'"),
    **dict.fromkeys(map(ord, _DASHES), "-"),
}


class Span(NamedTuple):
    """Code points of a text, from and up to."""

    start: int
    end: int


class Part(NamedTuple):
    """A stretch of a quotation that must occur as it stands.

    Attributes:
        text: Normal.
        open_start, open_end: It may begin or end within a word: ``[T]he`` stands for ``The``.
    """

    text: str
    open_start: bool = False
    open_end: bool = False


class Closest(NamedTuple):
    """The passage most like a quotation: its line from 1, and its words as they stand."""

    line: int
    text: str


class Source:
    """A text that quotations are looked up in; what was worked out for one serves the next.

    Attributes:
        text: As it stands.
        normal: Without what does not count.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        segments = _segments(text)
        self.normal = "".join(segments.pieces)
        self._outs, self._starts, self._ends = segments.outs, segments.starts, segments.ends

    def find(self, quotation: str) -> Span | None:
        """Where the text holds a quotation, the first such place.

        A comma or full stop at its end may be the writer's own, and so may marks around it.
        """
        wanted = parts(quotation)
        if not wanted:
            return None
        last = wanted[-1]
        shorter = (last.text.rstrip(".,"), last.text.rstrip(".,' "))
        for text in dict.fromkeys((last.text, *filter(None, shorter))):
            found = self._find((*wanted[:-1], last._replace(text=text)))
            if found is not None:
                return found
        return None

    def _find(self, wanted: tuple[Part, ...]) -> Span | None:
        first, at = -1, 0
        for part in wanted:
            found = _occurrence(self.normal, part, at)
            if found < 0:
                return None
            first = found if first < 0 else first
            at = found + len(part.text)
        return Span(self._place(first).start, self._place(at - 1).end)

    def byte_span(self, span: Span) -> tuple[int, int]:
        """The same in bytes of the text in UTF-8."""
        start = len(self.text[: span.start].encode())
        return start, start + len(self.text[span.start : span.end].encode())

    def line(self, at: int) -> int:
        """The line of a code point, from 1."""
        return self._rows.count("\n", 0, at) + 1

    def closest(self, quotation: str) -> Closest | None:
        """The line that shares most words with a quotation, the first of equals; None where none has any."""
        wanted = _words(normal(quotation))[:_COMPARED]
        votes: Counter[int] = Counter()
        for word in dict.fromkeys(wanted):
            lines = self._lines_of.get(word, ())
            if len(lines) <= _COMMON:
                for line in lines:
                    votes[line] += 1000 // len(lines) + 1
        likely = sorted(votes, key=lambda line: (-votes[line], line))[:_CANDIDATES]
        passages = {line: _cut(self._lines[line].strip(), frozenset(wanted)) for line in likely}
        best = min(likely, key=lambda line: (-_shared(wanted, _words(passages[line])), line), default=None)
        return None if best is None else Closest(best + 1, passages[best])

    def share(self, quotation: str) -> float:
        """Which part of a quotation's runs of three words the text holds, 0 to 1."""
        runs = _runs(normal(quotation))
        return len(runs & self._runs) / len(runs) if runs else 0.0

    @cached_property
    def _runs(self) -> frozenset[tuple[str, str, str]]:
        return _runs(self.normal)

    @cached_property
    def _rows(self) -> str:
        return in_lines(self.text)

    @cached_property
    def _lines(self) -> list[str]:
        return self._rows.split("\n")

    @cached_property
    def _lines_of(self) -> dict[str, list[int]]:
        """The lines of each word, ascending; a word that is too common has one more than `_COMMON`."""
        found: dict[str, list[int]] = {}
        for number, line in enumerate(self._lines):
            for word in dict.fromkeys(_words(line)):
                lines = found.setdefault(word, [])
                if len(lines) <= _COMMON:
                    lines.append(number)
        return found

    def _place(self, at: int) -> Span:
        """The code points of the text that one code point of the normal text stands for."""
        k = bisect_right(self._outs, at) - 1
        if self._ends[k] < 0:
            start = self._starts[k] + at - self._outs[k]
            return Span(start, start + 1)
        return Span(self._starts[k], self._ends[k])


def normal(text: str) -> str:
    """A text without what does not count in a quotation."""
    return "".join(_segments(text).pieces)


def parts(quotation: str) -> tuple[Part, ...]:
    """The stretches of a quotation that must occur, in order.

    It is cut at an ellipsis and at what stands in brackets, which the writer put in; a link is none of these.
    """
    cut = _cuts().split(quotation)
    kept: list[Part] = []
    for n in range(0, len(cut), 2):
        piece = cut[n]
        text = normal(piece).strip()
        if any(map(str.isalnum, text)):
            opens = n > 0 and cut[n - 1].endswith("]") and piece[0].isalnum()
            closes = n + 1 < len(cut) and cut[n + 1].startswith("[") and piece[-1].isalnum()
            kept.append(Part(text, opens, closes))
    if len(kept) == 1:  # marks around the whole
        kept[0] = kept[0]._replace(text=kept[0].text.strip("' "))
    return tuple(kept)


def _occurrence(text: str, part: Part, at: int) -> int:
    """Where a part stands from `at` on, as whole words and whole numbers; else -1."""
    at = text.find(part.text, at)
    while at >= 0:
        end = at + len(part.text)
        if (part.open_start or _edge(text, at)) and (part.open_end or _edge(text, end)):
            return at
        at = text.find(part.text, at + 1)
    return -1


def _edge(text: str, at: int) -> bool:
    """Whether no word or number goes on across a place."""
    if not 0 < at < len(text):
        return True
    before, after = text[at - 1], text[at]
    if before.isalnum() and after.isalnum():
        return bool(_unspaced().match(before) or _unspaced().match(after))
    if before.isdigit() and after in ".,":
        return not text[at + 1 : at + 2].isdigit()
    if before in ".," and after.isdigit():
        return not text[max(0, at - 2) : at - 1].isdigit()
    return True


class _Segments:
    """Stretches of a normal text, none of them empty.

    Attributes:
        outs: Where each begins in the normal text.
        starts: Where it begins in the text as it stands.
        ends: Where it ends there; -1 where it stands code point for code point.
    """

    __slots__ = ("_last", "_length", "ends", "outs", "pieces", "starts")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.outs = array("i")
        self.starts = array("i")
        self.ends = array("i")
        self._length = 0
        self._last = ""

    def add(self, piece: str, start: int, end: int = -1) -> None:
        """Append a piece; of two spaces or dashes that meet, one stays."""
        if self._last and piece.startswith(self._last):
            piece = piece[1:]
            start += end < 0
        if not piece:
            return
        self.pieces.append(piece)
        self.outs.append(self._length)
        self.starts.append(start)
        self.ends.append(end)
        self._length += len(piece)
        self._last = piece[-1] if piece[-1] in " -" else ""


def _segments(text: str) -> _Segments:
    found = _Segments()
    at = 0
    decomposed = not text.isascii() and _marks().search(text) is not None
    for match in _special(decomposed).finditer(text):
        start, end = match.span()
        if start > at:
            found.add(text[at:start], at)
        at = end
        kind = match.lastgroup
        if kind == "foreign":
            _foreign(found, match.group(), start)
        elif kind == "entity":
            found.add(_clean(unescape(match.group())), start, end)
        elif kind is not None:
            found.add({"space": " ", "quote": "'", "dash": "-"}[kind], start, end)
    if at < len(text):
        found.add(text[at:], at)
    return found


def _foreign(found: _Segments, run: str, start: int) -> None:
    """Code points beyond ASCII: as they are where nothing about them changes, else cluster by cluster."""
    if not _odd().search(run) and unicodedata.is_normalized("NFKC", run):
        found.add(run, start)
        return
    for cluster in _cluster().finditer(run):
        found.add(_clean(cluster.group()), start + cluster.start(), start + cluster.end())


def _clean(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).translate(_TABLE)
    return re.sub(r"-+", "-", re.sub(r"\s+", " ", text))


def _words(text: str) -> list[str]:
    return _word().findall(text.lower())


def _runs(text: str) -> frozenset[tuple[str, str, str]]:
    words = _words(text)
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def _shared(wanted: list[str], words: list[str]) -> int:
    """How many words two texts share in the same order."""
    from difflib import SequenceMatcher

    blocks = SequenceMatcher(None, wanted, words, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks)


def _cut(line: str, wanted: frozenset[str]) -> str:
    """A line, or the stretch of `MAX_PASSAGE` characters of a longer one that holds most of some words."""
    if len(line) <= MAX_PASSAGE:
        return line
    hits = [word.span() for word in _word().finditer(line.lower()) if word.group() in wanted]
    best, most, first = 0, 0, 0
    for n, (_, end) in enumerate(hits):
        while end - hits[first][0] > MAX_PASSAGE and first < n:
            first += 1
        if n - first + 1 > most:
            best, most = hits[first][0], n - first + 1
    return line[best : best + MAX_PASSAGE].strip()


@lru_cache(maxsize=2)
def _special(decomposed: bool) -> re.Pattern[str]:
    """What is not taken over as it stands; what has no name is dropped."""
    foreign = r"(?P<foreign>[^\x00-\x7f]+)"
    if decomposed:  # a letter goes with the marks that follow it
        foreign = rf"(?P<foreign>[A-Za-z](?=[{MARKS}])[^\x00-\x7f]+|[^\x00-\x7f]+)"
    target = (
        r"\]\((?:<[^<>\n]{0,500}>|(?:[^()\s\\]|\\.|\([^()\s]{0,500}\)){0,2000}+)(?:\s+\"[^\"]{0,500}\")?\)"
    )
    return re.compile(
        rf"{foreign}"
        r"|(?P<entity>&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
        rf"|{target}|\]\[[^\[\]]{{0,200}}\]|\[\^[^\]\s]{{1,60}}\]|</?(?:em|strong|b|i|code)>"
        r"|(?P<space>[\t-\r]\s*| \s+)"
        r"|(?P<quote>\")|(?P<dash>-{2,})"
        r"|[*_`>\[\]\\]|~~"
    )


@lru_cache(maxsize=1)
def _odd() -> re.Pattern[str]:
    """What changes although NFKC leaves it."""
    ascii_free = "".join(one for one in _DROPPED + _QUOTES + _DASHES if not one.isascii())
    return re.compile(rf"[{ascii_free}\s]")


@lru_cache(maxsize=1)
def _cluster() -> re.Pattern[str]:
    """A code point with what composes with it."""
    return re.compile(
        rf"(?:[\u1100-\u115f][\u1160-\u11a7]?[\u11a8-\u11ff]?|[\uac00-\ud7a3][\u11a8-\u11ff]?|.)[{MARKS}]*",
        re.S,
    )


@lru_cache(maxsize=1)
def _marks() -> re.Pattern[str]:
    return re.compile(rf"[A-Za-z][{MARKS}]")


@lru_cache(maxsize=1)
def _cuts() -> re.Pattern[str]:
    return re.compile(r"(\.(?:\s?\.){2,}|…|&hellip;|(?<!\])\[[^\[\]]{0,200}\](?![(\[]))")


@lru_cache(maxsize=1)
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}]")


@lru_cache(maxsize=1)
def _word() -> re.Pattern[str]:
    return re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
