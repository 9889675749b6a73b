"""What is deleted in time or for size: in chunks, oldest first, never on the answer path."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

from .database import account_for, write
from .drain import OwnRecord
from .places import setting
from .port import PruneReport
from .prepare import DAY_MS
from .queries import HISTORY

CHUNK_ROWS = 500
VACUUM_PAGES = 200
EVERY_MS = DAY_MS

UNNAMED_TEXTS = """DELETE FROM evidence_text WHERE rowid IN (
    SELECT rowid FROM evidence_text WHERE sha256 NOT IN (
        SELECT note_sha256 FROM evidence_job UNION SELECT criterion_sha256 FROM evidence_job
        UNION SELECT note_sha256 FROM evidence_baseline
        UNION SELECT criterion_sha256 FROM evidence_baseline) LIMIT ?)"""
"""Reviewed documents that no job and no accepted review names; takes how many at most."""

_OLD_REPLIES = """UPDATE judge_calls SET reply = NULL, reply_dropped = 1 WHERE rowid IN (
    SELECT judge_calls.rowid FROM judge_calls JOIN decisions USING (decision_id)
    WHERE reply IS NOT NULL AND ts_ms < ? LIMIT ?)"""
_OLD_USES = f"""DELETE FROM tool_uses WHERE rowid IN (
    SELECT rowid FROM (SELECT rowid, ts_ms, row_number() OVER
        (PARTITION BY route_id ORDER BY rowid DESC) AS place FROM tool_uses)
    WHERE place > {HISTORY} OR ts_ms < ? LIMIT ?)"""
_OLD_TEXTS = "DELETE FROM texts WHERE rowid IN (SELECT rowid FROM texts WHERE expires_ms < ? LIMIT ?)"
_OLD_RECALLS = "DELETE FROM recalls WHERE rowid IN (SELECT rowid FROM recalls WHERE ts_ms < ? LIMIT ?)"
_OLD_OUTPUTS = "DELETE FROM outputs WHERE rowid IN (SELECT rowid FROM outputs WHERE gone_ms < ? LIMIT ?)"


def next_run_ms(con: sqlite3.Connection) -> int:
    """When retention is next due, in epoch ms; 0 where it never ran."""
    row = con.execute("SELECT value FROM meta WHERE key = 'pruned_ms'").fetchone()
    return int(row[0]) + EVERY_MS if row is not None else 0


def due(con: sqlite3.Connection, now_ms: int) -> bool:
    """Whether a day has passed since the last time."""
    return now_ms >= next_run_ms(con)


def prune(
    con: sqlite3.Connection,
    now_ms: int,
    config: Mapping[str, object] | None,
    *,
    event: OwnRecord,
    leave_off: Callable[[], bool] = bool,
) -> PruneReport:
    """Delete what is past its time, then the oldest days until the size holds, then give the room back.

    Args:
        event: Makes the record that says what was deleted.
        leave_off: Asked after every chunk; True ends the work, which is then taken up again next time.

    Raises:
        sqlite3.Error: What was committed before stays done.
    """
    kept_from = now_ms - int(setting(config, "ledger.retain_days")) * DAY_MS
    replies_from = now_ms - int(setting(config, "ledger.reply_days")) * DAY_MS
    most = int(setting(config, "ledger.max_bytes"))
    used = used_bytes(con)
    work = chain(
        _in_chunks(con, _OLD_REPLIES, replies_from),
        _in_chunks(con, _OLD_TEXTS, now_ms),
        _in_chunks(con, _OLD_USES, kept_from),
        _in_chunks(con, _OLD_RECALLS, kept_from),
        _in_chunks(con, _OLD_OUTPUTS, kept_from),
        _in_chunks(con, UNNAMED_TEXTS),
        _days_before(con, kept_from),
        _down_to(con, most),
    )
    rows, finished = 0, True
    for removed in work:
        rows += removed
        if leave_off():
            finished = False
            break
    report = PruneReport(rows, max(0, used - used_bytes(con)), used_bytes(con))
    with transaction(con):
        forget_writers(con)
        if finished:
            con.execute("INSERT OR REPLACE INTO meta VALUES ('pruned_ms', ?)", (str(now_ms),))
        if rows:
            write(con, event("ledger.pruned", {"rows": report.removed, "bytes": report.bytes}))
    while con.execute("PRAGMA freelist_count").fetchone()[0] and not leave_off():
        con.execute(f"PRAGMA incremental_vacuum({VACUUM_PAGES})").fetchall()
    return report


def remove(
    con: sqlite3.Connection, table: str, where: str, args: Sequence[Any], limit: int = -1
) -> tuple[int, int]:
    """Delete rows of ``decisions`` or ``events``, so that their numbers are no gap.

    Returns:
        The rows found, and the rows deleted, those that hung on them included.
    """
    found = con.execute(
        f"SELECT rowid, writer, seq FROM {table} WHERE {where} ORDER BY rowid LIMIT ?", (*args, limit)
    ).fetchall()
    before = con.total_changes
    con.executemany(f"DELETE FROM {table} WHERE rowid = ?", [(rowid,) for rowid, _, _ in found])
    removed = con.total_changes - before
    gone: dict[str, list[int]] = {}
    for writer, seq in sorted({(writer, seq) for _, writer, seq in found}):
        still = con.execute(
            "SELECT EXISTS (SELECT 1 FROM decisions WHERE writer = ?1 AND seq = ?2) "
            "OR EXISTS (SELECT 1 FROM events WHERE writer = ?1 AND seq = ?2)",
            (writer, seq),
        ).fetchone()[0]
        if not still:
            gone.setdefault(writer, []).append(seq)
    for writer, numbers in gone.items():
        account_for(con, writer, len(numbers), numbers[-1])
    return len(found), removed


def forget_writers(con: sqlite3.Connection) -> None:
    """Drop the accounts of writers of which no row is left."""
    con.execute(
        """DELETE FROM meta WHERE (key LIKE 'gone:%' OR key LIKE 'last:%')
        AND NOT EXISTS (SELECT 1 FROM decisions WHERE writer = substr(key, 6))
        AND NOT EXISTS (SELECT 1 FROM events WHERE writer = substr(key, 6))"""
    )


def used_bytes(con: sqlite3.Connection) -> int:
    """Bytes of the database that hold something."""
    pages = (
        con.execute("PRAGMA page_count").fetchone()[0] - con.execute("PRAGMA freelist_count").fetchone()[0]
    )
    return pages * con.execute("PRAGMA page_size").fetchone()[0]


@contextmanager
def transaction(con: sqlite3.Connection) -> Iterator[None]:
    """One transaction that writes: all of it, or nothing."""
    con.execute("BEGIN IMMEDIATE")
    try:
        yield
        con.execute("COMMIT")
    except BaseException:
        if con.in_transaction:
            con.execute("ROLLBACK")
        raise


# The lab's events are few and say which sealed surfaces were opened; they stay, or a second look would pass.
_AGES = "type NOT LIKE 'lab.%'"


def _in_chunks(con: sqlite3.Connection, statement: str, *before: int) -> Iterator[int]:
    """Run a statement with a limit until it finds nothing more; yields the rows of each time."""
    changed = CHUNK_ROWS
    while changed == CHUNK_ROWS:
        with transaction(con):
            changed = con.execute(statement, (*before, CHUNK_ROWS)).rowcount
        yield changed


def _days_before(con: sqlite3.Connection, before: int) -> Iterator[int]:
    for table, kept in (("decisions", ""), ("events", f" AND {_AGES}")):
        found = CHUNK_ROWS
        while found == CHUNK_ROWS:
            with transaction(con):
                found, removed = remove(con, table, f"ts_ms < ?{kept}", (before,), CHUNK_ROWS)
            yield removed


def _down_to(con: sqlite3.Connection, most: int) -> Iterator[int]:
    """Delete whole days (UTC), the oldest first, until the database is small enough."""
    while used_bytes(con) > most:
        oldest = con.execute(
            "SELECT min(ts_ms) FROM (SELECT min(ts_ms) AS ts_ms FROM decisions "
            f"UNION ALL SELECT min(ts_ms) FROM events WHERE {_AGES})"
        ).fetchone()[0]
        if oldest is None:
            return
        yield from _days_before(con, (oldest // DAY_MS + 1) * DAY_MS)
