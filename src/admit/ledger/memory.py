"""The ledger and the output store in memory: public doubles, held to the contract of the real ones."""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Iterator, Sequence
from hmac import digest
from typing import BinaryIO

from admit.errors import OutputNotFound, StoreFailed

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

HISTORY = 30


class MemoryLedger:
    """A ledger that forgets at the end of the process; `records` holds what was appended, in order."""

    def __init__(self, *, key: bytes = b"\0" * 32) -> None:
        self.records: list[Record] = []
        self._key = key
        self._seen: set[str] = set()
        self._fresh = 0

    def append(self, rec: Record) -> None:
        if rec.decision is not None:
            if rec.decision.decision_id in self._seen:
                return
            self._seen.add(rec.decision.decision_id)
        self.records.append(rec)
        self._fresh += 1

    def flush(self, timeout_ms: int) -> FlushReport:
        fresh, self._fresh = self._fresh, 0
        return FlushReport(committed=fresh)

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
        wanted = {"decision_id": decision_id, "output_id": output_id, "door": door, "session": session}
        wanted["reason"] = reason
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
            yield (
                DecisionView(row, rec.candidates, rec.verdicts, rec.calls, rec.events)
                if parts
                else DecisionView(row)
            )

    def keyed(self, texts: Sequence[str]) -> tuple[str, ...]:
        hashes = (digest(self._key, text.encode("utf-8", "surrogatepass"), "sha256") for text in texts)
        return tuple(f"hmac:{value.hex()[:32]}" for value in hashes)

    def tool_use(self, u: ToolUse) -> None:
        self.append(Record(tool_uses=(u,)))

    def tool_uses(self) -> Iterator[ToolUse]:
        routes: dict[str, list[ToolUse]] = {}
        for rec in reversed(self.records):
            for use in reversed(rec.tool_uses):
                routes.setdefault(use.route_id, []).append(use)
        for route in sorted(routes):
            yield from routes[route][:HISTORY]

    def output(self, output_id: str) -> OutputRow | None:
        return next((row for row in self.outputs() if row.output_id == output_id), None)

    def outputs(self, *, session: str | None = None) -> Iterator[OutputRow]:
        for rec in reversed(self.records):
            for row in rec.outputs:
                if session is None or row.session == session:
                    yield row

    def counters(self) -> Counters:
        return Counters()

    def close(self) -> None:
        pass


class MemoryOutputs:
    """An output store that forgets at the end of the process; `fail` makes every `put` fail."""

    def __init__(self, ledger: MemoryLedger | None = None) -> None:
        self.fail = False
        self._ledger = ledger
        self._kept: dict[str, tuple[OutputRef, bytes, OutputMeta]] = {}

    def put(self, data: BinaryIO | bytes, meta: OutputMeta) -> OutputRef:
        if self.fail:
            raise StoreFailed("this store refuses every output")
        kept = data if isinstance(data, bytes) else data.read()
        sha = hashlib.sha256(kept).hexdigest()
        lines = kept.count(b"\n") + (1 if kept and not kept.endswith(b"\n") else 0)
        ref = OutputRef("o_" + sha[:12], sha, len(kept), lines, stored_ms=time.time_ns() // 1_000_000)
        self._kept.pop(ref.id, None)
        self._kept[ref.id] = (ref, kept, meta)
        return ref

    def open(self, output_id: str) -> BinaryIO:
        if output_id not in self._kept:
            raise OutputNotFound(output_id, "never stored")
        return io.BytesIO(self._kept[output_id][1])

    def find(self, output_id: str) -> OutputRef | None:
        kept = self._kept.get(output_id)
        return kept[0] if kept else None

    def touch(self, output_id: str) -> None:
        pass

    def newest(self, session: str | None = None) -> OutputRef | None:
        for ref, _, meta in reversed(self._kept.values()):
            if session is None or meta.session == session:
                return ref
        return None

    def recalled(self, r: Recall) -> None:
        if self._ledger is not None:
            self._ledger.append(Record(recalls=(r,)))

    def prune(self, now_ms: int) -> PruneReport:
        return PruneReport()
