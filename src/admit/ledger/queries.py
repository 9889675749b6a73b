"""What is read back from the database: decisions and what hangs on them, tool uses, outputs, totals."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from admit.core.events import Event

from .database import read_rows
from .port import DecisionRow, DecisionView, OutputRow, Record, ToolUse

HISTORY = 30
# What was done to an output stands in the door's own fields, where `admit outputs report` reads it too.
_KIND = """CASE WHEN door <> 'outputs' THEN ''
    WHEN NOT coalesce(json_extract(extra, '$.changed'), mode = 'enforce') THEN 'whole'
    ELSE CASE json_extract(extra, '$.how') WHEN 'judged' THEN 'filtered' WHEN 'local' THEN 'excerpt'
    ELSE 'whole' END END"""
# A call that a limit or a lost connection kept from leaving costs nothing; the local judge sends nothing.
SENT = "NOT (judge_calls.sent = 'no' AND judge_calls.reason IS NOT NULL)"
DROPS = ("ledger.dropped", "ledger.spool_dropped")


class DoorTotals(NamedTuple):
    """What happened at one door: counts of decisions and candidates, and sums of sizes and times.

    Attributes:
        kind: Of outputs ``filtered`` (a judge chose), ``excerpt`` (the door chose alone), ``whole`` (shown as
            they came, a duplicate, or only computed in shadow mode); empty at other doors.
        saved: Sum of the smaller of `size_in` and `size_host`, less `size_out`, in the door's unit.
        recalls, recalled: Recalls, and outputs recalled at least once.
        calls: Requests to a judge, those that were never sent left out.
        cost_usd: Known cost; `cost_unknown` counts the calls whose cost is not known.
    """

    door: str
    kind: str
    decisions: int
    asked: int
    admitted: int
    blocked: int
    unjudged: int
    fallbacks: int
    size_in: int
    size_out: int
    saved: int
    judge_ms: float
    recalls: int = 0
    recalled: int = 0
    calls: int = 0
    cost_usd: float = 0.0
    cost_unknown: int = 0


def dropped_since(con: sqlite3.Connection, since: int) -> Counter[str]:
    """Records that were not written since then (epoch ms), by cause, as the ledger's events tell."""
    dropped: Counter[str] = Counter()
    for event in read_rows(con, "events", "WHERE type IN (?, ?) AND ts_ms >= ?", (*DROPS, since)):
        dropped.update({"spool": event.body["n"]} if event.type == DROPS[1] else event.body)
    return dropped


def decisions(
    con: sqlite3.Connection,
    *,
    wanted: dict[str, Any],
    since: int | None = None,
    limit: int | None = None,
    parts: bool = True,
) -> Iterator[DecisionView]:
    """Decisions whose columns have the wanted values, newest (written last) first."""
    tests = [f"{column} = ?" for column in wanted]
    values = list(wanted.values())
    if since is not None:
        tests.append("ts_ms >= ?")
        values.append(since)
    where = f"WHERE {' AND '.join(tests)} " if tests else ""
    tail = f"{where}ORDER BY rowid DESC LIMIT ?"
    for row in read_rows(con, "decisions", tail, (*values, -1 if limit is None else limit)):
        yield view(con, row) if parts else DecisionView(row)


def view(con: sqlite3.Connection, row: DecisionRow) -> DecisionView:
    """One decision with everything that hangs on it."""
    own = (row.decision_id,)
    outputs = read_rows(con, "outputs", "WHERE output_id = ?", (row.output_id,)) if row.output_id else []
    return DecisionView(
        decision=row,
        candidates=tuple(read_rows(con, "candidates", "WHERE decision_id = ? ORDER BY ord", own)),
        verdicts=tuple(read_rows(con, "verdicts", "WHERE decision_id = ? ORDER BY ord, source", own)),
        calls=tuple(read_rows(con, "judge_calls", "WHERE decision_id = ? ORDER BY rowid", own)),
        events=tuple(read_rows(con, "events", "WHERE decision_id = ? ORDER BY rowid", own)),
        output=outputs[0] if outputs else None,
        recalls=tuple(read_rows(con, "recalls", "WHERE output_id = ? ORDER BY rowid", (row.output_id,)))
        if row.output_id
        else (),
    )


