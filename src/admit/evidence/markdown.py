"""One reading of a Markdown text: its links, blocks, headings and anchors. No file is looked at.

CommonMark with tables, footnotes and wiki links, as pulldown-cmark (through pyromark) reads them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from html import unescape
from itertools import accumulate
from typing import Any, NamedTuple

from admit.evidence import references
from admit.evidence.blocks import Stretch, anchors, cut, relation, roles
from admit.evidence.html_links import Tag, tags
from admit.evidence.note import Block, Document, Heading, Mark, Via
from admit.evidence.positions import Cursor
from admit.evidence.slugs import Slugger
from admit.text import front_matter

MAX_TEXT_DEPTH = 8  # links and images nested deeper have no text: each would hold that of all within
_NEAR_BYTES = 4096  # how far the end of an HTML link's text, or of a destination, is looked for
_CONTAINERS = ("BlockQuote", "FootnoteDefinition")
_NESTED = ("List", "BlockQuote", "FootnoteDefinition", "Heading", "Table")
_PASSED = frozenset({"Emphasis", "Strong", "Strikethrough", "TableCell", "CodeBlock"})
_REFERENCES = ("Reference", "Collapsed", "Shortcut")


def parse(text: str, *, wikilinks: bool = True) -> Document:
    """Read a Markdown text. Nothing is raised, whatever the text.

    Offsets are bytes of the whole text in UTF-8, front matter included. Halves of surrogate pairs count as
    the three bytes of a replacement character. With `wikilinks` off, ``[[name]]`` is no link but counted.
    """
    try:
        data = text.encode()
    except UnicodeEncodeError:
        text = re.sub("[\ud800-\udfff]", "\ufffd", text)
        data = text.encode()
    front = front_matter.parse(text)
    problems = [(problem.line, problem.text) for problem in front.problems]
    if front.too_large:
        problems.append((1, f"is over {front_matter.MAX_BYTES // 1024} KiB"))
    body = text[front.body_at :] if front.body_at else text
    base = len(text[: front.body_at].encode())
    found = _Walk(body, data, base, wikilinks)
    found.walk()
    blocks = cut(data, found.stretches)
    marks = _marks(data, found.drafts, blocks)
    blocks = roles(blocks, [mark for mark in marks if mark.via != "image"])
    undefined, unused, duplicate = found.references()
    return Document(
        front=None if problems else front,
        headings=_headings(data, found.headings),
        blocks=blocks,
        marks=marks,
        ids=frozenset(found.ids) | anchors(blocks),
        undefined=_lines(data, undefined),
        unused=_lines(data, unused),
        duplicate=_lines(data, duplicate),
        unfollowed=len(found.unfollowed),
        problems=tuple(problems),
    )


class _Draft:
    """A link before its line, block and number are known."""

    __slots__ = ("dest", "end", "start", "text", "via")

    def __init__(self, start: int, end: int, text: str, dest: str, via: Via) -> None:
        self.start, self.end, self.text, self.dest = start, end, text, dest
        self.via: Via = via


class _Title(NamedTuple):
    level: int
    text: str
    start: int
    end: int


class _Walk:
    """Goes once over the events of a body that begins `base` bytes into the text."""

    def __init__(self, body: str, data: bytes, base: int, wikilinks: bool) -> None:
        self.drafts: list[_Draft] = []
        self.stretches: list[Stretch] = []
        self.headings: list[_Title] = []
        self.ids: list[str] = []
        self.unfollowed: set[int] = set()
        self._body, self._data, self._base, self._wikilinks = body, data, base, wikilinks
        self._undefined: set[int] = set()
        self._used: set[str] = set()
        self._inside: list[int] = []  # open containers: where a list item's own text goes on, or -1
        self._quotes = 0
        self._open: list[tuple[_Draft | None, int]] = []  # open links and images: where their text begins
        self._pieces: list[str] | None = None  # the text within a link or heading
        self._title: list[str] | None = None
        self._images = 0  # their texts are no part of a heading's
        self._level = 0
        self._html: list[tuple[int, int]] = []
        self._skip = range(0)  # where the destination stands of a link that was read anew

    def walk(self) -> None:
        """Read all events."""
        import pyromark

        base = self._base
        events: Any = pyromark.events_with_range(
            self._body, options=_options(self._wikilinks), broken_link_callback=self._broken
        )
        for event, span in events:
            if "Text" in event:  # most events are: nothing is done for those outside links and headings
                if self._pieces is not None:
                    self._word(event["Text"], base + span["start"])
                continue
            if isinstance(event, str):
                if self._pieces is not None:
                    self._word(" ", base + span["start"])
                continue
            [(key, value)] = event.items()
            if key == "Code":
                if self._pieces is not None:
                    self._word(value, base + span["start"])
                continue
            name = ""
            if key == "Start" or key == "End":
                name = value if isinstance(value, str) else next(iter(value))
                if name in _PASSED:
                    continue
            start, end = base + span["start"], base + span["end"]
            if key == "Start":
                self._start(name, value, start, end)
            elif key == "End":
                self._end(name, start, end)
            elif key == "InlineHtml":
                self._tags([(start, end)])
            elif key == "Html":
                self._html.append((start, end))

    def references(self) -> tuple[list[int], list[int], list[int]]:
        """Offsets of undefined references, of unused definitions and of duplicate ones."""
        import pyromark

        undefined = sorted(self._undefined)
        if "]:" not in self._body:
            return undefined, [], []
        options = _options(self._wikilinks)
        definitions = pyromark.reference_definitions(self._body, options=options)
        if not definitions:
            return undefined, [], []
        again = references.duplicates(self._body.encode(), definitions, options)
        unused = references.unused(definitions, self._used)
        return undefined, [self._base + at for at in unused], [self._base + at for at in again]

    def _broken(self, link: Any) -> None:
        start, end = self._base + link["span"]["start"], self._base + link["span"]["end"]
        if link["link_type"] in ("Reference", "Collapsed"):
            self._undefined.add(start)
        elif (
            not self._wikilinks
            and self._data[start - 1 : start] == b"["
            and self._data[end : end + 1] == b"]"
        ):
            self.unfollowed.add(start)

    def _word(self, text: str, start: int) -> None:
        """Text within a link or heading."""
        if self._pieces is not None and start not in self._skip:
            self._pieces.append(text)
            if self._title is not None and not self._images:
                self._title.append(text)

    def _start(self, name: str, value: Any, start: int, end: int) -> None:
        if name in ("Link", "Image"):
            self._link(name, value[name], start, end)
        elif name == "Paragraph":
            if not self._inside or self._inside[-1] < 0:
                self.stretches.append(Stretch(start, end, self._quotes > 0))
        elif name == "Item":
            self._inside.append(start)
        elif name in ("TableHead", "TableRow"):
            self.stretches.append(Stretch(start, end, self._quotes > 0))
        elif name in _NESTED:
            self._close(start)
            if name == "Heading":
                self._pieces, self._title = [], []
                self._level = int(value["Heading"]["level"][1])
            elif name in _CONTAINERS:
                self._inside.append(-1)
                self._quotes += name == "BlockQuote"
        elif name == "HtmlBlock":
            self._html = []

    def _end(self, name: str, start: int, end: int) -> None:
        if name in ("Link", "Image"):
            self._end_link(name)
        elif name == "Item":
            self._close(end)
            self._inside.pop()
        elif name in _NESTED:
            if name == "Heading":
                self.headings.append(_Title(self._level, "".join(self._title or ()), start, end))
                self._pieces = self._title = None
            elif name in _CONTAINERS:
                self._inside.pop()
                self._quotes -= name == "BlockQuote"
            if self._inside and self._inside[-1] >= 0:
                self._inside[-1] = end
        elif name == "HtmlBlock":
            self._tags(self._html)

    def _close(self, end: int) -> None:
        """Ends what stands of a list item's own text before a block that is nested in it."""
        if self._inside and self._inside[-1] >= 0 and self._inside[-1] < end:
            self.stretches.append(Stretch(self._inside[-1], end, self._quotes > 0))

    def _link(self, name: str, link: Any, start: int, end: int) -> None:
        """A link or image begins."""
        if self._pieces is None:
            self._pieces = []
        draft = None
        if start not in self._skip:
            draft = _Draft(start, end, "", link["dest_url"], "image" if name == "Image" else "inline")
            kind = link["link_type"]
            if isinstance(kind, dict):
                self._wiki(draft, name)
            elif kind in _REFERENCES:
                self._used.add(link["id"])
                draft.via = "image" if name == "Image" else "reference"
            elif kind != "Inline":
                draft.via = "autolink"
                draft.dest = f"mailto:{draft.dest}" if kind == "Email" else draft.dest
            self.drafts.append(draft)
        self._images += name == "Image"
        self._open.append((draft, len(self._pieces)))

    def _end_link(self, name: str) -> None:
        draft, first = self._open.pop()
        self._images -= name == "Image"
        if draft is not None and self._pieces is not None and len(self._open) < MAX_TEXT_DEPTH:
            draft.text = " ".join("".join(self._pieces[first:]).split())
        if not self._open and self._title is None:
            self._pieces = None

    def _wiki(self, draft: _Draft, name: str) -> None:
        """A wiki link, or ``[[1]](url)``, which is an inline link whose text has brackets."""
        import pyromark

        draft.via = "embed" if name == "Image" else "wiki"
        if draft.dest.endswith("\\"):
            draft.dest = draft.dest[:-1]  # in tables the bar is escaped
        target = _target().match(self._data, draft.end, draft.end + _NEAR_BYTES)
        if target is None or draft.end - draft.start > _NEAR_BYTES:
            return
        source = self._data[draft.start : target.end()].decode("utf-8", "replace")
        for event, span in pyromark.events_with_range(source, options=_options(False)):
            tag = event.get("Start") if isinstance(event, dict) else None
            link: Any = tag.get(name) if isinstance(tag, dict) else None
            if link is not None and span["start"] == 0 and link["link_type"] == "Inline":
                self._skip = range(draft.end, draft.start + span["end"])
                draft.dest, draft.end = link["dest_url"], self._skip.stop
                draft.via = "image" if name == "Image" else "inline"
                return

    def _tags(self, lines: list[tuple[int, int]]) -> None:
        """HTML that stands on these stretches of the text: without the marks of quotes between them."""
        starts = list(accumulate((end - start for start, end in lines), initial=0))
        for tag in tags(b"".join([self._data[start:end] for start, end in lines])):
            first = bisect_right(starts, tag.start) - 1
            last = bisect_right(starts, tag.end - 1) - 1
            start = lines[first][0] + tag.start - starts[first]
            end = lines[last][0] + tag.end - starts[last]
            self.ids.extend(tag.anchors)
            for dest in tag.links if start not in self._skip else ():
                via = "image" if tag.name == "img" else "html"
                self.drafts.append(_Draft(start, end, self._html_text(tag, end), dest, via))

    def _html_text(self, tag: Tag, end: int) -> str:
        """The text of a link: of an image or the like its ``alt``, else what stands before ``</a``."""
        if tag.name != "a":
            return tag.attributes.get("alt", "")
        close = _close_tag().search(self._data, end, end + _NEAR_BYTES)
        inner = self._data[end : close.start()].decode("utf-8", "replace") if close else ""
        return " ".join(unescape(_any_tag().sub("", inner)).split())


