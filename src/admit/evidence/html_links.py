"""The tags of raw HTML in a Markdown text, and what they link to or name.

Tags are found in one sweep; each that can matter is read by `html.parser` alone, so that no input is read
twice however it is broken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from html.parser import HTMLParser
from typing import NamedTuple

MAX_TAG_BYTES = 65_536
_KEYS = ("href", "src", "id", "name")


class Tag(NamedTuple):
    """A start tag: its name in lower case, its attributes, and its bytes within the HTML that was given."""

    name: str
    attributes: dict[str, str]
    start: int
    end: int

    @property
    def links(self) -> tuple[str, ...]:
        """What its ``href`` and ``src`` say, in that order."""
        return tuple(self.attributes[key] for key in ("href", "src") if key in self.attributes)

    @property
    def anchors(self) -> tuple[str, ...]:
        """Its ``id`` and ``name``, those that are not empty."""
        return tuple(filter(None, (self.attributes.get(key) for key in ("id", "name"))))


def tags(html: bytes) -> Iterator[Tag]:
    """The start tags with an ``href``, ``src``, ``id`` or ``name``, in order.

    Comments, closed or not, processing instructions and the text of scripts and the like are passed over,
    as is a tag over `MAX_TAG_BYTES`. Of an attribute that stands twice the first counts.
    """
    at = 0
    while (found := _token().search(html, at)) is not None:
        at = found.end()
        raw = found.group("raw")
        if raw is not None:  # the text of such an element is no HTML
            close = re.compile(rb"</" + raw, re.IGNORECASE).search(html, at)
            at = close.start() if close else len(html)
        source = found.group("tag")
        if source and len(source) <= MAX_TAG_BYTES and _matters().search(source):
            reader = _Reader()
            reader.feed(source.decode("utf-8", "replace"))
            if not reader.attributes.keys().isdisjoint(_KEYS):
                yield Tag(reader.name, reader.attributes, found.start(), found.end())


class _Reader(HTMLParser):
    """Reads one start tag."""

    def __init__(self) -> None:
        super().__init__()
        self.name = ""
        self.attributes: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self.name:
            self.name = tag
            for key, value in attrs:
                self.attributes.setdefault(key, value or "")


@lru_cache(maxsize=1)
def _token() -> re.Pattern[bytes]:
    inside = rb"""(?:[^"'<>]++|"[^"]*+"|'[^']*+')*+>"""
    return re.compile(
        rb"<!--(?:-?>|.*?-->|.*)|<\?(?:.*?\?>|.*)|<!\[CDATA\[(?:.*?\]\]>|.*)"
        rb"|(?P<tag><(?:(?P<raw>script|style|textarea|title)(?=[\s/>])|[A-Za-z][^\s\"'<>/]*+)"
        rb"" + inside + rb")",
        re.DOTALL | re.IGNORECASE,
    )


@lru_cache(maxsize=1)
def _matters() -> re.Pattern[bytes]:
    return re.compile(rb"[\s/\"'](?:href|src|id|name)\s*=", re.IGNORECASE)
