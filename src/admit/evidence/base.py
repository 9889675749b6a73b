"""A knowledge base: the files below one root, read and resolved in one way for all who ask."""

from __future__ import annotations

import os
import posixpath
import threading
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from admit.config.layers import Config, load
from admit.errors import NoteError, RootError
from admit.evidence.anchors import Anchors, anchor_ok, anchors_of
from admit.evidence.blocks import with_roles
from admit.evidence.markdown import parse
from admit.evidence.note import KINDS, Document, Link, Mark, Note
from admit.evidence.reading import File, Unreadable
from admit.evidence.resolve import resolve
from admit.evidence.settings import settings
from admit.evidence.tree import Look, Tree
from admit.evidence.wiki import Stems, resolve_wiki

if TYPE_CHECKING:
    from types import TracebackType

MAX_AHEAD_BYTES = 64 * 1024 * 1024
"""Of text whose parse is kept because it came before its note's turn."""

ROOT_MARKS = (".admit.toml", ".git", ".obsidian")

_FIXES = {
    "missing": "there is no such file; look at its spelling and case",
    "unreadable": "it may not be read; look at its permissions",
    "too-large": "it is over evidence.max_artifact_bytes; split it, or raise the limit",
    "non-text": "it is no UTF-8 text; save it as UTF-8",
    "changed": "a link took its place; run again",
    "outside": "it lies outside of the root; give its root by --root",
}

_OTHER = {
    "folder": "it is a folder; name a file in it",
    "special": "it is no regular file but a pipe, socket or device; name a file",
}


