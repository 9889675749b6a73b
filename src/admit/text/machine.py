"""Text in the user's place that a host wrote: how it opens, and where it stands inside a person's message."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

MACHINE_OPENINGS = (
    "<task-notification",
    "<system-reminder",
    "<local-command",
    "<command-",
    "<persisted-output",
    "[attend",
)
"""How messages open that a host wrote in the user's place."""

SKILL_HEADER = "Base directory for this skill:"
"""How the body of a skill opens that a host put into the conversation."""


def is_machine(text: str, more: Iterable[str] = ()) -> bool:
    """Whether a message in the user's place opens like one that a host wrote.

    Args:
        more: Further openings.
    """
    return text.lstrip().startswith((*MACHINE_OPENINGS, *more))


def without_machine(text: str, more: Iterable[str] = ()) -> str:
    """A person's message without what a host put into it; empty where the host wrote the whole.

    An element is cut out from its opening tag to its closing one; an opening without its closing tag is a
    person's own words. Any other opening is cut out where it begins a line, to the end of that line.
    """
    if is_machine(text, (*more, SKILL_HEADER)):
        return ""
    kept: list[str] = []
    place = 0
    unclosed: set[str] = set()
    for found in _openings(tuple(more)).finditer(text):
        start = found.start()
        if start < place:
            continue
        end = _element_end(text, found, unclosed) if found[0].startswith("<") else _line_end(text, start)
        if end < 0:
            continue
        kept.append(text[place:start])
        place = end
    kept.append(text[place:])
    return "".join(kept)


def _element_end(text: str, found: re.Match[str], unclosed: set[str]) -> int:
    """Where the element ends that opens here, or -1; `unclosed` keeps a thousand of them linear."""
    name = _tag_name().match(text, found.start() + 1)
    if name is None or name[0] in unclosed:
        return -1
    closing = f"</{name[0]}>"
    at = text.find(closing, found.end())
    if at < 0:
        unclosed.add(name[0])
        return -1
    return at + len(closing)


def _line_end(text: str, start: int) -> int:
    if start and text[start - 1] != "\n":
        return -1
    end = text.find("\n", start)
    return len(text) if end < 0 else end


@lru_cache(maxsize=8)
def _openings(more: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, (*MACHINE_OPENINGS, *more))))


@lru_cache(maxsize=1)
def _tag_name() -> re.Pattern[str]:
    return re.compile(r"[\w-]+")
