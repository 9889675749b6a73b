"""A settings file on the disk: read whole, written whole or not at all, with a backup of what stood there.

A link is followed once and keeps pointing where it pointed. Mode and owner stay.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple

from admit.errors import SettingsError

MOST_BYTES = 8 << 20
BACKUP = ".admit-backup-"
BACKUPS_KEPT = 5
NEW_MODE: Mapping[str, int] = {"user": 0o600, "project": 0o644}


class SettingsFile(NamedTuple):
    """A file as it was read.

    Attributes:
        path: As it was asked for.
        target: Where it is: the same, or where the link at `path` leads.
        text: None where there is no file.
        mode: Permission bits of the file, or those that a new one gets.
    """

    path: str
    target: str
    text: str | None
    mode: int

    @property
    def is_link(self) -> bool:
        """Whether there is a link at the path."""
        return self.path != self.target


def read(path: str, scope: str = "user") -> SettingsFile:
    """Read a file, or learn that there is none.

    Args:
        path: Absolute.
        scope: ``user`` or ``project``: who may read a new file.

    Raises:
        SettingsError: It is no regular file of this user, larger than 8 MiB, not UTF-8, or behind two links.
    """
    target = _target(path)
    try:
        fd = os.open(target, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return SettingsFile(path, target, None, NEW_MODE[scope])
    except OSError as fault:
        what = (
            "is a link behind a link" if fault.errno == errno.ELOOP else f"cannot be read ({fault.strerror})"
        )
        raise SettingsError(f"{target} {what}", path=path) from None
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise SettingsError("is not a regular file", path=path)
        if info.st_uid != os.geteuid():
            raise SettingsError("belongs to another user", path=path)
        data = b""
        while len(data) <= MOST_BYTES and (part := os.read(fd, MOST_BYTES)):
            data += part
    finally:
        os.close(fd)
    if len(data) > MOST_BYTES:
        raise SettingsError(f"is larger than {MOST_BYTES:,} bytes", path=path)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise SettingsError("is not UTF-8", path=path, line=line, column=column) from None
    return SettingsFile(path, target, text, stat.S_IMODE(info.st_mode))


def write(file: SettingsFile, text: str | None) -> str | None:
    """Put another text in the place of the one that was read; None removes the file, without a backup.

    Returns:
        The backup of what stood there; None where nothing did.

    Raises:
        SettingsError: The file is not as it was read any more, the text cannot be encoded, or the file cannot
            be written; the old one then stands unchanged.
    """
    try:
        data = b"" if text is None else text.encode()
    except UnicodeEncodeError:
        raise SettingsError("a path in the new text is not UTF-8", path=file.path) from None
    if _target(file.path) != file.target or read(file.target).text != file.text:
        raise SettingsError("was changed by another program just now; run the command again", path=file.path)
    with refusing(file.target):
        return _put(file, None if text is None else data)


@contextmanager
def refusing(path: str) -> Iterator[None]:
    """Give what the system refused the name of the file, and say what to do about it.

    Raises:
        SettingsError: In the place of an OSError.
    """
    try:
        yield
    except OSError as fault:
        folder = os.path.dirname(path)
        full = fault.errno in (errno.ENOSPC, errno.EDQUOT)
        fix = "make room there" if full else f"make {folder} writable for yourself"
        why = f"cannot be written ({fault.strerror or fault}); {fix}, and run the command again"
        raise SettingsError(why, path=path) from None


def _put(file: SettingsFile, data: bytes | None) -> str | None:
    if data is None:
        os.unlink(file.target)
        return None
    backup = None if file.text is None else _back_up(file.path, file.text.encode())
    folder_mode = file.mode | (file.mode & 0o444) >> 2  # who may read the file may enter
    os.makedirs(os.path.dirname(file.target), mode=folder_mode, exist_ok=True)
    fresh = f"{file.target}.{os.urandom(8).hex()}.admit-new"
    _create(fresh, data, file.mode)
    try:
        os.replace(fresh, file.target)
    except OSError:
        os.unlink(fresh)
        raise
    return backup


def backups(path: str) -> list[str]:
    """The backups of a file, oldest first."""
    folder, name = os.path.split(path)
    with suppress(FileNotFoundError):
        return [
            os.path.join(folder, one) for one in sorted(os.listdir(folder)) if one.startswith(name + BACKUP)
        ]
    return []


def _target(path: str) -> str:
    if not os.path.islink(path):
        return path
    return os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))


def _back_up(path: str, data: bytes) -> str:
    """Keep a copy beside the path, for its owner alone; of all copies the newest 5 stay."""
    while True:
        now = time.time()
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now))
        backup = f"{path}{BACKUP}{stamp}.{int(now % 1 * 1000):03d}Z"
        try:
            _create(backup, data, 0o600)
        except FileExistsError:
            time.sleep(0.001)
            continue
        for old in backups(path)[:-BACKUPS_KEPT]:
            os.unlink(old)
        return backup


def _create(path: str, data: bytes, mode: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(fd, mode)
            os.fsync(fd)
    except BaseException:
        os.unlink(path)
        raise
