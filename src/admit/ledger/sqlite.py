"""The ledger over SQLite: a queue in front of one writer thread, and the spool behind it.

Nothing here loads SQLite before the thread does: a command that answers first and records afterwards pays
for it afterwards.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from admit.core.events import DROP_CAUSES

from . import key as install
from .places import places, setting
from .port import (
    Counters,
    DecisionView,
    FlushReport,
    OutputRow,
    Record,
    ToolUse,
)
from .writer import Item, Writer

QUEUE_RECORDS = 1_024
QUEUE_BYTES = 8 * 1024 * 1024
BATCH_RECORDS = 64
# A batch is written at once when somebody waits for it, else when it is full or this old.
BATCH_AGE_S = 0.05
IDLE_S = 60.0


# A connection must not be closed by a process that did not open it (sqlite.org/howtocorrupt.html, 2.6).
_LEFT_TO_THE_PARENT: list[Writer] = []


class SqliteLedger:
    """The written record of one process. Every method but the reading ones never raises."""

    def __init__(self, config: Mapping[str, object] | None = None, *, readonly: bool = False) -> None:
        self._config = config
        self._places = places(config)
        self._enabled = bool(setting(config, "ledger.enabled")) and not readonly
        self._busy_ms = int(setting(config, "ledger.busy_ms"))
        self._close_wait_ms = int(setting(config, "ledger.close_wait_ms"))
        self._key: install.InstallKey | None = None
        self._begin()

    def _after_fork(self) -> None:
        if self._pid != os.getpid():
            _LEFT_TO_THE_PARENT.append(self._writer)
            self._begin()

    def _begin(self) -> None:
        """The state of one process: a fork starts with an empty queue, its own writer, and no thread."""
        self._pid = os.getpid()
        self._id = os.urandom(8).hex()
        self._seq = 0
        self._changed = threading.Condition()
        self._queue: deque[Item] = deque()
        self._queued_bytes = 0
        self._unsettled = 0
        self._in_hand: list[Item] = []
        self._report: dict[str, int] = dict.fromkeys(FlushReport._fields, 0)
        self._waiting = 0
        self._due: float | None = None
        self._closing = False
        self._thread: threading.Thread | None = None
        self._writer = Writer(self._places, self._id, self._config, self._number, self._install_key)

    def append(self, rec: Record) -> None:
        """Queue one record. Never raises; never waits for a file unless the queue is full: then it spools."""
        if not self._enabled:
            return
        try:
            self._after_fork()
            item = Item(rec)
            with self._changed:
                if item.numbered:
                    self._seq += 1
                    item.seq = self._seq
                self._unsettled += 1
                full = len(self._queue) >= QUEUE_RECORDS or self._queued_bytes > QUEUE_BYTES
                if not full:
                    self._queue.append(item)
                    self._queued_bytes += item.weight
                    # Rows about stored outputs alone wait for the decision, which follows the answer.
                    if item.numbered and self._due is None:
                        self._due = time.monotonic() + BATCH_AGE_S
                        self._start()
                        self._changed.notify_all()
            if full:
                self._settle([item], self._writer.spool([item]))
        except Exception:
            self._writer.count("internal")

    def flush(self, timeout_ms: int) -> FlushReport:
        """Wait until everything appended so far is settled; what is late goes to the spool. Never raises."""
        late: list[Item] = []
        self._after_fork()
        try:
            with self._changed:
                if self._unsettled:
                    self._start()
                    self._waiting += 1
                    self._changed.notify_all()
                    self._changed.wait_for(lambda: not self._unsettled, timeout_ms / 1000)
                    self._waiting -= 1
                    # The thread may still commit what it has in hand: written twice, it is there once.
                    late = [item for item in (*self._in_hand, *self._queue) if not item.settled]
                    self._queue.clear()
                    self._queued_bytes = 0
            if late:
                self._settle(late, self._writer.spool(late))
        except Exception:
            self._settle(late, [self._writer.count("internal")] * len(late))
        with self._changed:
            report = FlushReport(**self._report)
            self._report = dict.fromkeys(self._report, 0)
        return report

    def query(
        self,
        *,
        decision_id: str | None = None,
        output_id: str | None = None,
        door: str | None = None,
        since: int | None = None,
        session: str | None = None,
        reason: str | None = None,
        limit: int | None = None,
        parts: bool = True,
    ) -> Iterator[DecisionView]:
        """Decisions, newest first, as they are committed.

        Raises:
            LedgerError: The database cannot be read.
        """
        from . import queries
        from .reading import reading

        columns = {
            "decision_id": decision_id,
            "output_id": output_id,
            "door": door,
            "session": self._hashed(session),
            "reason": reason,
        }
        wanted = {name: value for name, value in columns.items() if value is not None}
        with reading(self._places.database, self._busy_ms) as con:
            if con is not None:
                yield from queries.decisions(con, wanted=wanted, since=since, limit=limit, parts=parts)

    def keyed(self, texts: Sequence[str]) -> tuple[str, ...]:
        """``hmac:`` hashes under the install key, in order."""
        return install.keyed(self._install_key().key, texts)

    def _install_key(self) -> install.InstallKey:
        """The install key as it was found or made; read once."""
        if self._key is None:
            self._key = install.load_key(self._places.key)
        return self._key

    def tool_use(self, u: ToolUse) -> None:
        """Queue one use of a tool."""
        self.append(Record(tool_uses=(u,)))

    def tool_uses(self) -> Iterator[ToolUse]:
        """Per route, by id, the newest 30, newest first.

        Raises:
            LedgerError: The database cannot be read.
        """
        from . import queries
        from .reading import reading

        with reading(self._places.database, self._busy_ms) as con:
            if con is not None:
                yield from queries.tool_uses(con)

    def output(self, output_id: str) -> OutputRow | None:
        """What is recorded of a stored output, also after it is gone.

        Raises:
            LedgerError: The database cannot be read.
        """
        from . import queries
        from .reading import reading

        with reading(self._places.database, self._busy_ms) as con:
            found = queries.outputs(con, output_id=output_id) if con is not None else []
        return found[0] if found else None

    def outputs(self, *, session: str | None = None) -> Iterator[OutputRow]:
        """What is recorded of stored outputs, stored last first.

        Raises:
            LedgerError: The database cannot be read.
        """
        from . import queries
        from .reading import reading

        with reading(self._places.database, self._busy_ms) as con:
            if con is not None:
                yield from queries.outputs(con, session=self._hashed(session))

    def counters(self) -> Counters:
        """What was dropped, spooled, lost or unreadable. Never raises."""
        from .reading import gaps

        lost, finding = gaps(self._places, self._busy_ms)
        key_finding = self._key.finding if self._key is not None else ""
        spool = self._writer.waiting
        return Counters(
            dropped=MappingProxyType({cause: n for cause, n in self._writer.dropped.items() if n}),
            spooled=self._writer.spooled,
            spool_dropped=spool.dropped,
            gaps=MappingProxyType(lost),
            bad=spool.bad,
            findings=tuple(
                dict.fromkeys(one for one in (*self._writer.findings, key_finding, finding) if one)
            ),
        )

    def close(self) -> None:
        """Flush within ``ledger.close_wait_ms``, stop the thread, and close the database. Never raises."""
        self.flush(self._close_wait_ms)
        thread = self._thread
        if thread is not None:
            atexit.unregister(self._at_exit)
            with self._changed:
                self._closing = True
                self._changed.notify_all()
            thread.join(self._close_wait_ms / 1000)
            self._thread = None
            self._closing = False

    def _at_exit(self) -> None:
        self.flush(self._close_wait_ms)

    def _hashed(self, session: str | None) -> str | None:
        return session if session is None or session.startswith("hmac:") else self.keyed([session])[0]

    def _number(self) -> int:
        """The next number, for a record that the writer makes itself."""
        with self._changed:
            self._seq += 1
            return self._seq

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="admit-ledger", daemon=True)
            self._thread.start()
            atexit.register(self._at_exit)

    def _run(self) -> None:
        while True:
            with self._changed:
                idle = not self._changed.wait_for(self._is_ready, self._patience())
                self._in_hand = [self._queue.popleft() for _ in range(min(BATCH_RECORDS, len(self._queue)))]
                self._queued_bytes -= sum(item.weight for item in self._in_hand)
                if not self._queue:
                    self._due = None
                done = self._closing and not self._in_hand
            if self._in_hand:
                outcomes = self._writer.commit(self._in_hand)
                self._settle(self._in_hand, outcomes)
                self._in_hand = []
            elif done:
                self._writer.close()
                return
            self._writer.rest(idle=idle, wanted=lambda: bool(self._queue))

    def _is_ready(self) -> bool:
        if self._closing or (self._queue and (self._waiting or len(self._queue) >= BATCH_RECORDS)):
            return True
        return self._due is not None and time.monotonic() >= self._due

    def _patience(self) -> float:
        return IDLE_S if self._due is None else max(0.0, self._due - time.monotonic())

    def _settle(self, items: Sequence[Item], outcomes: Sequence[str]) -> None:
        """Count what became of records: ``committed``, ``spooled``, or the cause of a drop."""
        with self._changed:
            for item, outcome in zip(items, outcomes, strict=True):
                if not item.settled:
                    item.settled = True
                    self._unsettled -= 1
                    self._report["dropped" if outcome in DROP_CAUSES else outcome] += 1
            self._changed.notify_all()
