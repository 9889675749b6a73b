"""What a folder holds, by the names on disk: one look, kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import Literal
from unicodedata import normalize

from admit.evidence.nearest import ByLength, by_length, nearest

Entry = Literal["file", "folder", "link", "special"]


class Listing:
    """The names in one folder. Names that differ only in how Unicode composes them are the same.

    Attributes:
        entries: What each name is, in byte order of names. Links are not followed.
        readable: The folder could be listed; where it could not, nothing is known of what it holds.
        unnamed: Names that are not UTF-8, which no link can spell; a count.
    """

    def __init__(self, entries: Mapping[str, Entry], *, readable: bool = True, unnamed: int = 0) -> None:
        self.entries = dict(sorted(entries.items()))
        self.readable = readable
        self.unnamed = unnamed

    def find(self, name: str) -> str | None:
        """The name as it stands on disk; None where there is none in this case."""
        if name in self.entries:
            return name
        return self._composed.get(normalize("NFC", name))

    def other_case(self, name: str) -> str | None:
        """The first name that differs in case alone."""
        return self._folded.get(fold(name))

    def near(self, name: str) -> str | None:
        """The name at the smallest edit distance, of 2 at most; see `nearest.nearest`."""
        found = nearest(normalize("NFC", name), self._lengths)
        return None if found is None else self._composed[found]

    @cached_property
    def _composed(self) -> dict[str, str]:
        names: dict[str, str] = {}
        for name in self.entries:
            names.setdefault(normalize("NFC", name), name)
        return names

    @cached_property
    def _lengths(self) -> ByLength:
        return by_length(self._composed)

    @cached_property
    def _folded(self) -> dict[str, str]:
        names: dict[str, str] = {}
        for name in self.entries:
            names.setdefault(fold(name), name)
        return names


def fold(name: str) -> str:
    """A name without its case."""
    return normalize("NFC", name).casefold()


def listing(folder: int | str) -> Listing:
    """Look into a folder, by descriptor where there is one.

    Raises:
        OSError: It cannot be listed.
    """
    entries: dict[str, Entry] = {}
    unnamed = 0
    with os.scandir(folder) as found:
        for entry in found:
            if not _is_utf8(entry.name):
                unnamed += 1
            elif entry.is_symlink():
                entries[entry.name] = "link"
            elif entry.is_dir(follow_symlinks=False):
                entries[entry.name] = "folder"
            else:
                entries[entry.name] = "file" if entry.is_file(follow_symlinks=False) else "special"
    return Listing(entries, unnamed=unnamed)


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