def _marks(data: bytes, drafts: list[_Draft], blocks: tuple[Block, ...]) -> tuple[Mark, ...]:
    """Links in document order, each with its line, block and relation label."""
    drafts.sort(key=lambda draft: draft.start)
    marks: list[Mark] = []
    cursor, at, opened = Cursor(data), 0, -1
    for n, draft in enumerate(drafts, 1):
        line, column = cursor.move(draft.start)
        while at < len(blocks) and blocks[at].end <= draft.start:
            at += 1
        block = blocks[at] if at < len(blocks) and blocks[at].start <= draft.start else None
        required = "(snapshot required)" in draft.text
        place, label = "", ""
        if block is not None:
            place = block.id
            label = relation(data, block, draft.start, draft.end) if opened != at else ""
            opened = at
        marks.append(
            Mark(
                n,
                line,
                column,
                draft.start,
                draft.end,
                draft.text,
                draft.dest,
                draft.via,
                place,
                label,
                required,
            )
        )
    return tuple(marks)


def _headings(data: bytes, titles: list[_Title]) -> tuple[Heading, ...]:
    slugger, cursor = Slugger(), Cursor(data)
    headings: list[Heading] = []
    for title in titles:
        text = title.text.rstrip()
        brace = text.rfind("{") if text.endswith("}") else -1
        own = _own_id().fullmatch(text, brace) if brace >= 0 else None
        text = (text[:brace] if own else text).strip()
        name = own.group(1) if own else slugger.unique(text)
        end = title.start + len(data[title.start : title.end].rstrip())
        headings.append(
            Heading(title.level, " ".join(text.split()), name, cursor.line(title.start), title.start, end)
        )
    return tuple(headings)


def _lines(data: bytes, offsets: list[int]) -> tuple[int, ...]:
    cursor = Cursor(data)
    return tuple(cursor.line(offset) for offset in sorted(offsets))


@lru_cache(maxsize=2)
def _options(wikilinks: bool) -> Any:
    from pyromark import Options

    options = (
        Options.ENABLE_TABLES
        | Options.ENABLE_FOOTNOTES
        | Options.ENABLE_STRIKETHROUGH
        | Options.ENABLE_TASKLISTS
    )
    return options | Options.ENABLE_WIKILINKS if wikilinks else options


@lru_cache(maxsize=1)
def _own_id() -> re.Pattern[str]:
    return re.compile(r"\{\s*#([^\s{}#]+)(?:\s[^{}]*)?\}")


@lru_cache(maxsize=1)
def _target() -> re.Pattern[bytes]:
    return re.compile(rb"\((?:[^()\\\n]|\\.|\([^()\n]*\))*+\)")


@lru_cache(maxsize=1)
def _close_tag() -> re.Pattern[bytes]:
    return re.compile(rb"</a\b", re.IGNORECASE)


@lru_cache(maxsize=1)
def _any_tag() -> re.Pattern[str]:
    return re.compile(r"<[^<>]*>")
