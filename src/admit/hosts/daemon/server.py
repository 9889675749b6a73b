"""One thread that accepts, reads and sheds, and a few that run handlers.

A connection is read without waiting, handed to a thread, answered by it, and comes back to wait for the
client's `+`. What that says (the host got the data, or not) goes to the answer's `after`, on a thread of its
own. Whatever goes wrong, the client gets `skip` or a closed connection: the host goes on as without Admit.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from admit import __version__
from admit.hosts.model import Handled

from .connection import Connection, Gone, Phase
from .endpoint import peer_uid, said_written, send
from .log import trace
from .pool import Pool
from .protocol import MAX_PAYLOAD, OWN_HOST, SKIP, STATUS, BadFrame, reply
from .recorder import Recorder

# Host, event, payload, and the ms that the client still waits; runs in several threads at once.
Handler = Callable[[str, str, bytes, int], Handled]
# Event and payload: whether there is anything to do. It runs where requests are accepted: it must be quick.
Prefilter = Callable[[str, bytes], bool]

ACCEPT_AT_ONCE = 64
ACCEPT_PAUSE_S = 0.01
NEVER = float("inf")


class Limits(NamedTuple):
    """How much the daemon takes on.

    Attributes:
        workers: Threads that run handlers.
        queue: Requests that may wait for one of them; more are shed.
        worker_wait_s: A request that waited so long is shed, so that its client hears of it within 20 ms.
        read_s: A request must be whole so long after it was accepted.
        idle_s: Without a request for so long the daemon leaves.
        drain_s: How long it waits for what is running when it leaves.
        connections: Open at once; more are closed without a word.
        held_bytes: Of payloads that are read or worked on; a request beyond it is shed, read or not.
    """

    workers: int = 8
    queue: int = 32
    worker_wait_s: float = 0.010
    read_s: float = 1.0
    idle_s: float = 1800.0
    drain_s: float = 2.0
    connections: int = 512
    held_bytes: int = 64 * 1024 * 1024


DEFAULTS = Limits()


class Server:
    """Takes requests from a listening socket to their answers.

    Args:
        handler: See `Handler`.
        prefilter: See `Prefilter`.
        is_off: Whether everything is to pass as without Admit now; asked for every request.
        status: What `admit daemon status` is told.

    Attributes:
        last: When a client came last, monotonic seconds.
        met_other_version: A client of another version came since this was last set to False.
    """

    def __init__(
        self,
        listener: socket.socket,
        handler: Handler,
        *,
        limits: Limits,
        prefilter: Prefilter,
        is_off: Callable[[], bool],
        recorder: Recorder,
        status: Callable[[], dict[str, Any]],
    ) -> None:
        self.last = time.monotonic()
        self.met_other_version = False
        self._listener = listener
        self._handler = handler
        self._limits = limits
        self._prefilter = prefilter
        self._is_off = is_off
        self._recorder = recorder
        self._status = status
        self._open: set[Connection] = set()
        self._whole: list[Connection] = []
        self._back: deque[Connection] = deque()
        self._due = NEVER
        self._pool = Pool(limits.workers, self._work, "admit-worker")
        self._records: Pool[Callable[[], object]] = Pool(1, _call, "admit-records")
        self._wake_out, self._wake_in = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        for sock, react in ((listener, self._accept), (self._wake_out, self._woken)):
            sock.setblocking(False)
            self._selector.register(sock, selectors.EVENT_READ, react)
        self._wake_in.setblocking(False)

    @property
    def connections(self) -> int:
        """Clients that are connected."""
        return len(self._open)

    @property
    def waiting(self) -> int:
        """Requests that wait for a thread."""
        return len(self._pool)

    @property
    def working(self) -> int:
        """Requests that are worked on."""
        return self._pool.busy

    def overdue_s(self) -> float:
        """How long ago the client of the slowest handler gave up, in seconds; negative where none did."""
        now = time.monotonic()
        return max((now - conn.deadline for conn in self._open.copy()), default=-1.0)

    def turn(self, until: float) -> None:
        """Wait for something to happen, at most until then (monotonic seconds), and react to it."""
        for key, _ in self._selector.select(max(0.0, min(until, self._due) - time.monotonic())):
            if isinstance(key.data, Connection):
                self._readable(key.data)
            else:
                key.data()
        self._dispatch()
        while self._back:
            self._await_written(self._back.popleft())
        if time.monotonic() >= self._due:
            self._sweep()

    def wake(self) -> None:
        """End a `turn` that waits; from any thread or a signal handler."""
        with suppress(OSError):  # a full pipe wakes as well
            self._wake_in.send(b"!")

    def later(self, work: Callable[[], object]) -> None:
        """Run something on the thread of the records."""
        self._records.put(work)

    def drain(self, end: float) -> None:
        """Refuse what is new, skip what waits, let what runs end; at most until then (monotonic seconds)."""
        self._stop_listening()
        for conn in self._pool.take_all():
            self._skip(conn, "off")
        for conn in self._open.copy():
            if conn.phase is Phase.READING:
                send(conn.sock, SKIP)
                self._give_up(conn)
        while self._open and time.monotonic() < end:
            self.turn(end)
        for conn in self._open.copy():
            if conn.phase is Phase.WRITTEN:
                self._give_up(conn)
        self._pool.close(max(0.0, end - time.monotonic()))
        self._records.close(max(0.1, end - time.monotonic()))

    def close(self) -> None:
        """Close every socket."""
        self._stop_listening()
        self._selector.close()
        for conn in self._open.copy():
            self._end(conn)
        self._wake_in.close()
        self._wake_out.close()

    def _woken(self) -> None:
        with suppress(BlockingIOError):
            while self._wake_out.recv(4096):
                pass

    def _accept(self) -> None:
        for _ in range(ACCEPT_AT_ONCE):
            try:
                sock, _ = self._listener.accept()
            except BlockingIOError:
                return
            except OSError:  # no file descriptors, perhaps
                time.sleep(ACCEPT_PAUSE_S)
                return
            try:
                ours = peer_uid(sock) == os.geteuid()
            except OSError:
                ours = False
            if not ours:
                self._recorder.odd("", "foreign_peer")
            if not ours or len(self._open) >= self._limits.connections:
                sock.close()
                continue
            self.last = time.monotonic()
            conn = Connection(sock, self.last, self.last + self._limits.read_s)
            self._open.add(conn)
            self._read(conn)  # mostly it is there already

    def _wait_for(self, conn: Connection) -> None:
        self._selector.register(conn.sock, selectors.EVENT_READ, conn)
        self._due = min(self._due, conn.deadline)

    def _readable(self, conn: Connection) -> None:
        self._selector.unregister(conn.sock)
        if conn.phase is Phase.WRITTEN:
            self._settle(conn, said_written(conn.sock))
        else:
            self._read(conn)

    def _read(self, conn: Connection) -> None:
        """Take what has come of a request; what is not whole is waited for."""
        try:
            whole = conn.receive()
        except BadFrame:
            send(conn.sock, SKIP)
            self._end(conn)
            self._recorder.odd("", "unknown_event")
        except Gone:
            self._end(conn)
            if conn.header is not None:
                self._recorder.odd(conn.event, "bad_json")
        except OSError:
            self._end(conn)
        else:
            if self._held_bytes() > self._limits.held_bytes:
                self._shed([conn], len(self._pool), self._limits.queue)
            elif whole:
                conn.phase = Phase.WORKING
                self._whole.append(conn)
            else:
                self._wait_for(conn)

    def _dispatch(self) -> None:
        """Hand whole requests to threads, after those that can be answered here were."""
        if not self._whole:
            return
        now, shed, work = time.monotonic(), [], []
        idle = self._limits.workers - self._pool.busy
        waiting = len(self._pool)
        room = self._limits.queue + max(0, idle) - waiting
        for conn in self._whole:
            conn.deadline = now + conn.request.budget_ms / 1000
            if self._answered_here(conn):
                continue
            (shed if len(work) >= room else work).append(conn)
        self._whole.clear()
        self._shed(shed, waiting, self._limits.queue)
        if work:
            self._pool.put(*work)
            self._due = min(self._due, now + self._limits.worker_wait_s)

    def _answered_here(self, conn: Connection) -> bool:
        header = conn.request
        if header.host == OWN_HOST:
            known = header.event == STATUS
            send(conn.sock, reply(json.dumps(self._status()).encode()) if known else SKIP)
            self._end(conn)
            return True
        self.met_other_version |= header.version != __version__
        if header.length > MAX_PAYLOAD:
            self._skip(conn, "skip")
            self._recorder.odd(header.event, "too_large")
        elif self._is_off():
            self._skip(conn, "off")
        elif not self._wanted(header.event, conn.payload):
            self._skip(conn, "prefilter")
        else:
            return False
        return True

    def _wanted(self, event: str, payload: bytes) -> bool:
        try:
            return self._prefilter(event, payload)
        except Exception as error:
            trace("in the prefilter", error)
            return True

    def _held_bytes(self) -> int:
        return sum(conn.held_bytes for conn in self._open.copy())

    def _work(self, conn: Connection) -> None:
        """Run the handler; in one of the pool's threads."""
        header = conn.request
        ms = int((conn.deadline - time.monotonic()) * 1000)
        try:
            self._give(conn, self._handler(header.host, header.event, conn.payload, max(1, ms)))
        except BaseException as error:  # an extension may raise SystemExit
            self._skip(conn, "skip")
            self._recorder.odd(header.event, "exception")
            trace(f"in the handler of {header.host} {header.event}", error)

    def _give(self, conn: Connection, answer: Handled) -> None:
        """Send an answer, and let the loop wait for what becomes of it."""
        conn.answer = answer
        if answer.odd:
            self._recorder.count_odd(answer.odd)
        try:
            frame = reply(answer.data)
        except BadFrame:
            frame = SKIP
        sent = send(conn.sock, frame)
        if answer.data and frame is SKIP:
            self._recorder.odd(conn.event, "too_large")
        data = len(answer.data) if sent and frame is not SKIP else 0
        self._answered(conn, data, "gone" if not sent else "ok" if data else "skip")
        if data:
            self._back.append(conn)
            self.wake()
        else:
            self._settle(conn, sent and not answer.data)

    def _await_written(self, conn: Connection) -> None:
        conn.payload = b""
        conn.phase = Phase.WRITTEN
        self._wait_for(conn)

    def _settle(self, conn: Connection, written: bool) -> None:
        """Close a connection, and say to its answer what became of it."""
        answer, conn.answer = conn.answer, None
        self._end(conn)
        if answer is not None:
            self._records.put(lambda: answer.after(written))

    def _shed(self, conns: Sequence[Connection], queue: int, limit: int) -> None:
        """Answer `skip` to each, before anything else is done for any of them."""
        heard = [send(conn.sock, SKIP) for conn in conns]
        for conn, one in zip(conns, heard, strict=True):
            self._answered(conn, 0, "shed" if one else "gone")
            self._end(conn)
        if conns:
            self._recorder.shed(len(conns), queue, limit)

    def _skip(self, conn: Connection, outcome: str) -> None:
        self._answered(conn, 0, outcome if send(conn.sock, SKIP) else "gone")
        self._end(conn)

    def _answered(self, conn: Connection, bytes_out: int, outcome: str) -> None:
        elapsed_ms = (time.monotonic() - conn.arrived) * 1000
        self._recorder.answered(conn.request, bytes_out, elapsed_ms, outcome)

    def _end(self, conn: Connection) -> None:
        conn.sock.close()
        self._open.discard(conn)

    def _give_up(self, conn: Connection) -> None:
        """End a connection that the selector watches."""
        self._selector.unregister(conn.sock)
        self._settle(conn, written=False)

    def _sweep(self) -> None:
        """Give up what is late, and set when to look again."""
        now = time.monotonic()
        late = self._pool.take_late(now - self._limits.worker_wait_s)
        self._shed(late, len(self._pool) + len(late), self._limits.workers)
        due = NEVER
        for conn in self._open.copy():
            if conn.phase is Phase.WORKING:
                continue
            if now < conn.deadline:
                due = min(due, conn.deadline)
                continue
            if conn.phase is Phase.READING:
                self._recorder.odd(conn.event, "deadline")
            self._give_up(conn)
        oldest = self._pool.oldest()
        if oldest is not None:  # one that is late by now waits for an idle thread, which is on its way
            due = min(due, max(oldest + self._limits.worker_wait_s, now + self._limits.worker_wait_s / 2))
        self._due = due

    def _stop_listening(self) -> None:
        with suppress(KeyError, ValueError):
            self._selector.unregister(self._listener)
        self._listener.close()


def _call(work: Callable[[], object]) -> None:
    work()
