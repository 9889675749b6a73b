"""One captured stream of a running command, and writing to where it belongs."""

from __future__ import annotations

import errno
import os
import select
from typing import Protocol

from admit.errors import AdmitError, StoreFailed
from admit.outputs.binary import LOOKED_AT, is_binary

# More of one stream is not held: what was held is written out, and the rest is passed through.
HELD_BYTES = 256 << 20
STDOUT, STDERR = 1, 2


class Spool(Protocol):
    """Where a stream is written as it arrives, so that a killed wrapper loses nothing."""

    def write(self, data: bytes) -> None:
        """Append; raises `StoreFailed`."""
        ...

    def discard(self) -> None:
        """Remove what was written."""
        ...


class Stream:
    """One captured stream.

    Attributes:
        name: stdout, stderr or merged.
        target: The file descriptor it belongs on.
        terminal: Whether it goes to a terminal as it comes.
        live: Whether it is passed through as it comes, to a terminal or not.
        whole: Whether all of it is held.
        gone: Whether nobody reads the target any more, or it cannot be written.
        fault: Why it cannot be written, where it is not that its reader went away.
    """

    def __init__(self, name: str, target: int, *, live: bool, spool: Spool | None) -> None:
        self.name = name
        self.target = target
        self.live = live
        self.terminal = live
        self.whole = True
        self.gone = False
        self.fault: OSError | None = None
        self._spool = spool
        self._spooling = spool is not None
        self._blocks: list[bytes] = []
        self._held = 0

    @property
    def data(self) -> bytes:
        """What was captured; empty where it was not held to its end."""
        self._blocks = [b"".join(self._blocks)]
        return self._blocks[0]

    def take(self, block: bytes) -> None:
        """Take the next bytes of the command.

        Binary output is never cut, and more than 256 MiB is not held: both are passed through.
        """
        if self.live:
            self.write(block)
        if not self.whole:
            return
        before, self._held = self._held, self._held + len(block)
        self._blocks.append(block)
        if self._held > HELD_BYTES or (before < LOOKED_AT <= self._held and is_binary(self.data)):
            self._pass_through()
        elif self._spool is not None and self._spooling:
            try:
                self._spool.write(block)
            except StoreFailed:
                self._spooling = False  # what stands there has no hole

    def _pass_through(self) -> None:
        blocks, self._blocks, self.whole = self._blocks, [], False
        if not self.live:
            self.live = True
            for block in blocks:
                self.write(block)
        self.release()

    def write(self, data: bytes) -> None:
        """Write to the target; a fault is remembered, not raised: the command has its own end."""
        if not self.gone:
            try:
                self.gone = not write_all(self.target, data)
            except OSError as fault:
                self.gone, self.fault = True, fault

    def release(self) -> None:
        """Let go of the file on disk: what it holds was shown or stored."""
        if self._spool is not None:
            self._spool.discard()
            self._spool = None


def write_all(fd: int, data: bytes) -> bool:
    """Write everything, also where the other end made it non-blocking; False where nobody reads any more."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            poll = select.poll()
            poll.register(fd, select.POLLOUT)
            poll.poll()
        except OSError as error:
            if error.errno in (errno.EPIPE, errno.EIO, errno.EBADF):
                return False
            raise
    return True


def print_bytes(data: bytes) -> None:
    """Write everything to standard output.

    Raises:
        BrokenPipeError: Nobody reads it any more.
        AdmitError: It cannot be written, such as on a full disk.
    """
    try:
        if write_all(STDOUT, data):
            return
    except OSError as fault:
        raise AdmitError(f"standard output could not be written: {fault.strerror}") from None
    raise BrokenPipeError
