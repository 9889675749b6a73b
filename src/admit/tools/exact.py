"""Routes that a request names: any spelling of an id, a name, or an end of one at a separator.

Two spellings are the same if they differ in case or in which separators stand between their parts, so
``github.create_issue``, ``github:create_issue`` and ``mcp__github__create-issue`` are one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from re import Pattern
from typing import NamedTuple

from admit.text.terms import split_identifier

from .model import Route
from .words import LONGEST_REQUEST, fold

MOST_EXACT = 20

Lookup = Callable[[str], Mapping[str, bool]]
"""From a spelling to the ids of its routes, each with whether it is a complete name there."""


class Mention(NamedTuple):
    """A piece of a request that may name a route.

    Attributes:
        text: As written, without what encloses it.
        shaped: Whether it counts without a quote: an identifier of two parts, or all that was asked.
    """

    text: str
    shaped: bool


def spelling(text: str) -> str:
    """A name in the one form in which names are compared: case folded, each separator a slash."""
    return "/".join(part for part in _separators().split(fold(text).strip().casefold()) if part)


def spellings(route: Route) -> dict[str, bool]:
    """Every spelling that names a route, and whether it is the complete name, qualified or not.

    Those that are not are ends of ``mcp__source__group__name`` at a separator, two parts or more.
    """
    name, source = spelling(route.name), spelling(route.source)
    whole = [name, f"{source}/{name}", f"mcp/{source}/{name}", spelling(route.id.replace("%2F", "/"))]
    if route.group:
        whole.append(f"{spelling(route.group)}/{name}")
    found = {one.strip("/"): True for one in whole if one.strip("/")}
    parts = [part for part in f"{source}/{spelling(route.group)}/{name}".split("/") if part]
    for start in range(len(parts) - 1):
        found.setdefault("/".join(parts[start:]), False)
    return found


def named(text: str, lookup: Lookup, most: int = MOST_EXACT) -> tuple[list[tuple[str, str]], int]:
    """Ids of the routes that a request names, each with the word that names it, in the request's order.

    Several routes of one name stand by id. A complete name wins over the ends of longer ones.

    Returns:
        At most `most` pairs, and how many more there were.
    """
    found: dict[str, str] = {}
    for mention in mentions(text[:LONGEST_REQUEST]):
        if not mention.shaped:
            continue
        ids = lookup(spelling(mention.text))
        whole = sorted(one for one, complete in ids.items() if complete)
        for route_id in whole or sorted(ids):
            found.setdefault(route_id, mention.text)
    every = list(found.items())
    return every[:most], max(0, len(every) - most)


def mentions(text: str) -> Iterator[Mention]:
    """The pieces of a request that may name routes, in order."""
    asked = text.strip()
    if asked.lower().startswith("select:"):
        for piece in _listed().split(asked[len("select:") :]):
            yield Mention(piece.strip(), bool(piece.strip()))
        return
    listed = [piece for piece in map(_bare, _listed().split(asked)) if piece]
    if len(listed) == 1 or all(" " not in piece for piece in listed):
        for piece in listed:
            yield Mention(piece, True)
        if len(listed) > 1 or " " not in asked:
            return
    for match in _pieces().finditer(asked):
        quoted = next((group for group in match.groups() if group is not None), None)
        if quoted is not None:
            yield Mention(quoted, True)
            continue
        piece = _bare(match.group())
        yield Mention(piece, len(split_identifier(piece)) > 1)


def _bare(piece: str) -> str:
    return piece.strip().strip(".,;:!?()[]{}<>\"'`“”‘’「」").strip()


@lru_cache(maxsize=1)
def _pieces() -> Pattern[str]:
    import re

    quoted = r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)'([^'\n]+)'(?!\w)|\[([^\]\n]+)\]"
    return re.compile(quoted + r"|[^\s,;\"`\[\]“”]+")


@lru_cache(maxsize=1)
def _listed() -> Pattern[str]:
    import re

    return re.compile(r"[,;\n]+")


@lru_cache(maxsize=1)
def _separators() -> Pattern[str]:
    import re

    return re.compile(r"[_\-./:]+")
