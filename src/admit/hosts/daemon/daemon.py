"""`Daemon`: one per user; it serves one socket until it is stopped, idle, or replaced."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from admit import __version__

from .endpoint import is_alive, listen
from .log import say, trace
from .places import Lock
from .recorder import Recorder
from .server import DEFAULTS, Handler, Limits, Prefilter, Server
from .watch import Watch, resident_bytes

TICK_S = 60.0
QUIET_S = 5.0  # after the last client; then it is looked at whether to leave
TEND_AFTER_S = 60.0
TEND_EVERY_S = 86_400.0
START_WAIT_S = 5.0
STUCK_S = 60.0  # a handler that runs on so long after its client gave up never ends


def nothing() -> None:
    """Do nothing."""


def _is_never_off() -> bool:
    return False


def _wants_everything(event: str, payload: bytes) -> bool:
    return True


class Daemon:
    """Answers hooks at one socket.

    Args:
        handler: Gives the answer to a host, an event, a payload and the ms that the client still waits;
            runs in several threads at once.
        path: Of the socket.
        prefilter: Whether an event and its payload may have an answer; where not, the answer is `skip`.
        is_off: Whether everything is to pass as without Admit now; asked for every request.
        tend: Work for quiet times, about once a day, on the thread of the records.
        on_tick: Called every minute, and soon after the last client.
        at_end: Called when nothing is served any more, before another daemon may start.
    """

    def __init__(
        self,
        handler: Handler,
        path: str,
        *,
        limits: Limits = DEFAULTS,
        prefilter: Prefilter = _wants_everything,
        is_off: Callable[[], bool] = _is_never_off,
        recorder: Recorder | None = None,
        watch: Watch | None = None,
        tend: Callable[[], None] = nothing,
        on_tick: Callable[[], None] = nothing,
        at_end: Callable[[], None] = nothing,
    ) -> None:
        self._handler = handler
        self._path = path
        self._limits = limits
        self._prefilter = prefilter
        self._is_off = is_off
        self._recorder = recorder or Recorder()
        self._watch = watch or Watch(path)
        self._tend = tend
        self._on_tick = on_tick
        self._at_end = at_end
        self._lock = Lock(path)
        self._listener: socket.socket | None = None
        self._server: Server | None = None
        self._cause = ""
        self._ticked = 0.0
        self._tend_at = 0.0

    def start(self, *, wait_s: float = START_WAIT_S) -> bool:
        """Become the one daemon of this user, and listen.

        Args:
            wait_s: How long to wait for a daemon that is leaving.

        Returns:
            False where another daemon lives.

        Raises:
            OSError: The folder, the lock or the socket is not this user's own, or cannot be made.
        """
        end = time.monotonic() + wait_s
        while not self._lock.take():
            if is_alive(self._path) or time.monotonic() >= end:
                return False
            time.sleep(0.05)
        try:
            self._listener = listen(self._path)
        finally:
            if self._listener is None:
                self._lock.release()
        if self._listener is None:
            return False
        self._watch.serving()
        return True

    def serve_forever(self, cause: str = "run") -> str:
        """Serve until `stop`, and give the cause. What runs is finished, what waits is skipped.

        Args:
            cause: Who started it: `hook`, `cli` or `run`.

        Raises:
            RuntimeError: `start` did not give True.
        """
        if self._listener is None:
            raise RuntimeError("start() comes before serve_forever()")
        self._server = server = Server(
            self._listener,
            self._handler,
            limits=self._limits,
            prefilter=self._prefilter,
            is_off=self._is_off,
            recorder=self._recorder,
            status=self.status,
        )
        self._recorder.started(cause)
        self._ticked = time.monotonic()
        try:
            while not self._cause:
                server.turn(self._tick_at(server))
                now = time.monotonic()
                if now >= self._tick_at(server) or server.met_other_version:
                    self._tick(server, now)
            say(f"leaving: {self._cause}")
            # Unlinked first: who comes now finds no socket rather than one that refuses.
            if self._watch.is_own_socket():
                with suppress(OSError):
                    os.unlink(self._path)
            server.drain(time.monotonic() + self._limits.drain_s)
            self._recorder.stopped(self._cause)
        finally:
            server.close()
            try:
                self._at_end()
            finally:
                self._lock.release()
        return self._cause

    def stop(self, cause: str) -> None:
        """Leave, from any thread or a signal handler; the first cause counts."""
        self._cause = self._cause or cause
        if self._server is not None:
            self._server.wake()

    def status(self) -> dict[str, Any]:
        """What it is doing and has done since it started."""
        server = self._server
        return {
            "schema": 1,
            "version": __version__,
            "pid": os.getpid(),
            "socket": self._path,
            "uptime_s": int(self._recorder.uptime_s),
            "memory_bytes": resident_bytes(),
            "off": self._is_off(),
            "connections": server.connections if server is not None else 0,
            "waiting": server.waiting if server is not None else 0,
            "working": server.working if server is not None else 0,
            **self._recorder.counts(),
        }

    def _tick_at(self, server: Server) -> float:
        due = self._ticked + min(TICK_S, self._limits.idle_s)
        return min(due, server.last + QUIET_S) if server.last > self._ticked else due

    def _tick(self, server: Server, now: float) -> None:
        """See whether to leave, and do what is done in quiet times."""
        self._ticked = now
        server.met_other_version = False
        self._recorder.write_minute()
        try:
            self._on_tick()
            cause = (
                "stuck" if server.overdue_s() > STUCK_S else self._watch.cause(idle=not server.connections)
            )
        except Exception as error:
            trace("in a tick", error)
            cause = ""
        if cause or (not server.connections and now >= server.last + self._limits.idle_s):
            self.stop(cause or "idle")
        elif not server.connections and now >= max(self._tend_at, server.last + TEND_AFTER_S):
            self._tend_at = now + TEND_EVERY_S
            server.later(self._tend)