def records(con: sqlite3.Connection) -> Iterator[Record]:
    """Every record in the order it was written: decisions first, then what hangs on none of them."""
    for (decision_id,) in con.execute("SELECT decision_id FROM decisions ORDER BY rowid").fetchall():
        for row in read_rows(con, "decisions", "WHERE decision_id = ?", (decision_id,)):
            whole = view(con, row)
            yield Record(
                decision=row,
                candidates=whole.candidates,
                verdicts=whole.verdicts,
                calls=whole.calls,
                events=whole.events,
                outputs=(whole.output,) if whole.output is not None else (),
                recalls=whole.recalls,
            )
    loose = (
        "WHERE decision_id IS NULL OR decision_id NOT IN (SELECT decision_id FROM decisions) ORDER BY rowid"
    )
    for event in read_rows(con, "events", loose):
        yield Record(events=(event,))
    undecided = (
        "WHERE output_id NOT IN (SELECT output_id FROM decisions WHERE output_id IS NOT NULL) ORDER BY rowid"
    )
    for output in read_rows(con, "outputs", undecided):
        yield Record(outputs=(output,))
    for recall in read_rows(con, "recalls", undecided):
        yield Record(recalls=(recall,))
    for use in read_rows(con, "tool_uses", "ORDER BY rowid"):
        yield Record(tool_uses=(use,))


def tool_uses(con: sqlite3.Connection) -> list[ToolUse]:
    """Per route, by id, the newest 30, newest first."""
    return read_rows(
        con,
        "tool_uses",
        """JOIN (SELECT rowid AS id, row_number() OVER (PARTITION BY route_id ORDER BY rowid DESC) AS place
        FROM tool_uses) AS newest ON newest.id = tool_uses.rowid
        WHERE newest.place <= ? ORDER BY tool_uses.route_id, newest.place""",
        (HISTORY,),
    )


def events(con: sqlite3.Connection, prefix: str) -> list[Event]:
    """Events whose type begins with `prefix`, in the order in which they were written."""
    return read_rows(con, "events", "WHERE substr(type, 1, ?) = ? ORDER BY rowid", (len(prefix), prefix))


def outputs(
    con: sqlite3.Connection, *, output_id: str | None = None, session: str | None = None
) -> list[OutputRow]:
    """What is recorded of stored outputs, stored last first."""
    return read_rows(
        con,
        "outputs",
        "WHERE (?1 IS NULL OR output_id = ?1) AND (?2 IS NULL OR session = ?2) "
        "ORDER BY stored_ms DESC, rowid DESC",
        (output_id, session),
    )


def door_totals(con: sqlite3.Connection, since: int = 0) -> list[DoorTotals]:
    """One row a door, by name; of the outputs door one for each kind: excerpt, filtered, whole."""
    sizes = "coalesce(min(size_in, coalesce(size_host, size_in)), 0)"
    totals = con.execute(
        f"""SELECT door, {_KIND} AS kind, count(*),
            sum(CASE WHEN status IN ('judged', 'partial', 'fallback') THEN n_within ELSE 0 END),
            sum(n_admitted), sum(n_blocked), sum(n_unjudged), sum(status = 'fallback'),
            coalesce(sum(size_in), 0), coalesce(sum(size_out), 0),
            coalesce(sum(max(0, {sizes} - coalesce(size_out, {sizes}))), 0), coalesce(sum(judge_ms), 0.0)
        FROM decisions WHERE ts_ms >= ? GROUP BY door, kind ORDER BY door, kind""",
        (since,),
    ).fetchall()
    # An output that was decided about twice counts once, as what was done to it most.
    recalls = con.execute(
        f"""SELECT substr(d.kind, 2) AS kind, count(*), count(DISTINCT recalls.output_id) FROM recalls
        JOIN (SELECT output_id, max(CASE {_KIND} WHEN 'filtered' THEN '3filtered'
                WHEN 'excerpt' THEN '2excerpt' ELSE '1whole' END) AS kind
            FROM decisions WHERE ts_ms >= ?1 AND door = 'outputs' AND output_id IN (
                SELECT output_id FROM recalls WHERE ts_ms >= ?1) GROUP BY output_id) AS d USING (output_id)
        WHERE recalls.ts_ms >= ?1 GROUP BY d.kind""",
        (since,),
    ).fetchall()
    calls = con.execute(
        f"""SELECT door, {_KIND} AS kind, count(*), coalesce(sum(cost_usd), 0.0), sum(cost_usd IS NULL)
        FROM judge_calls JOIN decisions USING (decision_id) WHERE ts_ms >= ? AND {SENT}
        GROUP BY door, kind""",
        (since,),
    ).fetchall()
    back = {("outputs", kind): tuple(counts) for kind, *counts in recalls}
    asked = {(door, kind): tuple(sums) for door, kind, *sums in calls}
    return [
        DoorTotals(
            door,
            kind,
            *rest,
            *back.get((door, kind), (0, 0)),
            *asked.get((door, kind), (0, 0.0, 0)),
        )
        for door, kind, *rest in totals
    ]
