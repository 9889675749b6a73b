"""One output on its way into the store, written to disk as it arrives and hashed on the way."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from admit.errors import StoreFailed

from .port import OutputMeta, OutputRef


class Kept(NamedTuple):
    """What a finished capture holds.

    Attributes:
        sha256, size: Of the bytes that are kept; `size` in bytes.
        total: Bytes of the whole output.
        lines: Newlines, and one more for an unfinished last line.
        complete: False where only the first and the last half of the limit are kept.
    """

    sha256: str
    size: int
    total: int
    lines: int
    complete: bool


class Capture:
    """A file that takes an output, and of a very large one its first and its last part.

    The second half of the limit is written over and over, as a ring, and put in order at the end; so the disk
    never holds more than the limit, and memory no more than half of it.
    """

    def __init__(
        self,
        path: str,
        fd: int,
        max_bytes: int,
        meta: OutputMeta,
        keep: Callable[[str, Kept, OutputMeta], OutputRef],
        fs: Any = os,
    ) -> None:
        self._path = path
        self._fd = fd
        self._head = max_bytes // 2
        self._ring = max_bytes - self._head
        self._meta = meta
        self._keep = keep
        self._fs = fs
        self._total = 0
        self._hash = hashlib.sha256()
        self._newlines = 0
        self._last = b"\n"
        self._head_hash = self._hash
        self._head_newlines = 0

    def __enter__(self) -> Capture:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def write(self, data: bytes) -> None:
        """Take the next bytes.

        Raises:
            StoreFailed: They cannot be written.
        """
        try:
            while data:
                if self._total < self._head:
                    at, room = self._total, self._head - self._total
                else:
                    in_ring = (self._total - self._head) % self._ring
                    at, room = self._head + in_ring, self._ring - in_ring
                part, data = (data, b"") if len(data) <= room else (data[:room], data[room:])
                self._write_at(part, at)
                self._count(part)
        except OSError as fault:
            raise StoreFailed(f"the output cannot be written to {self._path}: {fault}") from fault

    def finish(self, meta: OutputMeta | None = None) -> OutputRef:
        """Give the file its name in the store.

        Args:
            meta: What is known by now, such as an exit code.

        Raises:
            StoreFailed: It is not stored.
        """
        try:
            complete = self._total <= self._head + self._ring
            if not complete:
                self._put_ring_in_order()
            lines = self._newlines + (self._last != b"\n")
            size = min(self._total, self._head + self._ring)
            kept = Kept(self._hash.hexdigest(), size, self._total, lines, complete)
            ref = self._keep(self._path, kept, meta or self._meta)
            self._close()  # last, for it holds the lock that says somebody is at work
        except OSError as fault:
            raise StoreFailed(f"the output cannot be stored: {fault}") from fault
        return ref

    def discard(self) -> None:
        """Remove what was written, unless it is stored. Never raises."""
        if self._fd >= 0:
            with suppress(OSError):  # `newest` and `prune` find what is left
                self._fs.unlink(self._path)
            with suppress(OSError):
                self._close()

    def _write_at(self, part: bytes | memoryview, at: int) -> None:
        view = memoryview(part)
        while view:
            n = self._fs.pwrite(self._fd, view, at)
            view, at = view[n:], at + n

    def _count(self, part: bytes) -> None:
        """Hash and count: all of it up to the limit; past it only the ring's end matters, at the end."""
        self._total += len(part)
        self._last = part[-1:]
        if self._total <= self._head + self._ring:
            self._hash.update(part)
            self._newlines += part.count(b"\n")
            if self._total == self._head:
                self._head_hash, self._head_newlines = self._hash.copy(), self._newlines

    def _put_ring_in_order(self) -> None:
        ring = bytearray()
        while len(ring) < self._ring:
            part = self._fs.pread(self._fd, self._ring - len(ring), self._head + len(ring))
            if not part:
                raise OSError("the output does not read back")
            ring += part
        start = (self._total - self._head) % self._ring
        view = memoryview(ring)
        self._hash = self._head_hash.copy()
        at = self._head
        for part in (view[start:], view[:start]):
            self._write_at(part, at)
            self._hash.update(part)
            at += len(part)
        self._newlines = self._head_newlines + ring.count(b"\n")

    def _close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            self._fs.close(fd)
