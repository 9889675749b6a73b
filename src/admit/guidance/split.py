"""Propose the sections of a long file of instructions as ways of their own; nothing here touches a file.

A section is a heading of level 2 with its text, up to the next heading of level 1 or 2. Headings are those
of CommonMark (https://spec.commonmark.org/0.31.2/#atx-headings) that begin with `#`; inside fenced code,
comments and front matter there are none, and underlined ones (setext) are text like any other.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from admit.errors import GuidanceError
from admit.guidance.walk import MAX_BYTES
from admit.text.bm25 import idf
from admit.text.front_matter import parse
from admit.text.plain import one_line
from admit.text.terms import words

MIN_CHARS = 300
MAX_DESCRIPTION = 300
MAX_SLUG = 50
MAX_VOCABULARY = 12
MOST_MATTER = 4096
"""Bytes that the front matter of a section may take."""


class Section(NamedTuple):
    """A section that becomes a way.

    Attributes:
        at: Where its text begins in the whole, in code points.
        body: Its text as it stands, the heading included.
        slug: Name of its folder and file.
    """

    heading: str
    at: int
    body: str
    slug: str
    description: str
    vocabulary: str

    @property
    def text(self) -> str:
        """The file of the way: front matter and body."""
        lines = (
            "---",
            f"description: {_quoted(self.description)}",
            *((f"vocabulary: {self.vocabulary}",) if self.vocabulary else ()),
            "refire: normal",
            "---",
            "",
        )
        return ("\r\n" if "\r\n" in self.body else "\n").join(lines) + self.body


class Split(NamedTuple):
    """A text divided.

    Attributes:
        kept: What stays.
        sections: What becomes ways, in the order of the text.
        stays: Headings of level 2 that stay, each with the reason.
    """

    kept: str
    sections: tuple[Section, ...]
    stays: tuple[tuple[str, str], ...]


def split(text: str, *, named: Iterable[str] = ()) -> Split:
    """Divide a text. What stays and the bodies, put back in their places, are the text.

    Args:
        text: The whole file.
        named: Headings or slugs of sections that move whatever their length and words. What could not be
            read in a file of its own stays all the same.

    Raises:
        GuidanceError: A named section is not there.
    """
    spans = list(_sections(text))
    wanted = dict.fromkeys(map(str.strip, named), False)
    moved: list[tuple[str, int, str]] = []
    stays: list[tuple[str, str]] = []
    for heading, start, end in spans:
        body = text[start:end]
        asked = [name for name in wanted if name.casefold() in (heading.casefold(), slug(heading))]
        wanted.update(dict.fromkeys(asked, True))
        reason = _unreadable(body) or ("" if asked else _reason(body))
        if reason:
            stays.append((heading, reason))
        else:
            moved.append((heading, start, body))
    for name in (name for name, found in wanted.items() if not found):
        there = ", ".join(heading for heading, _, _ in spans) or "none"
        raise GuidanceError(f'there is no section "{name}"; sections are: {there}')
    kept, at = [], 0
    for _, start, body in moved:
        kept.append(text[at:start])
        at = start + len(body)
    kept.append(text[at:])
    return Split("".join(kept), tuple(_named(moved, kept)), tuple(stays))


def _named(moved: Sequence[tuple[str, int, str]], kept: Sequence[str]) -> Iterator[Section]:
    """Each section with a slug of its own, and the terms that tell it from the others and from the rest."""
    bags = [Counter(words(body)) for _, _, body in moved]
    spread = Counter(term for bag in (*bags, Counter(words("".join(kept)))) for term in bag)
    taken: set[str] = set()
    for (heading, at, body), bag in zip(moved, bags, strict=True):
        name = slug(heading)
        number = 2
        while name in taken:
            name, number = f"{slug(heading)}-{number}", number + 1
        taken.add(name)
        telling = [term for term in bag if len(term) > 2 and term.isalpha()]
        telling.sort(key=lambda term: (-idf(len(bags) + 1, spread[term]), -bag[term]))
        sentence = _first_sentence(body)
        about = one_line(f"{heading}: {sentence}" if sentence else heading)[:MAX_DESCRIPTION].strip()
        yield Section(heading, at, body, name, about, " ".join(telling[:MAX_VOCABULARY]))


def slug(heading: str) -> str:
    """A heading as the name of a folder: letters and digits in lower case, hyphens between."""
    plain = unicodedata.normalize("NFC", heading).lower()
    name = "".join(char if char.isalnum() else "-" for char in plain)
    return "-".join(filter(None, name.split("-")))[:MAX_SLUG].strip("-") or "section"


def _unreadable(body: str) -> str:
    """Why a file of this body would not be read as a way, or an empty text."""
    if "\0" in body:
        return "holds NUL, so a file of its own would count as binary"
    most = MAX_BYTES - MOST_MATTER
    return f"larger than {most:,} bytes" if len(body.encode("utf-8", "replace")) > most else ""


def _reason(body: str) -> str:
    """Why a section stays, or an empty text."""
    if len(body) < MIN_CHARS:
        return f"shorter than {MIN_CHARS} characters"
    standing = _standing().search(body)
    return f"says {standing.group().lower()}" if standing else ""


def _sections(text: str) -> Iterator[tuple[str, int, int]]:
    """Heading, start and end of each section."""
    open_at: tuple[str, int] | None = None
    for level, heading, at in _headings(text):
        if level > 2:
            continue
        if open_at is not None:
            yield (*open_at, at)
        open_at = (heading, at) if level == 2 else None
    if open_at is not None:
        yield (*open_at, len(text))


def _headings(text: str) -> Iterator[tuple[int, str, int]]:
    """Level, text and place of each heading outside fences, comments and front matter."""
    at = parse(text).body_at
    fence, comment = "", False
    for line in text[at:].split("\n"):
        start, at = at, at + len(line) + 1
        if comment:
            comment = "-->" not in line
            continue
        sign = _fence().match(line)
        if fence:
            if sign and sign[1].startswith(fence) and not line[sign.end() :].strip():
                fence = ""
        elif sign and not (sign[1][0] == "`" and "`" in line[sign.end() :]):
            fence = sign[1]
        elif line.lstrip(" ").startswith("<!--"):
            comment = "-->" not in line
        elif found := _heading().match(line):
            yield len(found[1]), (found[2] or "").strip(), start


def _first_sentence(body: str) -> str:
    """The first sentence of a section's first paragraph, on one line; empty where code comes first."""
    lines = []
    for line in body.split("\n")[1:]:
        plain = line.strip().lstrip("-*+> ").strip()
        if _fence().match(line) or (lines and not plain) or (plain.startswith("#")):
            break
        if plain:
            lines.append(plain)
    found = _sentence().match(" ".join(lines))
    return found[0] if found else ""


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@lru_cache(maxsize=1)
def _heading() -> re.Pattern[str]:
    return re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\r?$")


@lru_cache(maxsize=1)
def _fence() -> re.Pattern[str]:
    return re.compile(r" {0,3}(`{3,}|~{3,})")


@lru_cache(maxsize=1)
def _standing() -> re.Pattern[str]:
    return re.compile(r"\b(?:always|never|must)\b", re.IGNORECASE)


@lru_cache(maxsize=1)
def _sentence() -> re.Pattern[str]:
    return re.compile(r".*?[.!?。！？](?=\s|$)|.+")
