"""Whether a snippet may compete at all: its scope, its project, and the files it asks for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache

from .globs import glob_regex
from .model import Snippet, Surface, When

MOST_ENTRIES = 5_000
"""Files and folders that are looked at for one glob; past it the glob counts as unmatched."""


def unfit(snippet: Snippet, surface: Surface) -> str | None:
    """``out_of_scope`` or ``precondition`` where a snippet may not compete; None where it may."""
    if surface.agent_kind not in snippet.scope:
        return "out_of_scope"
    return "precondition" if snippet.when is not None and not _holds(snippet.when, surface) else None


def in_project(project: str, cwd: str) -> bool:
    """Whether a working folder is a project's folder (``~`` expanded, links resolved) or below it."""
    folder = os.path.realpath(os.path.expanduser(project))
    here = os.path.realpath(cwd) if cwd else ""
    return here == folder or here.startswith(folder.rstrip("/") + "/")


def _holds(when: When, surface: Surface) -> bool:
    if when.project is not None and not in_project(when.project, surface.cwd):
        return False
    return when.file_exists is None or has_file(surface.project or surface.cwd, when.file_exists)


def has_file(cwd: str, glob: str) -> bool:
    """Whether a file below the project's folder matches; no link is followed, and the walk is bounded."""
    if not cwd:
        return False
    plain = glob.strip().removeprefix("./").lstrip("/")
    if not plain or ".." in plain.split("/"):
        return False
    if not any(sign in plain for sign in "*?[{"):
        return os.path.lexists(os.path.join(cwd, plain))
    pattern = _pattern(plain)
    return pattern is not None and any(pattern.search(path) for path in _below(cwd))


@lru_cache(maxsize=256)
def _pattern(glob: str):
    import re2

    try:
        return re2.compile(glob_regex(glob))
    except re2.error:
        return None


def _below(folder: str) -> Iterator[str]:
    """Paths of files relative to a folder, breadth first, hidden folders left out."""
    waiting = [""]
    seen = 0
    while waiting:
        part = waiting.pop(0)
        try:
            entries = sorted(os.scandir(os.path.join(folder, part)), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            seen += 1
            if seen > MOST_ENTRIES:
                return
            path = f"{part}/{entry.name}" if part else entry.name
            if entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith("."):
                    waiting.append(path)
            else:
                yield path
