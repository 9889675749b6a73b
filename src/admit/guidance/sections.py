"""The texts of a snippet that a prompt is held against."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from .model import Snippet

SECTION_CHARS = 500
MOST_SECTIONS = 24
HEADS = 2
"""Texts that stand for what a snippet says of itself."""


class Views(NamedTuple):
    """What a snippet says of itself, and what it holds.

    Attributes:
        words: Description, vocabulary and path: what words are counted over.
        heads: What is embedded of these.
        body: Sections of the body, at most 24 of 500 characters.
    """

    words: str
    heads: tuple[str, ...]
    body: tuple[str, ...]


def views(snippet: Snippet, body: str) -> Views:
    """The texts of a snippet with this body."""
    path = path_words(snippet.id)
    return Views(
        f"{snippet.description}\n{snippet.vocabulary}\n{path}",
        (f"{snippet.description} {snippet.vocabulary}".strip(), f"{path}: {snippet.description}"),
        sections(body),
    )


def path_words(id: str) -> str:
    """An id as words: ``skill:log-reader`` is ``skill log reader``."""
    return " ".join(_separators().split(id)).strip()


def sections(body: str) -> tuple[str, ...]:
    """The sections of a body in its order: split at headings, each heading with its text.

    A section over 500 characters is cut at line ends, or hard where a line is longer; past 24 are left out.
    """
    found: list[str] = []
    for part in _headings().split(_comments().sub("", body)):
        held = ""
        for line in part.splitlines():
            line = " ".join(line.split())
            if held and len(held) + 1 + len(line) > SECTION_CHARS:
                found.append(held)
                held = ""
            held = f"{held} {line}".strip()
            while len(held) > SECTION_CHARS:
                found.append(held[:SECTION_CHARS])
                held = held[SECTION_CHARS:].strip()
        if held:
            found.append(held)
        if len(found) >= MOST_SECTIONS:
            break
    return tuple(found[:MOST_SECTIONS])


@lru_cache(maxsize=1)
def _headings() -> re.Pattern[str]:
    return re.compile(r"^(?=#{1,6}[ \t])", re.MULTILINE)


@lru_cache(maxsize=1)
def _comments() -> re.Pattern[str]:
    return re.compile(r"<!--.*?-->", re.DOTALL)


@lru_cache(maxsize=1)
def _separators() -> re.Pattern[str]:
    return re.compile(r"[^\w]+|_")
