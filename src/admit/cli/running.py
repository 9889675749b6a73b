"""Running a command so that it cannot tell: its own streams, signals and exit code, its output captured.

Output that goes to a terminal is passed through as it comes, over a pseudo terminal, so that colours and
line buffering stay as they are. Other output is held until the end. Where stdout and stderr are one and the
same file, they are captured as one, so that their lines keep their order.
"""

from __future__ import annotations

import errno
import os
import select
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from types import FrameType
from typing import Any, NamedTuple

from admit.cli.spawn import IGNORED_BY_PYTHON, spawn
from admit.cli.streams import STDERR, STDOUT, Spool, Stream

READ_BYTES = 1 << 16
# No pipe holds more than this, so one last look at it ends although somebody goes on writing.
PIPE_BYTES = 1 << 20
KILL_AFTER_S = 2.0
DESCENDANTS_S = 0.5
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Ran(NamedTuple):
    """How a command ended: its exit code, 128 + n after signal n, and its streams."""

    code: int
    streams: tuple[Stream, ...]


def run(
    argv: Sequence[str], *, live: bool = True, spool: Callable[[str], Spool | None] = lambda name: None
) -> Ran:
    """Run a command to its end, with this process's stdin, environment and open files.

    INT, TERM, HUP and QUIT are passed to the command's process group; a command that has not ended 2 s later
    is killed. At a terminal the command shares this process's group, so that the keyboard reaches it: there
    INT and QUIT come from the terminal itself and are not sent twice. Descendants that keep the streams open
    are waited for 500 ms.

    Args:
        argv: The command and its arguments.
        live: Whether a stream that goes to a terminal is passed through as it comes.
        spool: Gives the file on disk for a stream, by its name, or None.

    Raises:
        CannotStart: It is not found or not executable.
    """
    streams = _streams(live, spool)
    pairs = [_pair(stream) for stream in streams]
    shared = any(map(_in_foreground, (0, STDOUT, STDERR)))
    child = _Child(shared)
    waking, woken = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(waking, False)
    try:
        with _handlers(child, streams, pairs, woken):
            targets = {stream.target: write for stream, (_, write) in zip(streams, pairs, strict=True)}
            targets.setdefault(STDERR, targets[STDOUT])
            try:
                child.start(argv, targets)
            finally:
                for _, write in pairs:
                    os.close(write)
            sources = {read: stream for stream, (read, _) in zip(streams, pairs, strict=True)}
            _pump(sources, child, waking)
    except BaseException:
        for stream in streams:
            stream.release()
        raise
    finally:
        for read, _ in pairs:
            os.close(read)
        os.close(waking)
        os.close(woken)
    return Ran(child.code, tuple(streams))


