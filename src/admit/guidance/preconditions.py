"""Whether a snippet may compete at all: its scope, its project, and the files it asks for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property, lru_cache

from admit.text.globs import glob_regex

from .model import RootKind, Snippet, Surface

MOST_ENTRIES = 5_000
"""Files and folders that are looked at in one scan; what comes past them matches no glob."""

MOST_GLOBS = 100
"""Globs that are looked for in one scan for each kind of root; past them a glob counts as unmatched."""


class Place:
    """Where one scan stands. Its files are listed once, when a glob first asks for them.

    Args:
        cwd: The working folder; empty is unknown, and then nothing holds.
        project: The project's folder, which globs are relative to; empty is the working folder.
    """

    def __init__(self, cwd: str, project: str = "") -> None:
        self._cwd = cwd
        self._folder = project or cwd
        self._answers: dict[tuple[RootKind, str], bool] = {}

    def is_in(self, project: str) -> bool:
        """Whether the working folder is a project's folder (``~`` expanded, links resolved) or below it."""
        folder = os.path.realpath(os.path.expanduser(project))
        return self._real == folder or self._real.startswith(folder.rstrip("/") + "/")

    def has_file(self, glob: str, kind: RootKind) -> bool:
        """Whether a file of the project matches; no link is followed.

        Args:
            kind: Of the root that asks, so that a project's many globs cost the user's own nothing.
        """
        plain = glob.strip().removeprefix("./").lstrip("/")
        if not self._folder or not plain or ".." in plain.split("/"):
            return False
        if not any(sign in plain for sign in "*?[{"):
            return os.path.lexists(os.path.join(self._folder, plain))
        if (kind, plain) not in self._answers:
            asked = sum(one == kind for one, _ in self._answers)
            pattern = _pattern(plain) if asked < MOST_GLOBS else None
            self._answers[kind, plain] = pattern is not None and pattern.search(self._files) is not None
        return self._answers[kind, plain]

    @cached_property
    def _real(self) -> str:
        return os.path.realpath(self._cwd) if self._cwd else ""

    @cached_property
    def _files(self) -> str:
        """A line for each file: one search over all is ten times as fast as one for each."""
        return "\n".join(_below(self._folder))


def unfit(snippet: Snippet, surface: Surface, place: Place) -> str | None:
    """``out_of_scope`` or ``precondition`` where a snippet may not compete; None where it may."""
    if surface.agent_kind not in snippet.scope:
        return "out_of_scope"
    when = snippet.when
    if when is None:
        return None
    fits = (when.project is None or place.is_in(when.project)) and (
        when.file_exists is None or place.has_file(when.file_exists, snippet.root)
    )
    return None if fits else "precondition"


@lru_cache(maxsize=1024)
def _pattern(glob: str):
    import re2

    try:
        # What is no slash is no line end either.
        return re2.compile("(?m)" + glob_regex(glob).replace("[^/", "[^/\\n"))
    except re2.error:
        return None


def _below(folder: str) -> Iterator[str]:
    """Paths of files relative to a folder, breadth first; hidden folders and odd names are left out."""
    waiting = [""]
    seen = 0
    for part in waiting:
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
            elif "\n" not in path:
                yield path.encode("utf-8", "replace").decode()
