"""One run of a user's program that speaks in lines: started, written to, read from, ended, reaped.

It gets its own process group, so that what it starts ends with it, and the home folder to run in: a project's
files must not be able to stand in for modules of the program.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence

KILL_WAIT_S = 2.0
DRAIN_WAIT_S = 1.0


class Program:
    """A running program, and four threads: for its input, its output, its errors and its end.

    Args:
        argv: The program and its arguments; no shell reads them.
        environment: All variables it gets.
        most_bytes: A longer line of output is handed on with one byte more than these, and the rest dropped.
        on_line: Gets each whole line of output, without its end.
        on_error: Gets pieces of what it writes to stderr.
        on_end: Gets this object once the program ended and its output was read.

    Attributes:
        answered: Whether an answer of this run was used; its owner's to set.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        *,
        most_bytes: int,
        on_line: Callable[[Program, bytes], None],
        on_error: Callable[[bytes], None],
        on_end: Callable[[Program], None],
    ) -> None:
        self.answered = False
        self._most_bytes = most_bytes
        self._on_line = on_line
        self._on_error = on_error
        self._on_end = on_end
        self._ended = threading.Event()
        self._lines: queue.SimpleQueue[tuple[bytes, Callable[[], bool]] | None] = queue.SimpleQueue()
        home = environment.get("HOME", "")
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            cwd=home if os.path.isdir(home) else "/",
            start_new_session=True,
        )
        atexit.register(self.kill)
        self._reader = threading.Thread(target=self._read, name="command output", daemon=True)
        threads = [self._reader]
        for work in (self._write, self._drain, self._watch):
            threads.append(threading.Thread(target=work, name="command", daemon=True))
        try:
            for thread in threads:
                thread.start()
        except RuntimeError as error:
            self._kill_group()
            self._process.wait()
            atexit.unregister(self.kill)
            raise OSError("no thread can be started") from error

    @property
    def status(self) -> int | None:
        """Its exit status; negative for a signal, None while it runs."""
        return self._process.returncode

    def write(self, line: bytes, wanted: Callable[[], bool]) -> None:
        """Hand over a line; it is written in turn, unless nobody wants it any more by then."""
        self._lines.put((line, wanted))

    def kill(self) -> None:
        """End the program and what it started, and reap it. Waits at most 2 s."""
        self._kill_group()
        self._ended.wait(KILL_WAIT_S)

    def _kill_group(self) -> None:
        # Once it is reaped its number may belong to another group.
        if not self._ended.is_set():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _write(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        with contextlib.suppress(OSError, ValueError):
            while (item := self._lines.get()) is not None:
                line, wanted = item
                if wanted():
                    pipe.write(line)
                    pipe.flush()
        with contextlib.suppress(OSError):
            pipe.close()

    def _read(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        with pipe, contextlib.suppress(OSError, ValueError):
            while line := pipe.readline(self._most_bytes + 1):
                if line.endswith(b"\n"):
                    self._on_line(self, line[:-1])
                elif len(line) > self._most_bytes:
                    self._on_line(self, line)
                    while (rest := pipe.readline(1 << 16)) and not rest.endswith(b"\n"):
                        pass

    def _drain(self) -> None:
        pipe = self._process.stderr
        assert pipe is not None
        with pipe, contextlib.suppress(OSError, ValueError):
            while piece := os.read(pipe.fileno(), 1 << 14):
                self._on_error(piece)

    def _watch(self) -> None:
        self._process.wait()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)  # what it left behind
        self._lines.put(None)
        self._reader.join(DRAIN_WAIT_S)  # an answer given just before the end counts
        self._ended.set()
        atexit.unregister(self.kill)
        self._on_end(self)