class _Child:
    """The command's process."""

    def __init__(self, shared: bool) -> None:
        self.code = 0
        self._shared = shared
        self._pid = 0
        self._doomed = False

    def start(self, argv: Sequence[str], targets: dict[int, int]) -> None:
        """Start it with the given descriptors as its stdout and stderr. Signals wait until it has started."""
        actions = [(os.POSIX_SPAWN_DUP2, source, target) for target, source in targets.items()]
        options: dict[str, Any] = {"file_actions": actions, "setsigdef": IGNORED_BY_PYTHON}
        if not self._shared:
            options["setpgroup"] = 0
        before = signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
        try:
            self._pid = spawn(argv, options | {"setsigmask": before})
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def ended(self) -> bool:
        """Whether it has ended; then `code` holds."""
        if self._pid:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                self._pid = 0
                signal.setitimer(signal.ITIMER_REAL, 0)
                code = os.waitstatus_to_exitcode(status)
                self.code = code if code >= 0 else 128 - code
        return not self._pid

    def pass_on(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal that is meant for the command."""
        if self._shared and number in (signal.SIGINT, signal.SIGQUIT):
            return  # the terminal sent it to the command as well, and how long that takes is its own affair
        self._send(number)
        if not self._doomed:  # the first signal sets the time
            self._doomed = True
            signal.setitimer(signal.ITIMER_REAL, KILL_AFTER_S)

    def kill(self, number: int, frame: FrameType | None) -> None:
        """End it: the time after a signal is over."""
        self._send(signal.SIGKILL)

    def _send(self, number: int) -> None:
        if self._pid:
            with suppress(OSError):  # it may have just ended, or run as another user
                (os.kill if self._shared else os.killpg)(self._pid, number)


@contextmanager
def _handlers(
    child: _Child, streams: Sequence[Stream], pairs: Sequence[tuple[int, int]], woken: int
) -> Iterator[None]:
    """Signals go to the command while it runs; what is ignored here stays ignored, as under nohup."""

    def resize(number: int, frame: FrameType | None) -> None:
        for stream, (read, _) in zip(streams, pairs, strict=True):
            if stream.terminal:
                _copy_size(stream.target, read)

    wanted: dict[signal.Signals, Callable[[int, FrameType | None], None]] = {
        number: child.pass_on for number in PASSED_ON if signal.getsignal(number) is not signal.SIG_IGN
    }
    wanted |= {signal.SIGALRM: child.kill, signal.SIGCHLD: _wake, signal.SIGWINCH: resize}
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    wakeup = signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)


def _wake(number: int, frame: FrameType | None) -> None:
    """Do nothing: the signal has woken the poll."""


def _pump(sources: dict[int, Stream], child: _Child, waking: int) -> None:
    """Move what the command writes into its streams until it has ended and nothing more is to be expected."""
    poll = select.poll()
    poll.register(waking, select.POLLIN)
    for read, stream in sources.items():
        poll.register(read, select.POLLIN)
        # No event is asked for: this only tells when the last reader of the target is gone.
        poll.register(stream.target, 0)
    watched = {stream.target for stream in sources.values()}
    opened = dict(sources)
    until: float | None = None
    while True:
        if until is None and child.ended():
            until = monotonic() + DESCENDANTS_S
        if until is not None and (not opened or monotonic() >= until):
            for fd, stream in opened.items():
                _take_rest(fd, stream)
            return
        wait = None if until is None else max(0.0, until - monotonic()) * 1000
        for fd, event in poll.poll(wait):
            if fd == waking:
                _drain(waking)
            elif fd in watched:
                watched.discard(fd)
                poll.unregister(fd)
                for stream in sources.values():
                    stream.gone = stream.gone or stream.target == fd
            elif event:
                block = _read(fd)
                if block:
                    opened[fd].take(block)
                else:
                    poll.unregister(fd)
                    del opened[fd]
        for fd in [fd for fd, stream in opened.items() if stream.gone]:
            # The command must meet the closed pipe itself.
            poll.unregister(fd)
            del opened[fd]
            _close_over(fd)


def _streams(live: bool, spool: Callable[[str], Spool | None]) -> list[Stream]:
    def stream(name: str, target: int) -> Stream:
        return Stream(name, target, live=live and os.isatty(target), spool=spool(name))

    if _same_file(STDOUT, STDERR):
        return [stream("merged", STDOUT)]
    return [stream("stdout", STDOUT), stream("stderr", STDERR)]


def _same_file(one: int, other: int) -> bool:
    try:
        return os.path.sameopenfile(one, other)
    except OSError:
        return False


def _pair(stream: Stream) -> tuple[int, int]:
    """Where to read, and what the command writes to: a pipe, or a pseudo terminal like the real one."""
    if not stream.terminal:
        return os.pipe()
    import termios

    read, write = os.openpty()
    settings = termios.tcgetattr(write)
    settings[1] &= ~termios.OPOST  # the real terminal does that, once
    termios.tcsetattr(write, termios.TCSANOW, settings)
    _copy_size(stream.target, write)
    return read, write


def _copy_size(source: int, target: int) -> None:
    import fcntl
    import termios

    with suppress(OSError):  # the terminal may be gone
        fcntl.ioctl(target, termios.TIOCSWINSZ, fcntl.ioctl(source, termios.TIOCGWINSZ, bytes(8)))


def _in_foreground(fd: int) -> bool:
    """Whether this is a terminal whose keyboard reaches this process."""
    try:
        return os.isatty(fd) and os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:
        return False


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, READ_BYTES)
    except OSError as error:
        if error.errno == errno.EIO:  # the other side of a pseudo terminal is closed
            return b""
        raise


def _take_rest(fd: int, stream: Stream) -> None:
    """Take what still stands in a pipe that somebody holds open."""
    os.set_blocking(fd, False)
    left = PIPE_BYTES
    with suppress(BlockingIOError):
        while left > 0 and (block := _read(fd)):
            stream.take(block)
            left -= len(block)


def _drain(fd: int) -> None:
    with suppress(BlockingIOError):
        while os.read(fd, 4096):
            pass


def _close_over(fd: int) -> None:
    """Let go of a pipe but keep its number, which is closed at the end."""
    null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(null, fd, inheritable=False)
    os.close(null)
