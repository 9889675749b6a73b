"""Where the ledger keeps its files, and the checks that they are this user's own.

Folders are 0700, files 0600, created with ``O_EXCL`` or ``O_NOFOLLOW``. A symlink or another owner at one
of these places is refused, never followed. The functions that touch files take `fs`, which is `os` or
something that behaves like it, so that every file operation can be made to fail in a test.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from admit.config.keys import default
from admit.config.places import state_dir

_FUSE = ("sshfs", "rclone", "s3fs", "gcsfuse", "glusterfs", "ceph")
NETWORK_TYPES = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "lustre", "glusterfs")
).union(f"fuse.{name}" for name in _FUSE)
MAC_NETWORK_TYPES = frozenset(("nfs", "smbfs", "afpfs", "webdav"))

_COST = "nothing is recorded there, and an output that cannot be stored passes uncut"


class NotOurs(OSError):
    """A symlink or another user's file stands where one of our own should be."""


class Places(NamedTuple):
    """Absolute paths of everything the ledger keeps."""

    state: str
    database: str
    spool: str
    outputs: str
    key: str


def setting(config: Mapping[str, object] | None, key: str) -> Any:
    """The effective value of a key: from `config`, where it is given there, else the shipped default."""
    value = config.get(key) if config is not None else None
    return default(key) if value is None else value


def places(config: Mapping[str, object] | None = None) -> Places:
    """Everything under the state folder; ``ledger.path`` moves the database alone.

    A ``ledger.path`` that is a folder holds ``ledger.db``.
    """
    state = state_dir()
    database = os.path.join(state, "ledger.db")
    moved = setting(config, "ledger.path")
    if moved:
        database = os.path.abspath(os.path.expanduser(moved))
        if os.path.isdir(database):
            database = os.path.join(database, "ledger.db")
    return Places(
        state=state,
        database=database,
        spool=os.path.join(state, "spool"),
        outputs=os.path.join(state, "outputs"),
        key=os.path.join(state, "ledger.key"),
    )


def own_folder(path: str, fs: Any = os, *, ours: bool = True) -> None:
    """Make a private folder with its parents, or check that it is one of this user's, and close it to others.

    Args:
        ours: Nobody else has to do with it. A folder that the user named is closed only where it is made
            here: it may be a home, or one that everybody uses.

    Raises:
        NotOurs: It is a symlink, no folder, or another user's.
        OSError: It cannot be made.
    """
    try:
        info = fs.lstat(path)
    except FileNotFoundError:
        fs.makedirs(os.path.dirname(path), exist_ok=True)
        with suppress(FileExistsError):  # another process may be quicker
            fs.mkdir(path, 0o700)
        info = fs.lstat(path)
    if not stat.S_ISDIR(info.st_mode):
        raise NotOurs(errno.EPERM, "not a folder of its own", path)
    _check_owner(info, path)
    if ours and info.st_mode & 0o077:
        fs.chmod(path, 0o700)


def check_file(path: str, fs: Any = os) -> os.stat_result | None:
    """What `lstat` says of a regular file of this user; None where there is nothing.

    Raises:
        NotOurs: It is a symlink, no regular file, or another user's.
    """
    try:
        info = fs.lstat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(info.st_mode):
        raise NotOurs(errno.EPERM, "not a regular file", path)
    _check_owner(info, path)
    return info


def open_file(path: str, flags: int, fs: Any = os) -> int:
    """Open a private file of this user, 0600 where it is created; never through a symlink.

    Raises:
        NotOurs: It is a symlink, no regular file, or another user's.
    """
    try:
        fd = fs.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as fault:
        if fault.errno == errno.ELOOP:
            raise NotOurs(errno.EPERM, "a symlink", path) from None
        raise
    try:
        info = fs.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise NotOurs(errno.EPERM, "not a regular file", path)
        _check_owner(info, path)
    except BaseException:
        fs.close(fd)
        raise
    return fd


class Misplaced(NamedTuple):
    """Something in our place that is refused, or open to other users: its path, a sentence, and the fix."""

    path: str
    text: str
    fix: str


def misplaced(place: Places) -> Iterator[Misplaced]:
    """What stands in the state folder, or as the database, and should not be so; by path, looked at only.

    Links and files of other users come one by one, for each is refused; what others may read comes as one.
    """
    opened = []
    for path, info in _kept(place):
        if stat.S_ISLNK(info.st_mode):
            fix = f"Put what it points to in its place, or remove it: rm {path}"
            yield Misplaced(path, f"{path} is a symlink, so it is refused: {_COST}.", fix)
        elif info.st_uid != os.geteuid():
            text = f"{path} belongs to user {info.st_uid}, so it is refused: {_COST}."
            yield Misplaced(path, text, f"sudo chown -R {os.geteuid()} {path}")
        elif path in (place.state, place.outputs, place.spool) and not stat.S_ISDIR(info.st_mode):
            yield Misplaced(path, f"{path} is not a folder.", f"Move it away: mv {path} {path}.old")
        elif info.st_mode & 0o077 and stat.S_IFMT(info.st_mode) in (stat.S_IFDIR, stat.S_IFREG):
            opened.append((path, stat.S_ISDIR(info.st_mode)))
    if len(opened) == 1:
        path, folder = opened[0]
        yield Misplaced(path, f"{path} is open to other users.", f"chmod {700 if folder else 600} {path}")
    elif opened:
        path = os.path.commonpath([path for path, _ in opened])
        text = f"{path} holds {len(opened):,} files or folders open to other users, such as {opened[-1][0]}."
        yield Misplaced(path, text, f"chmod -R go-rwx {path}")


