"""The ledger over SQLite: a queue in front of one writer thread, and the spool behind it.

Nothing here loads SQLite before the thread does: a command that answers first and records afterwards pays
for it afterwards.
"""

from __future__ import annotations

import atexit
import itertools
import os
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from queue import Empty, SimpleQueue
from types import MappingProxyType

from admit.core.event_fields import DROP_CAUSES
from admit.core.events import Event

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
# Records that nobody waits for are gathered for so long, and then written together.
BATCH_AGE_S = 0.05
IDLE_S = 60.0

WRITTEN, WANTED, CLOSING = "written", "wanted", "closing"

# A connection must not be closed by a process that did not open it (sqlite.org/howtocorrupt.html, 2.6).
_LEFT_TO_THE_PARENT: list[Writer] = []


class SqliteLedger:
    """The written record of one process. Every method but the reading ones never raises."""

    def __init__(
        self, config: Mapping[str, object] | None = None, *, readonly: bool = False, migrate: bool = True
    ) -> None:
        self._config = config
        self._migrate = migrate
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
        self._numbers = itertools.count(1)
        # `append` takes no lock: it must not wait for a thread that was put to sleep while it held one.
        self._queue: deque[Item] = deque()  # an item stays in it until it is settled
        self._bell: SimpleQueue[str] = SimpleQueue()
        self._rung = False
        self._settled = threading.Condition()
        self._report: dict[str, int] = dict.fromkeys(FlushReport._fields, 0)
        self._waiting = 0
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._writer = Writer(
            self._places, self._id, self._config, self._number, self._install_key, migrate=self._migrate
        )

    def append(self, rec: Record) -> None:
        """Queue one record. Never raises; never waits for a file unless the queue is full: then it spools."""
        if not self._enabled:
            return
        try:
            self._after_fork()
            item = Item(rec)
            if item.numbered:
                item.seq = self._number()
            if len(self._queue) >= QUEUE_RECORDS or self._queued_bytes(item) > QUEUE_BYTES:
                self._settle([item], self._writer.spool([item]))
                return
            self._queue.append(item)
            # Rows about stored outputs alone wait for the decision, which follows the answer.
            if item.numbered and not self._rung:
                self._rung = True
                self._ring(WRITTEN)
        except Exception:
            self._writer.count("internal")

    def flush(self, timeout_ms: int) -> FlushReport:
        """Wait until everything appended so far is settled; what is late goes to the spool. Never raises."""
        late: list[Item] = []
        self._after_fork()
        try:
            if self._queue:
                with self._settled:
                    self._waiting += 1
                    self._ring(WANTED)
                    self._settled.wait_for(lambda: not self._queue, timeout_ms / 1000)
                    self._waiting -= 1
                    # The thread may still commit what it has in hand: written twice, it is there once.
                    late = [item for item in list(self._queue) if not item.settled]
            if late:
                self._settle(late, self._writer.spool(late))
        except Exception:
            self._settle(late, [self._writer.count("internal")] * len(late))
        with self._settled:
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

    def events(self, prefix: str) -> Iterator[Event]:
        """Events of all types that begin so, in the order in which they were written.

        Raises:
            LedgerError: The database cannot be read.
        """
        from . import queries
        from .reading import reading

        with reading(self._places.database, self._busy_ms) as con:
            if con is not None:
                yield from queries.events(con, prefix)

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
            self._bell.put(CLOSING)
            thread.join(self._close_wait_ms / 1000)
            self._thread = None

    def _at_exit(self) -> None:
        self.flush(self._close_wait_ms)

    def _queued_bytes(self, item: Item) -> int:
        """Bytes that wait before this item, estimated: from running totals, which need no lock."""
        try:
            first, last = self._queue[0], self._queue[-1]
        except IndexError:
            return 0
        item.total = last.total + item.weight
        return last.total - first.total + first.weight

    def _hashed(self, session: str | None) -> str | None:
        return session if session is None or session.startswith("hmac:") else self.keyed([session])[0]

    def _number(self) -> int:
        """The next number of this writer."""
        return next(self._numbers)

    def _ring(self, what: str) -> None:
        """Wake the thread, which is started by the first ring."""
        self._bell.put(what)
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="admit-ledger", daemon=True)
                    self._thread.start()
                    atexit.register(self._at_exit)

    def _run(self) -> None:
        while True:
            rung = self._next_ring(IDLE_S)
            if rung == WRITTEN and not self._waiting:
                rung = self._next_ring(BATCH_AGE_S) or rung
            # From here on a new record rings again; one that came before is in the queue already.
            self._rung = False
            while batch := [item for item in list(self._queue) if not item.settled][:BATCH_RECORDS]:
                self._settle(batch, self._writer.commit(batch))
            if rung == CLOSING:
                self._writer.close()
                return
            self._writer.rest(idle=not rung, wanted=lambda: bool(self._queue))

    def _next_ring(self, wait_s: float) -> str:
        """Why the bell rang; nothing after the wait."""
        try:
            return self._bell.get(timeout=wait_s)
        except Empty:
            return ""

    def _settle(self, items: Sequence[Item], outcomes: Sequence[str]) -> None:
        """Count what became of records: ``committed``, ``spooled``, or the cause of a drop."""
        with self._settled:
            for item, outcome in zip(items, outcomes, strict=True):
                if not item.settled:
                    item.settled = True
                    self._report["dropped" if outcome in DROP_CAUSES else outcome] += 1
            while self._queue and self._queue[0].settled:
                self._queue.popleft()
            self._settled.notify_all()
