"""The files below a root as they were at the first look: listings, walks by the names on disk, and texts."""

from __future__ import annotations

import os
import posixpath
import threading
import weakref
from typing import Literal, NamedTuple

from admit.evidence.listing import Listing, listing
from admit.evidence.reading import BY_DESCRIPTOR, File, Unreadable, open_folder, read

MAX_HOPS = 40
_NO_NAME = "\0"  # no file has it
_MAX_MENDS = 8  # of one path, for its hint


class Place(NamedTuple):
    """Where a walk ended.

    Attributes:
        kind: ``unknown`` lies in a folder that cannot be listed.
        path: The real path below the root; of what is missing or outside, empty.
        reason: Of what is missing: ``symlink-loop``, ``broken-symlink``, ``case`` or empty.
        hint: A path that may have been meant.
    """

    kind: Literal["file", "folder", "special", "missing", "outside", "unknown"]
    path: str = ""
    reason: str = ""
    hint: str = ""


class Look(NamedTuple):
    """What a file was when it was first looked at; `reason` is that of an `Unreadable`, empty for a text."""

    reason: str
    bytes: int = 0
    sha256: str = ""


class Tree:
    """A root with what has been seen below it. Threads may share it.

    Attributes:
        root: Absolute, links resolved.
        max_bytes: A larger file is not read.
    """

    def __init__(self, root: str, max_bytes: int) -> None:
        self.root = root
        self.max_bytes = max_bytes
        self.descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY) if BY_DESCRIPTOR else None
        self._lock = threading.RLock()
        self._listings: dict[str, Listing] = {}
        self._places: dict[tuple[str, str], Place] = {}
        self._looks: dict[str, Look] = {}
        self._give_back = weakref.finalize(self, _close, self.descriptor)

    def close(self) -> None:
        """Give back the descriptor of the root; nothing can be read afterwards."""
        self._give_back()
        if self.descriptor is not None:
            self.descriptor = -1

    def listing(self, folder: str) -> Listing:
        """What a folder holds, at its real path below the root (the root's own is empty)."""
        found = self._listings.get(folder)
        if found is None:
            with self._lock:
                found = self._listings.get(folder)
                if found is None:
                    found = self._listings[folder] = self._list(folder)
        return found

    def _list(self, folder: str) -> Listing:
        try:
            if self.descriptor is None or os.scandir not in os.supports_fd:
                return listing(os.path.join(self.root, folder))
            descriptor = open_folder(self, folder)
            try:
                return listing(descriptor)
            finally:
                os.close(descriptor)
        except FileNotFoundError:
            return Listing({})
        except OSError:
            return Listing({}, readable=False)

    def read(self, path: str, *, expect: str | None = None) -> File:
        """Read a file anew; see `reading.read`."""
        file = read(self, path, expect=expect)
        self._looks.setdefault(path, Look("", len(file.data), file.sha256))
        return file

    def look(self, path: str) -> Look:
        """What a file at its real path is: read once, and only this kept of it."""
        found = self._looks.get(path)
        if found is None:
            try:
                file = read(self, path)
                found = Look("", len(file.data), file.sha256)
            except Unreadable as error:
                found = Look(error.reason)
            found = self._looks.setdefault(path, found)
        return found

    def walk(self, folder: str, path: str) -> Place:
        """Walk a path from a real folder by the names on disk, through links, as the system would.

        Where it leaves the root it is ``outside``, though it may come back; nothing out there is looked at.
        """
        found = self._places.get((folder, path))
        if found is None:
            found, mend = self._walk(folder, path)
            if mend is not None:
                found = self._hinted(found, *mend)
            found = self._places.setdefault((folder, path), found)
        return found

    def _walk(self, at: str, path: str) -> tuple[Place, tuple[str, str, list[str]] | None]:
        """A walk; where a name is missing, also its folder, the name, and what comes after it."""
        pending = path.split("/")[::-1]
        hops, floor = 0, -1  # what lies at `floor` and above is of a link's target
        while pending:
            part = pending.pop()
            if len(pending) < floor:
                floor = -1
            if part in ("", "."):
                continue
            if part == "..":
                if not at:
                    return Place("outside"), None
                at = posixpath.dirname(at)
                continue
            folder = self.listing(at)
            if not folder.readable:
                beyond = posixpath.normpath(posixpath.join(at, part, *pending[::-1]))
                return (Place("outside") if beyond.startswith("..") else Place("unknown", beyond)), None
            name = folder.find(part)
            if name is None:
                if floor >= 0:
                    return Place("missing", reason="broken-symlink"), None
                return Place("missing"), (at, part, pending[::-1])
            here = f"{at}/{name}" if at else name
            entry = folder.entries[name]
            if entry == "folder":
                at = here
            elif entry == "link":
                hops += 1
                if hops > MAX_HOPS:
                    return Place("missing", reason="symlink-loop"), None
                if (target := self._target(here)) is None:
                    return Place("outside"), None
                if target.startswith("/"):
                    at = ""
                floor = len(pending) if floor < 0 else floor
                pending += target.split("/")[::-1]
            elif pending:
                mended = "" if any(part not in ("", ".") for part in pending) else here
                return Place("missing", "", "broken-symlink" if floor >= 0 else "", mended), None
            else:
                return Place(entry, here), None
        return Place("folder", at), None

    def _target(self, link: str) -> str | None:
        """What a link says, from its folder or, with a leading slash, from the root; None where it leaves."""
        try:
            target = os.readlink(os.path.join(self.root, link)).replace(os.sep, "/")
        except OSError:
            return _NO_NAME
        if not target.startswith("/"):
            return target
        below = self.root.rstrip("/") + "/"
        return "/" + target[len(below) :] if (target + "/").startswith(below) else None

    def _hinted(self, place: Place, at: str, name: str, after: list[str]) -> Place:
        """A missing place with the path that may have been meant: another case, or a letter or two."""
        case = True
        for _ in range(_MAX_MENDS):
            folder = self.listing(at)
            other = folder.other_case(name)
            if other is None:
                case = False
                other = folder.near(name)
            if other is None:
                return place
            found, mend = self._walk(at, "/".join([other, *after]))
            if mend is None:
                if found.kind in ("file", "folder", "special"):
                    return place._replace(reason="case" if case else "", hint=found.path)
                return place
            at, name, after = mend
        return place


def _close(descriptor: int | None) -> None:
    if descriptor is not None:
        os.close(descriptor)