def _kept(place: Places) -> Iterator[tuple[str, os.stat_result]]:
    """Everything under the state folder, and the database with its side files; no link is followed."""
    waiting = [place.state]
    if not place.database.startswith(place.state + os.sep):
        waiting += [place.database, place.database + "-wal", place.database + "-shm"]
    while waiting:
        path = waiting.pop()
        try:
            info = os.lstat(path)
            yield path, info
            if stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid():
                waiting += [os.path.join(path, name) for name in sorted(os.listdir(path), reverse=True)]
        except (FileNotFoundError, PermissionError):
            continue  # gone by now, or said by what writes there


def write_all(fd: int, data: bytes | memoryview, fs: Any = os) -> None:
    """Write every byte, in as many writes as it takes."""
    view = memoryview(data)
    while view:
        view = view[fs.write(fd, view) :]


def read_all(path: str, fs: Any = os) -> bytes:
    """The bytes of a private file of this user."""
    fd = open_file(path, os.O_RDONLY, fs)
    try:
        parts = []
        while part := fs.read(fd, 1 << 20):
            parts.append(part)
        return b"".join(parts)
    finally:
        fs.close(fd)


@contextmanager
def locked(path: str, wait_ms: int) -> Iterator[bool]:
    """Hold the lock of a file; False after `wait_ms` of waiting for another process."""
    fd = open_file(path, os.O_RDWR | os.O_CREAT)
    try:
        end = time.monotonic() + wait_ms / 1000
        while not (held := _try_lock(fd)) and time.monotonic() < end:
            time.sleep(0.005)
        yield held
    finally:
        os.close(fd)


def network_type(path: str, mountinfo: str) -> str | None:
    """The type of the network file system that holds a real path, or None where it is a local one.

    Args:
        path: Absolute and without symlinks.
        mountinfo: The text of ``/proc/self/mountinfo`` (proc_pid_mountinfo(5)). Of the mount points above
            the path the longest counts, of equals the last: it hides the earlier ones.
    """
    best, best_type = "", None
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields, types = before.split(" "), after.split(" ")
        if len(fields) < 5 or not types[0]:
            continue
        point = _octal_decoded(fields[4])
        if _is_above(point, path) and len(point) >= len(best):
            best, best_type = point, types[0]
    return best_type if best_type in NETWORK_TYPES else None


def network_filesystem(path: str) -> tuple[str | None, str]:
    """The type of the network file system that will hold `path`, or None; and a finding, or nothing."""
    real = os.path.realpath(path)
    try:
        if sys.platform == "darwin":
            import subprocess

            listed = subprocess.run(["/sbin/mount"], capture_output=True, text=True, timeout=2, check=True)
            return mac_network_type(real, listed.stdout), ""
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            return network_type(real, file.read()), ""
    except Exception as fault:
        return None, f"The mounts cannot be read ({fault}): the ledger's folder is taken as local."


def mac_network_type(path: str, listing: str) -> str | None:
    """As `network_type`, from what ``mount`` prints: ``X on /point (type, options)``."""
    best, best_type = "", None
    for line in listing.splitlines():
        point, _, options = line.partition(" on ")[2].rpartition(" (")
        if point and _is_above(point, path) and len(point) >= len(best):
            best, best_type = point, options.split(",")[0].rstrip(")")
    return best_type if best_type in MAC_NETWORK_TYPES else None


def _check_owner(info: os.stat_result, path: str) -> None:
    if info.st_uid != os.geteuid():
        raise NotOurs(errno.EPERM, f"owned by user {info.st_uid}", path)


def _try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_above(point: str, path: str) -> bool:
    return path == point or path.startswith(point if point.endswith("/") else point + "/")


def _octal_decoded(text: str) -> str:
    """``\\040`` and its like, as the kernel writes space, tab, newline and backslash, read back."""
    parts = text.split("\\")
    decoded = [parts[0].encode("utf-8", "surrogateescape")]
    for part in parts[1:]:
        code, rest = part[:3], part[3:]
        if len(code) == 3 and all(digit in "01234567" for digit in code) and int(code, 8) < 256:
            decoded.append(bytes([int(code, 8)]) + rest.encode("utf-8", "surrogateescape"))
        else:
            decoded.append(b"\\" + part.encode("utf-8", "surrogateescape"))
    return b"".join(decoded).decode("utf-8", "surrogateescape")
