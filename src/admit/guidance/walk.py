"""The files of one root that its source claims: sorted, bounded, and inside the root."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from admit.guidance.codes import finding
from admit.guidance.model import Finding, Root
from admit.guidance.sources import BY_NAME

MAX_DEPTH = 12
MAX_ENTRIES = 50_000
MAX_BYTES = 256 * 1024


class File(NamedTuple):
    """A claimed file.

    Attributes:
        parts: Path segments below the root.
        path: Absolute, links resolved.
        signature: What changes when the file does.
    """

    parts: tuple[str, ...]
    path: str
    signature: tuple[int, ...]


class Walked(NamedTuple):
    """What a root holds, in the order of path segments by code point."""

    exists: bool
    files: tuple[File, ...] = ()
    findings: tuple[Finding, ...] = ()


class Unreadable(Exception):
    """A file that is left out; `code` is that of the finding."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


def walk(root: Root) -> Walked:
    """List a root. A folder is entered once, by its real place before any link; hidden ones are left out."""
    real = os.path.realpath(root.folder)
    if not os.path.isdir(real):
        return Walked(False)
    walker = _Walker(root)
    if not is_inside(real, root.real):
        walker.note(
            "symlink-escape", root.folder, "is a link out of the project", "put the folder itself there"
        )
        return Walked(True, (), tuple(walker.findings))
    walker.folder((), real)
    while walker.links:  # after all real folders, so that a link never takes a file's own place
        parts, real = walker.links.pop(0)
        walker.folder(parts, real)
    return Walked(True, tuple(sorted(walker.files)), tuple(sorted(walker.findings, key=lambda f: f.path)))


class _Walker:
    def __init__(self, root: Root) -> None:
        self.root = root
        self.source = BY_NAME[root.source]
        self.files: list[File] = []
        self.findings: list[Finding] = []
        self.links: list[tuple[tuple[str, ...], str]] = []
        self.entered: set[str] = set()
        self.entries = 0

    def note(self, code: str, path: str, text: str, fix: str = "") -> None:
        self.findings.append(finding(code, path, 0, text, fix))

    def folder(self, parts: tuple[str, ...], real: str) -> None:
        """List a folder and those below it; an explicit stack, for a tree may be deep."""
        waiting = [(parts, real)]
        while waiting:
            parts, real = waiting.pop()
            if real in self.entered:
                continue
            self.entered.add(real)
            try:
                with os.scandir(real) as listing:
                    entries = sorted(listing, key=lambda entry: entry.name)
            except OSError as error:
                self.note("unreadable", real, f"cannot be read: {error.strerror}")
                continue
            below = []
            for entry in entries:
                self.entries += 1
                if self.entries > MAX_ENTRIES:
                    self.note(
                        "too-large", self.root.folder, f"holds more than {MAX_ENTRIES:,} files and folders"
                    )
                    return
                if (child := self.look((*parts, entry.name), entry)) is not None:
                    below.append(child)
            waiting += reversed(below)

    def look(self, parts: tuple[str, ...], entry: os.DirEntry[str]) -> tuple[tuple[str, ...], str] | None:
        """Take a claimed file; give back a folder to list."""
        link = entry.is_symlink()
        try:
            info = entry.stat()
        except OSError as error:
            if self.source.claims(parts):
                self.note("unreadable", entry.path, f"cannot be read: {error.strerror}")
            return None
        is_folder = stat.S_ISDIR(info.st_mode)
        if entry.name.startswith(".") if is_folder else not self.source.claims(parts):
            return None
        if is_folder and len(parts) > self.source.DEPTH:
            if self.source.DEPTH == MAX_DEPTH:
                self.note("too-large", entry.path, f"is more than {MAX_DEPTH} folders deep", "move it up")
            return None
        if not entry.name.isprintable():
            self.note("unreadable", entry.path, "has a name that does not print", "rename it")
            return None
        path = os.path.realpath(entry.path) if link else entry.path
        if link and not is_inside(path, self.root.real):
            self.note("symlink-escape", entry.path, "is a link out of its root", "put the file itself there")
            return None
        if not is_folder:
            sign = (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
            self.files.append(File(parts, path, sign))
            return None
        if link:
            self.links.append((parts, path))
            return None
        return parts, path


def read_text(path: str) -> tuple[str, bytes]:
    """Text and bytes of a regular file at a real path.

    Raises:
        Unreadable: It is no regular file, too large, not UTF-8, or binary.
    """
    try:
        # O_NONBLOCK: a named pipe must not hold us up. O_NOFOLLOW: the path has no links left.
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
        with os.fdopen(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise Unreadable("unreadable", "is not a regular file")
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise Unreadable("unreadable", f"cannot be read: {error.strerror}") from None
    if len(data) > MAX_BYTES:
        raise Unreadable("too-large", f"is larger than {MAX_BYTES:,} bytes")
    if b"\0" in data:
        raise Unreadable("unreadable", "is binary")
    try:
        return data.decode("utf-8"), data
    except UnicodeDecodeError:
        raise Unreadable("unreadable", "is not UTF-8") from None


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is a folder or below it; both as they stand."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
