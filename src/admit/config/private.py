"""Files that are this user's alone: read only where nobody else could have written or read them."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from admit.config.files import Finding
from admit.config.places import private_folder


class Unsafe(Exception):
    """A file that must not be used; `finding` names it, what is wrong, and the fix."""

    def __init__(self, path: str, text: str, fix: str) -> None:
        super().__init__(f"{path} {text}")
        self.finding = Finding("broken", text, fix, file=path)


def read_private(path: str, most_bytes: int) -> bytes | None:
    """The bytes of a file; None where there is none.

    Raises:
        Unsafe: It is a link, no regular file, another user's, open to others, too large, or unreadable.
    """
    try:
        # O_NONBLOCK: a named pipe must not hold us up.
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as fault:
        if fault.errno in (errno.ELOOP, errno.EMLINK):
            raise Unsafe(path, "is a link", "put the file itself there") from None
        raise Unsafe(path, f"cannot be read: {fault.strerror}", "give this user the right to it") from None
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise Unsafe(path, "is not a regular file", "put the file itself there")
        if info.st_uid != os.geteuid():
            raise Unsafe(path, "belongs to another user", f"chown {os.geteuid()} {path}")
        if info.st_mode & 0o077:
            raise Unsafe(path, "is open to other users", f"chmod 600 {path}")
        with os.fdopen(fd, "rb", closefd=False) as file:
            data = file.read(most_bytes + 1)
    except OSError as fault:
        raise Unsafe(path, f"cannot be read: {fault.strerror}", "give this user the right to it") from None
    finally:
        os.close(fd)
    if len(data) > most_bytes:
        raise Unsafe(path, f"is larger than {most_bytes:,} bytes", "put back what belongs there")
    return data


def write_private(path: str, data: bytes) -> None:
    """Put a file of mode 0600 in place, whole or not at all; its folder is made where it is missing.

    Raises:
        OSError: It cannot be written; what stood there stays.
    """
    private_folder(os.path.dirname(path))
    replace_whole(path, data)


def replace_whole(path: str, data: bytes) -> None:
    """The same in a folder that is there, whosever it is.

    Raises:
        OSError: It cannot be written; what stood there stays. It names the file.
    """
    fresh = f"{path}.{os.urandom(8).hex()}"
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(fd)
        os.replace(fresh, path)
    except OSError as fault:
        fault.filename = path
        raise
    finally:
        with suppress(FileNotFoundError):
            os.unlink(fresh)


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Keep every other process that asks for the same lock file waiting.

    Raises:
        OSError: The lock file cannot be made.
    """
    private_folder(os.path.dirname(path))
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
