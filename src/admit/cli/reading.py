"""Standard input to its end, or to the signal that ends the wait for it."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NamedTuple

import click

from admit.cli.streams import HELD_BYTES, print_bytes
from admit.errors import UsageError

STDIN = 0
BLOCK = 1 << 20
ENDS_READING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Came(NamedTuple):
    """What came on standard input.

    Attributes:
        data: The bytes; None where it was too much to hold and has been passed through.
        signal: The number of the signal that ended the wait, 0 where the input ended.
    """

    data: bytes | None
    signal: int


def read_all() -> Came:
    """Read standard input to its end.

    INT, TERM and HUP end the wait and lose nothing: what came until then is the input. More than 256 MiB is
    written to standard output as it comes.

    Raises:
        UsageError: It cannot be read.
    """
    blocks: list[bytes] = []
    held = 0
    with _signals() as caught:
        for block in _blocks(caught):
            held += len(block)
            if held <= HELD_BYTES:
                blocks.append(block)
                continue
            for one in (*blocks, block):
                print_bytes(one)
            blocks = []
    number = caught.number
    if held > HELD_BYTES:
        click.echo(f"admit: shown whole: over {HELD_BYTES:,} bytes", err=True)
        return Came(None, number)
    return Came(b"".join(blocks), number)


class _Caught:
    """The first signal that came, and the pipe on which it wakes the poll."""

    def __init__(self, waking: int) -> None:
        self.waking = waking
        self.number = 0

    def take(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        self.number = self.number or number


@contextmanager
def _signals() -> Iterator[_Caught]:
    """Signals are noted while input is read; what is ignored here stays ignored, as under nohup."""
    waking, woken = os.pipe()
    os.set_blocking(woken, False)
    caught = _Caught(waking)
    wanted = [number for number in ENDS_READING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, caught.take) for number in wanted}
    wakeup = signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    try:
        yield caught
    finally:
        signal.set_wakeup_fd(wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(waking)
        os.close(woken)


def _blocks(caught: _Caught) -> Iterator[bytes]:
    """Block after block, and after a signal what still stands in the pipe: one read holds it."""
    poll = select.poll()
    poll.register(STDIN, select.POLLIN)
    poll.register(caught.waking, select.POLLIN)
    while not caught.number:
        if any(fd == STDIN for fd, _ in poll.poll()):
            block = _read()
            if not block:
                return
            yield block
    if any(fd == STDIN for fd, _ in poll.poll(0)):
        yield _read()


def _read() -> bytes:
    try:
        return os.read(STDIN, BLOCK)
    except OSError as fault:
        raise UsageError(f"standard input cannot be read: {fault.strerror}") from None
