"""The starter pack: ways that come with Admit, to be copied to the user's own."""

from __future__ import annotations

import os
from typing import NamedTuple

from admit.guidance.gather import load
from admit.guidance.model import Root, Snippet
from admit.guidance.roots import user_ways

PACK = os.path.join(os.path.dirname(__file__), "starter")


class Starter(NamedTuple):
    """One way of the pack.

    Attributes:
        target: Where it is copied to.
        there: Whether a file of that name stands there already, so that it is not copied.
    """

    snippet: Snippet
    target: str
    there: bool


def starter(folder: str | None = None) -> tuple[Starter, ...]:
    """The pack in the order of ids, against a folder of ways; None is the user's own."""
    folder = folder or user_ways()
    pack, _ = load([Root("agent-ways", "bundled", PACK, os.path.realpath(PACK))])
    found = []
    for one in sorted(pack.snippets, key=lambda one: one.id):
        target = os.path.join(folder, os.path.relpath(one.path, os.path.realpath(PACK)))
        found.append(Starter(one, target, os.path.lexists(target)))
    return tuple(found)


def copy_starter(folder: str | None = None) -> tuple[str, ...]:
    """Copy what is not there yet and give the paths written; a file that exists is never touched.

    Raises:
        OSError: A file cannot be written; those before it were.
    """
    written = []
    for one in starter(folder):
        with open(one.snippet.path, "rb") as file:
            data = file.read()
        try:
            os.makedirs(
                os.path.dirname(one.target), exist_ok=True
            )  # raises where a file or a dead link stands
            with open(one.target, "xb") as file:
                file.write(data)
        except FileExistsError:
            continue
        written.append(one.target)
    return tuple(written)
