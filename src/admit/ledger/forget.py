"""Deleting on request: rows, stored outputs, texts and what waits in the spool, so that nothing is left."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from admit.errors import LedgerError, Locked, UsageError

from .database import SIDES, as_ledger_error, cause_of, count_rows, damaged_files, open_writer
from .drain import drain_into
from .key import REPLACED, keyed, load_key, replace_key
from .order import NAME as ORDER
from .outputs import NEW, FileOutputs
from .places import places, setting
from .record import now_ms
from .recover import OwnWriter
from .retention import UNNAMED_TEXTS, forget_writers, remove, transaction
from .schema import TABLES, backups
from .spool import Spool

# Of reviews, what was asked for before a time, and all that hangs on it.
_JOBS_BEFORE = "(base, job, attempt) IN (SELECT base, job, attempt FROM evidence_job WHERE created_ms < ?)"


class ForgetReport(NamedTuple):
    """What is gone, and what still holds it.

    Attributes:
        rows: Rows deleted, those that hung on them included.
        outputs: Stored outputs deleted.
        waiting: Records deleted from the spool.
        copies: Damaged databases and backups that may still hold it; only `everything` deletes them.
    """

    rows: int = 0
    outputs: int = 0
    waiting: int = 0
    copies: tuple[str, ...] = ()


def forget(
    config: Mapping[str, object] | None = None,
    *,
    session: str | None = None,
    project: str | None = None,
    before: int | None = None,
    everything: bool = False,
    key: bool = False,
) -> ForgetReport:
    """Delete what belongs to one session, one project, a time, or everything; then give the room back.

    Args:
        session: As the host names it, or its ``hmac:``.
        project: The path, its ``hmac:``, or its last part.
        before: Epoch ms.
        key: Also make a new install key: hashes from before link to nothing, tool uses are emptied.

    Raises:
        UsageError: Not exactly one thing to forget.
        LedgerError: Something could not be deleted; what was deleted before that is gone.
    """
    chosen = sum(one is not None for one in (session, project, before)) + everything
    if chosen > 1 or (not chosen and not key):
        raise UsageError(
            "name exactly one of --session, --project, --before and --all; --key may stand alone"
        )
    place = places(config)
    try:
        report = ForgetReport()
        if everything:
            report = _all(config)
        elif chosen:
            report = _some(config, session, project, before)
        if key:
            with _writing(config) as con, transaction(con):
                con.execute("DELETE FROM tool_uses")
                con.execute("DELETE FROM meta WHERE key IN ('key_sign', ?)", (REPLACED,))
            replace_key(place.key)
        return report
    except sqlite3.Error as fault:
        raise as_ledger_error(fault, place.database) from fault
    except OSError as fault:
        raise LedgerError(f"not everything could be deleted: {fault}") from fault


class _writing:
    """The database, open for writing; closed, and the room given back, at the end."""

    def __init__(self, config: Mapping[str, object] | None) -> None:
        self._con = open_writer(places(config).database, int(setting(config, "ledger.busy_ms")))

    def __enter__(self) -> sqlite3.Connection:
        return self._con

    def __exit__(self, failed: object, *_: object) -> None:
        try:
            if failed is None:
                self._con.execute("VACUUM")
                self._con.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self._con.close()


def _all(config: Mapping[str, object] | None) -> ForgetReport:
    place = places(config)
    store = FileOutputs(config)
    waiting = Spool(place.spool, "forget", 0).remove()
    rows = 0
    try:
        with _writing(config) as con:
            rows = count_rows(con)
            with transaction(con):
                for table in reversed(list(TABLES)):
                    con.execute(f"DELETE FROM {table}")
                con.execute(
                    "DELETE FROM meta WHERE key LIKE 'gone:%' OR key LIKE 'last:%' OR key LIKE 'recovered:%'"
                )
    except sqlite3.Error as fault:
        if cause_of(fault) != "corrupt":
            raise
        for side in SIDES:  # damaged: no row of it can be deleted one by one
            with suppress(FileNotFoundError):
                os.unlink(place.database + side)
    outputs = store.delete([ref.id for ref in store.stored()], now_ms()).removed
    if os.path.isdir(place.outputs):
        for name in os.listdir(place.outputs):
            if name.startswith(NEW) or name == ORDER:
                os.unlink(os.path.join(place.outputs, name))
    for path in _copies(place.database):
        for side in SIDES:
            with suppress(FileNotFoundError):
                os.unlink(path + side)
    return ForgetReport(rows, outputs, waiting)


def _some(
    config: Mapping[str, object] | None, session: str | None, project: str | None, before: int | None
) -> ForgetReport:
    place = places(config)
    busy_ms = int(setting(config, "ledger.busy_ms"))
    key = load_key(place.key).key
    with _writing(config) as con:
        # What waits belongs to the record too: it must be inside before it can be looked through.
        spool = Spool(place.spool, "forget", int(setting(config, "ledger.spool_max_bytes")))
        if drain_into(con, spool, OwnWriter(config).record, wait_ms=busy_ms) is None:
            raise Locked("another process is draining the spool; try again")
        before_rows = count_rows(con)
        with transaction(con):
            outputs = _delete(con, key, session, project, before)
            forget_writers(con)
        rows = before_rows - count_rows(con)
    store = FileOutputs(config)
    if before is not None:
        # Also files that no row knows.
        outputs += [ref.id for ref in store.stored() if ref.stored_ms < before]
    removed = store.delete(dict.fromkeys(outputs), now_ms()).removed
    return ForgetReport(rows, removed, 0, tuple(_copies(place.database)))


def _delete(
    con: sqlite3.Connection, key: bytes, session: str | None, project: str | None, before: int | None
) -> list[str]:
    """Delete rows, and give the ids of the outputs that go with them."""
    con.execute("CREATE TEMP TABLE IF NOT EXISTS leaving (decision_id TEXT PRIMARY KEY)")
    con.execute("DELETE FROM leaving")
    con.execute("CREATE TEMP TABLE IF NOT EXISTS leaving_outputs (output_id TEXT PRIMARY KEY)")
    con.execute("DELETE FROM leaving_outputs")
    own, args = "FALSE", ()
    reviews, of = "FALSE", ()
    if session is not None:
        hashed = session if session.startswith("hmac:") else keyed(key, [session])[0]
        own, args = "session = ?", (hashed,)
        con.execute(f"INSERT INTO leaving SELECT decision_id FROM decisions WHERE {own}", args)
        con.execute(f"INSERT INTO leaving_outputs SELECT output_id FROM outputs WHERE {own}", args)
    elif project is not None:
        paths = dict.fromkeys((project, os.path.abspath(os.path.expanduser(project))))
        of = (*keyed(key, list(paths)), project)
        for hashed in of:
            con.execute(
                "INSERT OR IGNORE INTO leaving SELECT decision_id FROM decisions "
                "WHERE substr(project, 1, 37) = ?1 OR substr(project, 39) = ?1",
                (hashed,),
            )
        reviews = f"""base IN ({", ".join("?" * len(of))}) OR base IN (SELECT substr(project, 1, 37)
            FROM decisions WHERE decision_id IN (SELECT decision_id FROM leaving))"""
    else:
        own, args = "ts_ms < ?", (before,)
        reviews, of = _JOBS_BEFORE, args
        con.execute(f"INSERT INTO leaving SELECT decision_id FROM decisions WHERE {own}", args)
        con.execute("INSERT INTO leaving_outputs SELECT output_id FROM outputs WHERE stored_ms < ?", args)
    _delete_reviews(con, reviews, of)
    # An output that another decision shows as well stays.
    con.execute(
        """INSERT OR IGNORE INTO leaving_outputs SELECT output_id FROM decisions
        WHERE output_id IS NOT NULL AND decision_id IN (SELECT decision_id FROM leaving)
        AND output_id NOT IN (SELECT output_id FROM decisions WHERE output_id IS NOT NULL
            AND decision_id NOT IN (SELECT decision_id FROM leaving))"""
    )
    hanging = "decision_id IN (SELECT decision_id FROM leaving)"
    stored = "output_id IN (SELECT output_id FROM leaving_outputs)"
    remove(con, "events", f"{hanging} OR {own}", args)
    con.execute(f"DELETE FROM recalls WHERE {hanging} OR {stored} OR {own}", args)
    con.execute(f"DELETE FROM tool_uses WHERE {hanging} OR {own}", args)
    remove(con, "decisions", hanging, ())
    outputs = [row[0] for row in con.execute("SELECT output_id FROM leaving_outputs ORDER BY output_id")]
    con.execute(f"DELETE FROM outputs WHERE {stored}")
    con.execute(
        """DELETE FROM texts WHERE text_hash NOT IN (
            SELECT text_hash FROM candidates WHERE text_hash IS NOT NULL
            UNION SELECT task_hash FROM decisions WHERE task_hash IS NOT NULL)"""
    )
    return outputs


def _delete_reviews(con: sqlite3.Connection, where: str, args: Sequence[object]) -> None:
    """Delete what was read and accepted, then jobs, and the texts that nothing names any more."""
    for table in ("evidence_read", "evidence_baseline", "evidence_job"):
        con.execute(f"DELETE FROM {table} WHERE {where}", args)
    con.execute(UNNAMED_TEXTS, (-1,))


def _copies(database: str) -> list[str]:
    if not os.path.isdir(os.path.dirname(database)):
        return []
    return [*damaged_files(database), *backups(database)]
