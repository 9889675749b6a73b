"""The ledger and the output store in memory: public doubles, held to the contract of the real ones."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from admit.core.event_fields import DROP_CAUSES
from admit.core.events import Event
from admit.errors import OutputNotFound, StoreFailed

from .key import keyed
from .port import (
    Counters,
    DecisionView,
    FlushReport,
    OutputMeta,
    OutputRef,
    OutputRow,
    PruneReport,
    Recall,
    Record,
    ToolUse,
)
from .prepare import Keeper, TooLarge, is_numbered, prepare
from .record import now_ms
from .schema import RECORD_TABLES, from_values

HISTORY = 30
DAY_MS = 86_400_000


class MemoryLedger:
    """A ledger that forgets at the end of the process.

    Attributes:
        records: What was appended, in order, as the ledger keeps it: cleaned, hashed and numbered. A record
            whose rows were there before is not in it a second time.
    """

    def __init__(self, *, key: bytes = bytes(32), keep_texts: bool = False) -> None:
        self.records: list[Record] = []
        self._key = key
        self._keeper = Keeper(self.keyed, keep_texts=keep_texts)
        self._seq = 0
        self._known: set[tuple[str, str]] = set()
        self._recalled: set[str] = set()
        self._rows: dict[str, OutputRow] = {}
        self._dropped = dict.fromkeys(DROP_CAUSES, 0)
        self._committed = self._refused = 0

    def append(self, rec: Record) -> None:
        if is_numbered(rec):
            self._seq += 1
        try:
            prepared = prepare(rec, "memory", self._seq if is_numbered(rec) else 0, self._keeper)
        except Exception as fault:
            self._dropped["too_large" if isinstance(fault, TooLarge) else "internal"] += 1
            self._refused += 1
            return
        rows = {
            table: tuple(from_values(table, one) for one in prepared.tables.get(table, ()))
            for table in RECORD_TABLES
        }
        self._keep(rows)
        self._committed += 1

    def flush(self, timeout_ms: int) -> FlushReport:
        report = FlushReport(committed=self._committed, dropped=self._refused)
        self._committed = self._refused = 0
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
        wanted = {"decision_id": decision_id, "output_id": output_id, "door": door, "reason": reason}
        wanted["session"] = self._hashed(session)
        found = 0
        for rec in reversed(self.records):
            row = rec.decision
            if row is None or (since is not None and row.ts_ms < since):
                continue
            if any(value is not None and getattr(row, name) != value for name, value in wanted.items()):
                continue
            if limit is not None and found >= limit:
                return
            found += 1
            yield self._view(rec) if parts else DecisionView(row)

    def keyed(self, texts: Sequence[str]) -> tuple[str, ...]:
        return keyed(self._key, texts)

    def tool_use(self, u: ToolUse) -> None:
        self.append(Record(tool_uses=(u,)))

    def tool_uses(self) -> Iterator[ToolUse]:
        routes: dict[str, list[ToolUse]] = {}
        for rec in reversed(self.records):
            for use in reversed(rec.tool_uses):
                routes.setdefault(use.route_id, []).append(use)
        for route in sorted(routes):
            yield from routes[route][:HISTORY]

    def events(self, prefix: str) -> Iterator[Event]:
        return (one for rec in self.records for one in rec.events if one.type.startswith(prefix))

    def output(self, output_id: str) -> OutputRow | None:
        return self._rows.get(output_id)

    def outputs(self, *, session: str | None = None) -> Iterator[OutputRow]:
        wanted = self._hashed(session)
        places = {output_id: place for place, output_id in enumerate(self._rows)}
        newest = sorted(self._rows.values(), key=lambda row: (-row.stored_ms, -places[row.output_id]))
        return (row for row in newest if wanted is None or row.session == wanted)

    def counters(self) -> Counters:
        return Counters(dropped={cause: n for cause, n in self._dropped.items() if n})

    def close(self) -> None:
        pass

    def _keep(self, rows: dict[str, tuple[Any, ...]]) -> None:
        recalls = []
        for recall in rows["recalls"]:
            first = recall.output_id not in self._recalled if recall.first is None else recall.first
            self._recalled.add(recall.output_id)
            recalls.append(recall._replace(first=first))
        rows["recalls"] = tuple(recalls)
        fresh = {
            table: tuple(row for row in kept if self._is_new(table, row)) for table, kept in rows.items()
        }
        for row in rows["outputs"]:
            self._rows[row.output_id] = _again(self._rows.get(row.output_id), row)
        if any(fresh.values()):
            names = {"judge_calls": "calls"}
            decision = fresh.pop("decisions")
            parts = {names.get(table, table): kept for table, kept in fresh.items()}
            self.records.append(Record(decision[0] if decision else None, **parts))

    def _is_new(self, table: str, row: Any) -> bool:
        identity = (table, repr(row[:3] if table in ("candidates", "verdicts") else row[0]))
        if identity in self._known:
            return False
        self._known.add(identity)
        return True

    def _view(self, rec: Record) -> DecisionView:
        assert rec.decision is not None
        row = rec.decision
        everything = self.records
        return DecisionView(
            decision=row,
            candidates=tuple(c for r in everything for c in r.candidates if c.decision_id == row.decision_id),
            verdicts=tuple(v for r in everything for v in r.verdicts if v.decision_id == row.decision_id),
            calls=tuple(c for r in everything for c in r.calls if c.decision_id == row.decision_id),
            events=tuple(e for r in everything for e in r.events if e.decision_id == row.decision_id),
            output=self._rows.get(row.output_id or ""),
            recalls=tuple(
                one
                for r in everything
                for one in r.recalls
                if row.output_id and one.output_id == row.output_id
            ),
        )

    def _hashed(self, session: str | None) -> str | None:
        return session if session is None or session.startswith("hmac:") else self.keyed([session])[0]


class _Stored(NamedTuple):
    ref: OutputRef
    data: bytes
    session: str | None
    used_ms: int


class MemoryOutputs:
    """An output store that forgets at the end of the process.

    Attributes:
        fail: Set it, and every `put` fails.
    """

    def __init__(
        self, ledger: MemoryLedger | None = None, *, retain_days: int = 14, max_one_bytes: int = 64 << 20
    ) -> None:
        self.fail = False
        self._ledger = ledger
        self._retain_ms = retain_days * DAY_MS
        self._most = max_one_bytes
        self._kept: dict[str, _Stored] = {}
        self._gone: set[str] = set()

    def put(self, data: BinaryIO | bytes, meta: OutputMeta) -> OutputRef:
        if self.fail:
            raise StoreFailed("this store refuses every output")
        whole = data if isinstance(data, bytes) else data.read()
        head = self._most // 2
        kept = whole if len(whole) <= self._most else whole[:head] + whole[len(whole) - (self._most - head) :]
        sha256 = hashlib.sha256(kept).hexdigest()
        lines = kept.count(b"\n") + (1 if kept and not kept.endswith(b"\n") else 0)
        ref = OutputRef("o_" + sha256[:12], sha256, len(whole), lines, kept is whole, stored_ms=now_ms())
        self._kept.pop(ref.id, None)
        self._kept[ref.id] = _Stored(ref, kept, meta.session, ref.stored_ms)
        self._record(ref, meta.session, tool=meta.tool or None, exit_code=meta.exit_code)
        return ref

    def open(self, output_id: str) -> BinaryIO:
        if output_id not in self._kept:
            raise OutputNotFound(output_id, "expired" if output_id in self._gone else "never stored")
        return io.BytesIO(self._kept[output_id].data)

    def find(self, output_id: str) -> OutputRef | None:
        kept = self._kept.get(output_id)
        return kept.ref if kept is not None else None

    def touch(self, output_id: str) -> None:
        kept = self._kept.get(output_id)
        if kept is not None:
            self._kept[output_id] = kept._replace(used_ms=now_ms())

    def newest(self, session: str | None = None) -> OutputRef | None:
        for kept in reversed(self._kept.values()):
            if session is None or kept.session == session:
                return kept.ref
        return None

    def recalled(self, r: Recall) -> None:
        if self._ledger is not None:
            self._ledger.append(Record(recalls=(r,)))
        self.touch(r.output_id)

    def prune(self, now_ms: int) -> PruneReport:
        old = [one for one in self._kept.values() if now_ms - one.used_ms > self._retain_ms]
        for one in old:
            del self._kept[one.ref.id]
            self._gone.add(one.ref.id)
            self._record(one.ref, one.session, gone_ms=now_ms, gone_reason="expired")
        left = sum(len(one.data) for one in self._kept.values())
        return PruneReport(len(old), sum(len(one.data) for one in old), left)

    def _record(self, ref: OutputRef, session: str | None, **columns: Any) -> None:
        if self._ledger is not None:
            times = {"stored_ms": ref.stored_ms, "last_used_ms": ref.stored_ms, "complete": ref.complete}
            row = OutputRow(ref.id, ref.sha256, ref.bytes, ref.lines, session=session, **times)
            self._ledger.append(Record(outputs=(row._replace(**columns),)))


def _again(old: OutputRow | None, new: OutputRow) -> OutputRow:
    """What is known of an output that is recorded again: what is newer holds."""
    if old is None:
        return new
    told = {name: value for name, value in new._asdict().items() if value is not None}
    back = new.gone_ms is None and old.gone_ms is not None and new.stored_ms > old.gone_ms
    merged = old._replace(**told)
    return merged._replace(gone_ms=None, gone_reason=None) if back else merged
