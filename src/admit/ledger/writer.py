"""What the ledger's thread does with a batch: commit it, else spool it, else count it as dropped."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from admit.core.event_fields import DROP_CAUSES
from admit.core.events import Event
from admit.errors import LedgerError, Locked

from .key import InstallKey, keyed
from .places import NotOurs, Places, setting
from .port import Record
from .record import new_id, now_ms
from .spool import Spool

if TYPE_CHECKING:
    from .connection import Connection
    from .prepare import Keeper, Prepared

COMMIT_S = 0.05
DRAIN_EVERY_S = 60.0
# A database that could not be opened or written is left alone for so long.
RETRY_S = 1.0

COMMITTED, SPOOLED = "committed", "spooled"
_ERRNO_CAUSES = {
    errno.ENOSPC: "full",
    errno.EDQUOT: "full",
    errno.EFBIG: "full",
    errno.EROFS: "readonly",
    errno.EACCES: "readonly",
    errno.EPERM: "readonly",
}


class Item:
    """One record on its way.

    Attributes:
        numbered: Whether it takes a number of its writer.
        weight: Estimated bytes in memory.
        total: Of this and everything queued before it since the queue was last empty.
        settled: Whether it is known what became of it.
    """

    __slots__ = ("numbered", "rec", "seq", "settled", "total", "weight")

    def __init__(self, rec: Record) -> None:
        self.rec = rec
        self.seq = 0
        self.numbered = rec.decision is not None or bool(rec.events)
        self.settled = False
        replies = sum(len(call.reply) for call in rec.calls if call.reply)
        texts = sum(len(text.text) for text in rec.texts)
        fields = sum(len(one) for event in rec.events for one in event.body.values() if isinstance(one, str))
        rows = 1 + len(rec.candidates) + len(rec.verdicts) + len(rec.calls) + len(rec.events)
        self.weight = self.total = 512 * rows + replies + texts + fields


class Writer:
    """The one connection of a process, and the spool that it falls back to.

    Attributes:
        dropped: Records not written, by cause.
        spooled: Records written to the spool.
        findings: Sentences for a person.
        waiting: The spool.
    """

    def __init__(
        self,
        places: Places,
        writer_id: str,
        config: Mapping[str, object] | None,
        number: Callable[[], int],
        install_key: Callable[[], InstallKey],
        *,
        migrate: bool = True,
    ) -> None:
        self.dropped: dict[str, int] = dict.fromkeys(DROP_CAUSES, 0)
        self.spooled = 0
        self.findings: list[str] = []
        self.waiting = Spool(places.spool, writer_id, int(setting(config, "ledger.spool_max_bytes")))
        self._places = places
        self._id = writer_id
        self._config = config
        self._number = number
        self._install_key = install_key
        self._migrate = migrate
        self._counting = threading.Lock()
        self._told = dict(self.dropped)
        self._told_spool = 0
        self._news_number = 0
        self._connection: Connection | None = None
        self._off = ""  # the cause that every record is dropped for
        self._spool_only = False
        self._healthy = False  # whether the last transaction went through
        self._retry_at = 0.0
        self._drain_at = 0.0

    def commit(self, items: Sequence[Item]) -> list[str]:
        """Write records in one transaction where that is possible; never raises.

        Returns:
            For each ``committed``, ``spooled``, or the cause that it was dropped for.
        """
        try:
            prepared = self._prepared(items)
            ready = [one for one in prepared if not isinstance(one, str)]
            results = iter(self._stored(ready))
            return [one if isinstance(one, str) else self._counted(next(results)) for one in prepared]
        except Exception:
            return [self.count("internal") for _ in items]

    def spool(self, items: Sequence[Item]) -> list[str]:
        """Write records to the spool; never raises. May be called beside the thread."""
        try:
            prepared = self._prepared(items)
            return [one if isinstance(one, str) else self._counted(self._spooled(one)) for one in prepared]
        except Exception:
            return [self.count("internal") for _ in items]

    def count(self, cause: str) -> str:
        """Count one dropped record, and give the cause back."""
        with self._counting:
            self.dropped[cause] += 1
        return cause

    def rest(self, *, idle: bool, wanted: Callable[[], bool]) -> None:
        """What is done when nobody waits: tell what was dropped, drain the spool, retention. Never raises.

        Args:
            idle: Nothing was written for a while.
            wanted: Whether there is something to write by now; then retention leaves off.
        """
        try:
            self._stored([])
            if self._healthy and time.monotonic() >= self._drain_at:
                self._drain_at = time.monotonic() + DRAIN_EVERY_S
                self._drain()
            if idle and self._connection is not None and self._connection.is_open:
                from .retention import due, prune

                con = self._connection.get()
                if due(con, now_ms()):
                    prune(con, now_ms(), self._config, event=self.own_record, leave_off=wanted)
        except Exception as fault:
            self._find(f"The ledger could not be tended ({fault!r}); it is tried again later.")

    def own_record(self, type: str, body: Mapping[str, Any], seq: int = 0) -> Prepared:
        """A record of the ledger's own, with one event."""
        from .prepare import prepare

        event = Event(new_id(), type, now_ms(), body)
        return prepare(Record(events=(event,)), self._id, seq or self._number(), self._keeper())

    def close(self) -> None:
        """Fold the log into the database and close it. Never raises."""
        if self._connection is not None:
            self._connection.close()

    def _connected(self) -> Connection:
        """What holds the connection; made by the thread that needs it, for it loads SQLite."""
        from .connection import Connection

        if self._connection is None:
            self._connection = Connection(
                self._places, self._config, self._install_key, self._find, migrate=self._migrate
            )
        return self._connection

    def _keeper(self) -> Keeper:
        from .prepare import Keeper

        key = self._install_key().key
        return Keeper(
            lambda texts: keyed(key, texts),
            store_names=bool(setting(self._config, "ledger.store_names")),
            keep_texts=setting(self._config, "ledger.text") != "off",
            text_days=int(setting(self._config, "ledger.text_days")),
        )

    def _prepared(self, items: Sequence[Item]) -> list[Prepared | str]:
        """Each record as rows, or the cause that it was dropped for."""
        from .prepare import TooLarge, prepare

        keeper = self._keeper()
        result: list[Prepared | str] = []
        for item in items:
            try:
                result.append(prepare(item.rec, self._id, item.seq, keeper))
            except TooLarge:
                result.append(self.count("too_large"))
            except Exception:
                result.append(self.count("internal"))
        return result

    def _stored(self, ready: Sequence[Prepared]) -> list[str]:
        """Commit, else spool; what was dropped before is told along with it."""
        dropped, spool_dropped = dict(self.dropped), self.waiting.dropped
        news = self._news(dropped, spool_dropped)
        outcomes = self._committed_or_spooled([*ready, *news])
        if news and outcomes[-1] in (COMMITTED, SPOOLED):
            self._told, self._told_spool, self._news_number = dropped, spool_dropped, 0
        return outcomes[: len(ready)]

    def _news(self, dropped: Mapping[str, int], spool_dropped: int) -> list[Prepared]:
        """The events of what was dropped since it was last told."""
        causes = {cause: n - self._told[cause] for cause, n in dropped.items() if n > self._told[cause]}
        bodies: dict[str, Mapping[str, Any]] = {}
        if causes:
            bodies["ledger.dropped"] = causes
        if spool_dropped > self._told_spool:
            bodies["ledger.spool_dropped"] = {"n": spool_dropped - self._told_spool}
        if not bodies:
            return []
        from .prepare import prepare

        # Kept until it is written, so that failing again and again leaves no gaps.
        self._news_number = self._news_number or self._number()
        events = tuple(Event(new_id(), type, now_ms(), body) for type, body in bodies.items())
        return [prepare(Record(events=events), self._id, self._news_number, self._keeper())]

    def _committed_or_spooled(self, ready: Sequence[Prepared]) -> list[str]:
        outcomes: list[str] = []
        set_aside = False
        while len(outcomes) < len(ready):
            left = ready[len(outcomes) :]
            if self._off:
                return [*outcomes, *([self._off] * len(left))]
            spool = self._spool_only or time.monotonic() < self._retry_at
            cause = "" if spool else self._try_to_commit(left, outcomes)
            if cause == "corrupt" and not set_aside:
                set_aside = True
                if self._connected().set_aside():
                    self._drain_at = 0.0
                    continue
            if (cause or spool) and not self._off:
                outcomes += [self._spooled(one) for one in left]
        return outcomes

    def _try_to_commit(self, left: Sequence[Prepared], outcomes: list[str]) -> str:
        """Commit as many as fit 50 ms, and add their outcomes; else give the cause of the failure."""
        import sqlite3

        from .connection import OnNetwork
        from .database import cause_of

        self._healthy = False
        try:
            outcomes += self._transaction(left)
            self._healthy = True
            return ""
        except NotOurs as fault:
            self._off = "authority"
            self._find(f"The ledger is off: {fault}. Remove that, or give it to its user.")
            return self._off
        except Locked:
            return "busy"
        except (LedgerError, OnNetwork) as fault:
            self._spool_only = True
            self._find(str(fault))
            return "readonly"
        except (sqlite3.Error, OSError) as fault:
            cause = cause_of(fault)
            if cause not in ("busy", "refused"):
                self._find(f"The ledger {self._places.database} cannot be written: {fault}.")
                self._connected().let_go()
                self._retry_at = time.monotonic() + RETRY_S if cause != "corrupt" else 0.0
            return cause

    def _transaction(self, left: Sequence[Prepared]) -> list[str]:
        import sqlite3

        from .database import cause_of, write

        con = self._connected().get()
        outcomes: list[str] = []
        until = time.monotonic() + COMMIT_S
        con.execute("BEGIN IMMEDIATE")
        try:
            for one in left:
                try:
                    write(con, one)
                    outcomes.append(COMMITTED)
                except (sqlite3.Error, OverflowError) as fault:
                    if cause_of(fault) != "refused":
                        raise
                    outcomes.append("refused")
                if time.monotonic() > until:
                    break
            con.execute("COMMIT")
        except BaseException:
            if con.in_transaction:
                con.execute("ROLLBACK")
            raise
        return outcomes

    def _spooled(self, prepared: Prepared) -> str:
        from .prepare import encode

        try:
            self.waiting.append(encode(prepared))
            return SPOOLED
        except NotOurs as fault:
            self._find(f"The spool is refused: {fault}. Remove that, or give it to its user.")
            return "authority"
        except OSError as fault:
            self._find(f"The spool {self._places.spool} cannot be written: {fault}.")
            return _ERRNO_CAUSES.get(fault.errno or 0, "io")

    def _counted(self, outcome: str) -> str:
        if outcome == SPOOLED:
            with self._counting:
                self.spooled += 1
        elif outcome != COMMITTED:
            self.count(outcome)
        return outcome

    def _drain(self) -> None:
        if not self.waiting.files():
            return
        from .drain import drain_into

        drain_into(self._connected().get(), self.waiting, self.own_record)

    def _find(self, finding: str) -> None:
        if finding not in self.findings:
            self.findings.append(finding)