class Base:
    """A root with its settings. Listings, and what files are, stay as at the first look; texts are read anew.

    Threads may share it.

    Attributes:
        root: Absolute, links resolved.
        tree: The files below it.
    """

    def __init__(self, root: str, config: Config) -> None:
        self.root = root
        self.config = config
        self.settings = settings(config.values)
        self.tree = Tree(root, self.settings.max_artifact_bytes)
        self._lock = threading.Lock()
        self._stems: Stems | None = None
        self._anchors: dict[str, Anchors] = {}
        self._ahead: dict[str, tuple[int, str, Document]] = {}
        self._ahead_bytes = 0

    @classmethod
    def open(cls, root: str | None = None, *, start: str | None = None, config: Config | None = None) -> Base:
        """Open the base of a root.

        Args:
            root: Its folder; None looks for it.
            start: A file or folder to look from: the nearest folder at or above it that holds one of
                `ROOT_MARKS`, else itself. None is the working folder.
            config: The settings; None reads those in force at the root.

        Raises:
            RootError: The folder is none, or may not be read.
        """
        try:
            found = os.path.realpath(root) if root is not None else find_root(start)
            if not os.path.isdir(found):
                raise RootError(f"{root or start or found} is no folder; give one by --root")
            return cls(found, config if config is not None else load(found))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise RootError(
                f"{root or start or '.'} cannot be opened ({reason}); give a folder by --root"
            ) from None

    def __enter__(self) -> Base:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give back the descriptor of the root; nothing can be read afterwards."""
        self.tree.close()

    def note(self, path: str) -> Note:
        """Read and parse a note, and resolve its links; their anchors are not looked at.

        Args:
            path: Below the root.

        Raises:
            NoteError: It cannot be read; `reason` says why.
        """
        place = self.tree.walk("", path)
        if place.kind not in ("file", "unknown"):
            reason = place.kind if place.kind in ("missing", "outside") else "non-text"
            hint = f"; did you mean {place.hint}?" if place.hint else ""
            fix = _OTHER.get(place.kind) or _FIXES[reason]
            raise NoteError(path, reason, fix + hint)
        try:
            file, document = self.document(place.path)
        except Unreadable as error:
            raise NoteError(path, error.reason, _FIXES[error.reason]) from None
        links = tuple(self._link(file.path, mark) for mark in document.marks)
        kinds = Counter(link.kind for link in links)
        assert len(links) == sum(kinds[kind] for kind in KINDS), "a link has no kind"
        front = document.front
        titles = (heading.text for heading in document.headings if heading.level == 1)
        stem = posixpath.splitext(posixpath.basename(file.path))[0]
        counted = {link.n for link in links if link.kind == "artifact" and link.via != "image"}
        return Note(
            file.path,
            file.sha256,
            len(file.data),
            file.text,
            front,
            posixpath.splitext(posixpath.basename(front.text("type")))[0] if front else "",
            front.texts("traits") if front else (),
            next(titles, "") or (front.text("title") if front else "") or stem,
            front.text("description") if front else "",
            document,
            links,
            with_roles(document, counted),
        )

    def _link(self, path: str, mark: Mark) -> Link:
        way = resolve_wiki if mark.via in ("wiki", "embed") else resolve
        return Link(*mark, *way(self, path, mark.dest))

    def links(self, path: str) -> tuple[Link, ...]:
        """The links of a note in document order, with their anchors looked at.

        Raises:
            NoteError: The note cannot be read.
        """
        return tuple(link._replace(anchor_ok=anchor_ok(self, link)) for link in self.note(path).links)

    def file(self, path: str, *, expect: str | None = None) -> File:
        """Read a file at its real path below the root, such as the target of a link.

        Args:
            path: The real path.
            expect: The hash it must have; with another, the reason is ``changed``.

        Raises:
            Unreadable: It is not read; `reason` says why.
        """
        return self.tree.read(path, expect=expect)

    def look(self, path: str) -> Look:
        """Size and hash of a file at its real path, as at the first look; a `reason` where it is no text."""
        return self.tree.look(path)

    def document(self, path: str) -> tuple[File, Document]:
        """Read and parse a file at its real path below the root.

        Raises:
            Unreadable: It is not read; `reason` says why.
        """
        file = self.file(path)
        with self._lock:
            size, sha256, document = self._ahead.pop(path, (0, "", None))
            self._ahead_bytes -= size
        if document is None or sha256 != file.sha256:
            document = parse(file.text, wikilinks=self.settings.wikilinks != "off")
        self._anchors.setdefault(path, anchors_of(file, document))
        return file, document

    def anchors(self, path: str) -> frozenset[str]:
        """The anchors of a file: slugs of headings, ids, block ids with their caret; of no text none."""
        return self.anchors_and_lines(path).names

    def anchors_and_lines(self, path: str) -> Anchors:
        """The anchors of a file with its count of lines; parsed once."""
        found = self._anchors.get(path)
        if found is None:
            try:
                self._parse_ahead(path)
            except Unreadable:
                self._anchors.setdefault(path, Anchors(frozenset(), 0))
            found = self._anchors[path]
        return found

    def _parse_ahead(self, path: str) -> None:
        """Parse a file for its anchors; it may be the next note, so that the parse is kept until then."""
        file, document = self.document(path)
        with self._lock:
            if self._ahead_bytes + len(file.data) <= MAX_AHEAD_BYTES and path not in self._ahead:
                self._ahead[path] = (len(file.data), file.sha256, document)
                self._ahead_bytes += len(file.data)

    @property
    def stems(self) -> Stems:
        """The files by name, for wiki links; built at the first."""
        if self._stems is None:
            with self._lock:
                if self._stems is None:
                    self._stems = Stems(self.tree)
        return self._stems

    def relative(self, user_path: str) -> str:
        """The real path below the root of a path as a person gives it; the root's own is empty.

        A relative path starts at the working folder or, where nothing is there, at the root.

        Raises:
            NoteError: It does not exist, or lies outside of the root.
        """
        try:
            real = os.path.realpath(self._absolute(user_path))
            if not os.path.exists(real):
                raise NoteError(user_path, "missing", _FIXES["missing"])
        except (OSError, ValueError):
            raise NoteError(user_path, "missing", _FIXES["missing"]) from None
        if os.path.commonpath((real, self.root)) != self.root:
            raise NoteError(user_path, "outside", _FIXES["outside"])
        below = os.path.relpath(real, self.root).replace(os.sep, "/")
        place = self.tree.walk("", below)
        return place.path or place.hint or ("" if below == "." else below)

    def is_link(self, user_path: str) -> bool:
        """Whether a path as a person gives it is itself a symbolic link."""
        return os.path.islink(self._absolute(user_path))

    def _absolute(self, user_path: str) -> str:
        absolute = os.path.abspath(user_path) if user_path else self.root
        return absolute if os.path.lexists(absolute) else os.path.join(self.root, user_path)


def find_root(start: str | None = None) -> str:
    """The nearest folder at or above a place that holds one of `ROOT_MARKS`; else the folder itself."""
    folder = _folder(start if start is not None else os.getcwd())
    return _marked(folder) or folder


def common_root(places: Sequence[str]) -> str:
    """The one root of several places, real and absolute.

    Where none of them has a mark, it is the folder above them all, if that is at or below the working folder.

    Raises:
        RootError: They lie in several bases, or nothing marks the one they share.
    """
    folders = [_folder(place) for place in places]
    roots = dict.fromkeys(_marked(folder) or folder for folder in folders)
    if len(roots) == 1:
        return next(iter(roots))
    shared, here = os.path.commonpath(folders), os.path.realpath(os.curdir)
    if any(map(_marked, folders)) or os.path.commonpath((shared, here)) != here:
        named = ", ".join(roots)
        raise RootError(f"these paths have no one root ({named}); give it by --root DIR, or run one by one")
    return shared


def _folder(place: str) -> str:
    real = os.path.realpath(place)
    return os.path.dirname(real) if os.path.isfile(real) else real


def _marked(folder: str) -> str | None:
    """The nearest folder at or above with a mark."""
    while not any(os.path.lexists(os.path.join(folder, mark)) for mark in ROOT_MARKS):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder
