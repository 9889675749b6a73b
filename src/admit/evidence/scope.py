"""Which notes a command is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from admit.evidence.wiki import MARKDOWN

if TYPE_CHECKING:
    from admit.evidence.base import Base


class Scope(NamedTuple):
    """The notes of a command.

    Attributes:
        notes: Real paths below the root, in byte order, each once.
        skipped: What was left out, by why: ``hidden`` (folders), ``symlink``, ``unreadable`` (folders),
            ``unnamed`` (names that are not UTF-8), ``special`` (pipes, sockets and devices named like notes),
            ``not-markdown`` (files given by name).
    """

    notes: tuple[str, ...]
    skipped: Counter[str]


def find(base: Base, paths: Iterable[str], *, top: bool = False) -> Scope:
    """The Markdown files among files given, and below folders given.

    Args:
        base: The base; what it listed before is not listed again.
        paths: As a person gives them; see `Base.relative`.
        top: Only the direct children of folders.

    Raises:
        NoteError: A path does not exist, or lies outside of the root.
    """
    notes: set[str] = set()
    skipped: Counter[str] = Counter()
    waiting: list[str] = []
    for given in paths:
        path = base.relative(given)
        kind = base.tree.walk("", path).kind
        if kind == "folder":
            waiting.append(path)
        elif base.is_link(given):
            skipped["symlink"] += 1
        elif path.lower().endswith(MARKDOWN):
            notes.add(path)
        else:
            skipped["not-markdown"] += 1
    seen: set[str] = set()
    while waiting:
        folder = waiting.pop()
        if folder in seen:
            continue
        seen.add(folder)
        listing = base.tree.listing(folder)
        skipped["unnamed"] += listing.unnamed
        skipped["unreadable"] += not listing.readable
        for name, entry in listing.entries.items():
            path = f"{folder}/{name}" if folder else name
            if entry == "link":
                skipped["symlink"] += 1
            elif entry in ("file", "special") and name.lower().endswith(MARKDOWN):
                if entry == "file":
                    notes.add(path)
                else:
                    skipped["special"] += 1
            elif entry == "folder" and not top:
                if name.startswith("."):
                    skipped["hidden"] += 1
                else:
                    waiting.append(path)
    return Scope(tuple(sorted(notes)), +skipped)
