"""The append-only fallback: files of framed records that any process can read back, whole or torn.

One record is ``\\nA1 <length in bytes> <CRC-32 as 8 hex> <JSON>\\n``, written with one ``write``. The leading
newline keeps a torn record from eating the next one; JSON holds no raw newline, so a header is never found
inside a record. There is one file per process and 8 MiB, ``<writer>.spool`` and then ``<writer>.2.spool``.
"""

from __future__ import annotations

import errno
import fcntl
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from .places import check_file, locked, open_file, own_folder, read_all

FILE_BYTES = 8 * 1024 * 1024
LENGTH_DIGITS = 10

_HEADER = b"\nA1 "


class Scan(NamedTuple):
    """What a spool file holds: the bodies of its whole records, in order, and how many are spoiled."""

    bodies: list[bytes]
    bad: int


class Drained(NamedTuple):
    """What a drain imported: records, unreadable records, and files."""

    records: int = 0
    bad: int = 0
    files: int = 0


def frame(body: bytes) -> bytes:
    """One record as it stands in a file."""
    return b"%s%d %08x %s\n" % (_HEADER, len(body), zlib.crc32(body), body)


def scan(data: bytes) -> Scan:
    """Every whole record of a file; what is spoiled is skipped to the next header, and counted."""
    bodies: list[bytes] = []
    bad = at = 0
    lost = False  # inside a stretch that is already counted as spoiled
    while at < len(data):
        start = data.find(_HEADER, at)
        between = data[at : start if start >= 0 else len(data)]
        if between and not lost:
            bad += 1
        if start < 0:
            break
        body = _body(data, start + len(_HEADER))
        lost = body is None
        if body is None:
            bad += 1
            at = start + len(_HEADER)
        else:
            first, end = body
            bodies.append(data[first:end])
            at = end + 1 if data[end : end + 1] == b"\n" else end
    return Scan(bodies, bad)


