"""Wiki links: a name is a path from the note's folder or the root, else the file of that stem."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from admit.evidence.listing import fold
from admit.evidence.nearest import by_length, nearest
from admit.evidence.note import Resolved
from admit.evidence.resolve import Malformed, classified, plain_path
from admit.evidence.tree import Place, Tree

if TYPE_CHECKING:
    from admit.evidence.base import Base

MARKDOWN = (".md", ".markdown")
MAX_NAMED = 10
"""Files that the hint of an ambiguous name lists."""

_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,10}\Z")


def resolve_wiki(base: Base, note_path: str, dest: str) -> Resolved:
    """What a wiki link is; ``#`` begins a heading's text, or a block id with ``#^``. Nothing is raised.

    Args:
        base: Where the note lies.
        note_path: The note's real path below the root.
        dest: What stands between the brackets, without the alias.
    """
    if not dest:
        return Resolved("malformed", "empty")
    name, mark, raw = dest.partition("#")
    fragment = raw if mark else None
    name = name.strip()
    if not name:
        return Resolved("anchor", target=note_path, fragment=fragment)
    try:
        return _named(base, note_path, name)._replace(fragment=fragment)
    except Malformed as error:
        return Resolved("malformed", str(error), fragment=fragment)


def _named(base: Base, note_path: str, written: str) -> Resolved:
    name = plain_path(written)
    path = name if _EXTENSION.search(name) else f"{name}.md"
    fallback = None
    for folder in dict.fromkeys((note_path.rpartition("/")[0], "")):
        found = classified(base, note_path, base.tree.walk("" if path.startswith("/") else folder, path))
        if found.kind not in ("missing", "outside", "directory"):
            return found
        if fallback is None or found.kind == "directory":
            fallback = found
    files = base.stems.files(name)
    if len(files) > 1:
        more = f" and {len(files) - MAX_NAMED} more" if len(files) > MAX_NAMED else ""
        return Resolved("ambiguous", hint=", ".join(files[:MAX_NAMED]) + more)
    if files:
        return classified(base, note_path, Place("file", files[0]))
    assert fallback is not None
    if fallback.kind == "missing" and not (fallback.hint or fallback.reason):
        hint = base.stems.near(name)
        return fallback._replace(hint=hint if hint != note_path else "")
    return fallback


class _File(NamedTuple):
    """A file under one of its names, as composed by Unicode and with its case."""

    name: str
    path: str


class Stems:
    """The files below a root by name: Markdown by stem and by name, others by name.

    Hidden folders, links and folders that cannot be listed are left out.
    """

    def __init__(self, tree: Tree) -> None:
        self._files: dict[str, list[_File]] = {}
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            for name, entry in tree.listing(folder).entries.items():
                path = f"{folder}/{name}" if folder else name
                if entry == "folder" and not name.startswith("."):
                    waiting.append(path)
                elif entry == "file":
                    self._add(name, path)
        for files in self._files.values():
            files.sort(key=lambda file: file.path)
        self._lengths = by_length(sorted(self._files))

    def _add(self, name: str, path: str) -> None:
        stem, dot, suffix = name.rpartition(".")
        names = (name, stem) if stem and (dot + suffix).lower() in MARKDOWN else (name,)
        for one in names:
            self._files.setdefault(fold(one), []).append(_File(normalize("NFC", one), path))

    def files(self, name: str) -> tuple[str, ...]:
        """The files of a name, in byte order: those in the same case, where there are any.

        A name with folders is that of the files whose path ends so.
        """
        above, _, last = normalize("NFC", name).strip("/").rpartition("/")
        found = [file for file in self._files.get(fold(last), ()) if _lies_in(file.path, above)]
        same_case = [file for file in found if file.name == last]
        return tuple(file.path for file in same_case or found)

    def near(self, name: str) -> str:
        """The file of the nearest name, or an empty text."""
        found = nearest(fold(name.rpartition("/")[2]), self._lengths)
        return self._files[found][0].path if found is not None else ""


def _lies_in(path: str, folder: str) -> bool:
    return not folder or f"/{fold(path.rpartition('/')[0])}".endswith(f"/{fold(folder)}")
