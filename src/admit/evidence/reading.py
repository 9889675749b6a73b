"""Read a file below the root without following a link on the way: hash and text are of the same bytes."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from typing import NamedTuple, Protocol

PROBE_BYTES = 8192
"""A NUL in the first so many bytes makes a file no text."""

BY_DESCRIPTOR = {os.open, os.stat} <= os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")

_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_FLAGS |= getattr(os, "O_NOFOLLOW", 0)
_DENIED = (errno.EACCES, errno.EPERM)


class Rooted(Protocol):
    """A root: its absolute real path, a descriptor of it where the system has them, and the size limit."""

    root: str
    descriptor: int | None
    max_bytes: int


class File(NamedTuple):
    """A text file as it was read once. `path` is below the root; `sha256` is over exactly `data`."""

    path: str
    data: bytes
    sha256: str
    text: str


class Unreadable(Exception):
    """A file that is not read.

    Attributes:
        reason: ``missing``, ``unreadable``, ``too-large``, ``non-text``, ``changed`` (other bytes than
            expected, or a link where there was none) or ``outside``.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


def read(root: Rooted, path: str, *, expect: str | None = None) -> File:
    """Read a regular UTF-8 file at its real path below the root.

    Args:
        root: The root, with the most bytes of a file.
        path: As a resolved link has it: no link, ``.`` or ``..`` on the way.
        expect: The hash it must have.

    Raises:
        Unreadable: See there.
    """
    descriptor = _open(root, path)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Unreadable(path, "non-text")
        data = _bytes(descriptor, path, root.max_bytes)
    except OSError:
        raise Unreadable(path, "unreadable") from None
    finally:
        os.close(descriptor)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise Unreadable(path, "non-text") from None
    sha256 = f"sha256:{hashlib.sha256(data).hexdigest()}"
    if expect is not None and sha256 != expect:
        raise Unreadable(path, "changed")
    return File(path, data, sha256, text)


def open_folder(root: Rooted, path: str) -> int:
    """A descriptor of a folder at its real path below the root; the caller closes it.

    Raises:
        OSError: It cannot be opened, or a link stands on the way.
    """
    return _descend(root, [part for part in path.split("/") if part] or ["."], os.O_DIRECTORY)


def _bytes(descriptor: int, path: str, most: int) -> bytes:
    """All bytes of an open file; what it is not comes first, then how large it is."""
    size = os.fstat(descriptor).st_size
    data = os.read(descriptor, PROBE_BYTES)
    if b"\0" in data:
        raise Unreadable(path, "non-text")
    if max(size, len(data)) > most:
        raise Unreadable(path, "too-large" if _starts_as_text(data) else "non-text")
    parts = [data]
    held = len(data)
    while data and held <= most:
        data = os.read(descriptor, max(size - held, 0) + 1)
        parts.append(data)
        held += len(data)
    if held > most:
        raise Unreadable(path, "too-large")
    return b"".join(parts)


def _starts_as_text(data: bytes) -> bool:
    """Whether a start of a file is UTF-8; a character that its end cuts through is no fault."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True


def _open(root: Rooted, path: str) -> int:
    parts = path.split("/")
    if not path or {"", ".", ".."} & set(parts):
        raise Unreadable(path, "outside")
    try:
        if root.descriptor is None or not BY_DESCRIPTOR:
            return _open_by_path(root, path)
        return _descend(root, parts, 0)
    except OSError as error:
        reason = {errno.ENOENT: "missing", errno.ENOTDIR: "missing", errno.ELOOP: "changed"}
        raise Unreadable(path, reason.get(error.errno or 0, "unreadable")) from None
    except ValueError:  # a NUL or a lone surrogate, which no file name holds
        raise Unreadable(path, "missing") from None


def _descend(root: Rooted, parts: list[str], last: int) -> int:
    """Open component by component. Raises OSError; ELOOP where one is a link."""
    assert root.descriptor is not None
    at = root.descriptor
    try:
        for n, part in enumerate(parts, start=1):
            flags = _FLAGS | (last if n == len(parts) else os.O_DIRECTORY)
            try:
                below = os.open(part, flags, dir_fd=at)
            except NotADirectoryError:
                if stat.S_ISLNK(os.stat(part, dir_fd=at, follow_symlinks=False).st_mode):
                    raise OSError(errno.ELOOP, "a link stands on the way", part) from None
                raise
            if at != root.descriptor:
                os.close(at)
            at = below
        return at
    except BaseException:
        if at != root.descriptor:
            os.close(at)
        raise


def _open_by_path(root: Rooted, path: str) -> int:
    """Where there are no descriptors of folders: open, then look whether that is still the file meant."""
    absolute = os.path.join(root.root, *path.split("/"))
    descriptor = os.open(absolute, _FLAGS)
    try:
        if os.path.realpath(absolute) != absolute or not os.path.samestat(
            os.fstat(descriptor), os.stat(absolute)
        ):
            raise OSError(errno.ELOOP, "a link stands on the way", path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