class Spool:
    """The spool of one process.

    Attributes:
        dropped: Records that left the full spool unread, by this process's doing.
        bad: Unreadable records that this process met.
    """

    def __init__(self, folder: str, writer: str, max_bytes: int, fs: Any = os) -> None:
        self.dropped = 0
        self.bad = 0
        self._folder = folder
        self._writer = writer
        self._max_bytes = max_bytes
        self._file_bytes = min(FILE_BYTES, max(max_bytes // 4, 1))
        self._part = 1
        self._fs = fs

    def append(self, body: bytes) -> None:
        """Write one record; at the cap the oldest file is dropped, and its records counted.

        Raises:
            OSError: It is not written.
        """
        framed = frame(body)
        if len(framed) > self._max_bytes:
            raise OSError(errno.EFBIG, "a record larger than the spool may be", self._folder)
        own_folder(os.path.dirname(self._folder), self._fs)
        own_folder(self._folder, self._fs)
        while not self._written(framed):
            pass

    def files(self) -> list[str]:
        """Every file that waits, oldest first."""
        found = []
        try:
            entries = self._fs.listdir(self._folder)
        except FileNotFoundError:
            return []
        for name in entries:
            if name.endswith((".spool", ".draining")):
                path = os.path.join(self._folder, name)
                info = check_file(path, self._fs)
                if info is not None:
                    found.append((info.st_mtime_ns, path))
        return [path for _, path in sorted(found)]

    def size(self) -> int:
        """Bytes that wait."""
        infos = (check_file(path, self._fs) for path in self.files())
        return sum(info.st_size for info in infos if info is not None)

    def count(self) -> int:
        """Whole records that wait."""
        return sum(len(self.bodies(path)) for path in self.files())

    def bodies(self, path: str) -> list[bytes]:
        """The whole records of one file; none when another process drained it meanwhile."""
        try:
            return self._scan(path).bodies
        except FileNotFoundError:
            return []

    def drain(self, store: Callable[[list[bytes], int], None], *, wait_ms: int = 0) -> Drained | None:
        """Hand every waiting record to `store`, file by file, and delete a file once `store` has returned.

        Args:
            store: Gets the bodies of one file and the number of spoiled records; it commits, or raises.
            wait_ms: How long to wait for another process that drains.

        Returns:
            None when another process is draining: it does the work.
        """
        if not self.files():
            return Drained()
        total = Drained()
        with locked(os.path.join(self._folder, ".lock"), wait_ms) as held:
            if not held:
                return None
            # What an earlier drain left goes first: its name must be free before a file can take it.
            waiting = self.files()
            waiting.sort(key=lambda path: not path.endswith(".draining"))
            for path in waiting:
                found = self._taken(path)
                if found is None:
                    continue
                taken, whole = found
                store(whole.bodies, whole.bad)
                self._fs.unlink(taken)
                self.bad += whole.bad
                total = Drained(total.records + len(whole.bodies), total.bad + whole.bad, total.files + 1)
        return total

    def remove(self) -> int:
        """Delete everything that waits, and give the number of records."""
        if not self.files():
            return 0
        with locked(os.path.join(self._folder, ".lock"), 2000):
            return sum(self._drop(path) for path in self.files())

    def _path(self) -> str:
        part = "" if self._part == 1 else f".{self._part}"
        return os.path.join(self._folder, f"{self._writer}{part}.spool")

    def _written(self, framed: bytes) -> bool:
        """Write to the present file; False when another one has to be tried."""
        path = self._path()
        with self._held(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as fd:
            if not self._is_at(path, fd):
                return False  # another process took it to drain it
            size = self._fs.fstat(fd).st_size
            if size and size + len(framed) > self._file_bytes:
                self._part += 1
                return False
            self._make_room(len(framed), path)
            if self._fs.write(fd, framed) != len(framed):
                raise OSError(errno.ENOSPC, "written only in part", path)
            return True

    def _make_room(self, needed: int, own: str) -> None:
        total = self.size()
        for path in self.files():
            if total + needed <= self._max_bytes:
                return
            if path.endswith(".spool") and path != own:
                info = check_file(path, self._fs)
                self.dropped += self._drop(path)
                total -= info.st_size if info is not None else 0
        if total + needed > self._max_bytes:
            raise OSError(
                errno.ENOSPC, "the spool is full of files that another process drains", self._folder
            )

    def _drop(self, path: str) -> int:
        """Delete a file that nobody is writing or draining; gives the whole records that go with it."""
        try:
            with self._held(path, os.O_RDWR) as fd:
                if not self._is_at(path, fd):
                    return 0
                records = len(self._scan(path).bodies)
                self._fs.unlink(path)
                return records
        except FileNotFoundError:
            return 0

    def _taken(self, path: str) -> tuple[str, Scan] | None:
        """Give a file the name that no process writes to, wait for a write that is under way, and read it."""
        taken = path
        if path.endswith(".spool"):
            taken = path[: -len(".spool")] + ".draining"
            try:
                self._fs.rename(path, taken)
            except FileNotFoundError:
                return None
        with self._held(taken, os.O_RDWR):
            return taken, self._scan(taken)

    def _scan(self, path: str) -> Scan:
        return scan(read_all(path, self._fs))

    def _is_at(self, path: str, fd: int) -> bool:
        try:
            return os.path.samestat(self._fs.stat(path), self._fs.fstat(fd))
        except FileNotFoundError:
            return False

    @contextmanager
    def _held(self, path: str, flags: int) -> Iterator[int]:
        """Open a file and hold its lock: a file is never written and read at once."""
        fd = open_file(path, flags, self._fs)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield fd
        finally:
            try:
                self._fs.close(fd)
            except OSError:
                # Some file systems tell only here that a write did not reach them.
                if flags & os.O_ACCMODE == os.O_WRONLY:
                    raise


def _body(data: bytes, at: int) -> tuple[int, int] | None:
    """Where the body begins and ends whose length and checksum stand at `at`; None when they do not hold."""
    length_end = data.find(b" ", at, at + LENGTH_DIGITS + 1)
    first = length_end + 10
    digits, checksum = data[at:length_end], data[length_end + 1 : first - 1]
    if length_end < 0 or not digits.isdigit() or data[first - 1 : first] != b" " or len(checksum) != 8:
        return None
    end = first + int(digits)
    if end > len(data) or checksum != b"%08x" % zlib.crc32(data[first:end]):
        return None
    return first, end
