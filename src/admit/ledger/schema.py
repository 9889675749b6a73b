"""The tables of version 2, how a row is kept in them, and how an older database is brought forward.

A row type of `port` has the columns of its table, in order. JSON columns hold canonical JSON as text,
yes-and-no columns hold 0 or 1, and None is NULL.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from admit import __version__
from admit.core.events import Event, canonical, parse
from admit.errors import Locked, TooNew

from .evidence_rows import EVIDENCE_DDL, EVIDENCE_TABLES
from .places import locked, open_file
from .port import (
    SCHEMA_VERSION,
    CallRow,
    CandidateRow,
    DecisionRow,
    OutputRow,
    Recall,
    TextRow,
    ToolUse,
    VerdictRow,
)

BACKUPS_KEPT = 2

# Those of a record, in the order of insertion: what others refer to comes first.
RECORD_TABLES: Mapping[str, type] = MappingProxyType(
    {
        "decisions": DecisionRow,
        "candidates": CandidateRow,
        "verdicts": VerdictRow,
        "judge_calls": CallRow,
        "events": Event,
        "outputs": OutputRow,
        "recalls": Recall,
        "tool_uses": ToolUse,
        "texts": TextRow,
    }
)
TABLES: Mapping[str, type] = MappingProxyType({**RECORD_TABLES, **EVIDENCE_TABLES})
COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {table: tuple(name.rstrip("_") for name in row._fields) for table, row in TABLES.items()}  # type: ignore[attr-defined]
)
JSON_COLUMNS = frozenset(
    ("extra", "truncated", "rank_key", "span", "p", "masked", "body", "stems", "linked", "manifest", "review")
)
TUPLE_COLUMNS = frozenset(("rank_key", "p", "masked", "stems", "linked"))
FLAG_COLUMNS = frozenset(("within", "reply_dropped", "complete", "pinned", "first", "ok", "retired"))
HASHED_TABLES = ("decisions", "events")

_DDL_1 = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE decisions (
    decision_id TEXT PRIMARY KEY, writer TEXT NOT NULL, seq INTEGER NOT NULL, ts_ms INTEGER NOT NULL,
    schema INTEGER NOT NULL, admit_version TEXT NOT NULL, door TEXT NOT NULL, host TEXT, host_event TEXT,
    session TEXT, agent TEXT, turn INTEGER, project TEXT, profile TEXT, profile_hash TEXT, policy_hash TEXT,
    gather_rev TEXT, mode TEXT NOT NULL, status TEXT NOT NULL, reason TEXT, unit TEXT NOT NULL, cap INTEGER,
    threshold REAL, deadline_ms INTEGER, n_gathered INTEGER NOT NULL, n_within INTEGER NOT NULL,
    n_overflow INTEGER NOT NULL, n_admitted INTEGER NOT NULL, n_blocked INTEGER NOT NULL,
    n_unjudged INTEGER NOT NULL, n_exempt INTEGER NOT NULL, size_in INTEGER, size_out INTEGER,
    size_host INTEGER, elapsed_ms REAL, judge_ms REAL, task_hash TEXT, output_id TEXT,
    delivered TEXT NOT NULL, extra TEXT NOT NULL, truncated TEXT NOT NULL, content_hash TEXT NOT NULL
) STRICT;
CREATE TABLE candidates (
    decision_id TEXT NOT NULL REFERENCES decisions ON DELETE CASCADE, ord INTEGER NOT NULL,
    candidate_id TEXT NOT NULL, kind TEXT, text_hash TEXT, rank_tier INTEGER, rank_key TEXT, score REAL,
    parent_ord INTEGER, size INTEGER, within INTEGER NOT NULL, span TEXT, PRIMARY KEY (decision_id, ord)
) STRICT;
CREATE TABLE verdicts (
    decision_id TEXT NOT NULL REFERENCES decisions ON DELETE CASCADE, ord INTEGER NOT NULL,
    source TEXT NOT NULL, verdict TEXT NOT NULL, would TEXT, reason TEXT, kind TEXT, p TEXT,
    expectation REAL, threshold REAL, ancestor_ord INTEGER, call_id TEXT,
    PRIMARY KEY (decision_id, ord, source)
) STRICT;
CREATE TABLE judge_calls (
    call_id TEXT PRIMARY KEY, decision_id TEXT NOT NULL REFERENCES decisions ON DELETE CASCADE,
    destination TEXT NOT NULL, model_asked TEXT NOT NULL, model_answered TEXT, questions INTEGER NOT NULL,
    request_bytes INTEGER NOT NULL, input_tokens INTEGER, output_tokens INTEGER, cost_usd REAL,
    cost_source TEXT NOT NULL, sent TEXT NOT NULL, connect_ms REAL, first_byte_ms REAL, total_ms REAL,
    slot_wait_ms REAL, outcome TEXT NOT NULL, reason TEXT, request_hash TEXT, reply BLOB,
    reply_dropped INTEGER NOT NULL, masked TEXT NOT NULL
) STRICT;
CREATE TABLE events (
    event_id TEXT PRIMARY KEY, type TEXT NOT NULL, ts_ms INTEGER NOT NULL, body TEXT NOT NULL,
    decision_id TEXT, session TEXT, door TEXT, schema INTEGER NOT NULL, writer TEXT NOT NULL,
    seq INTEGER NOT NULL, content_hash TEXT NOT NULL
) STRICT;
CREATE TABLE outputs (
    output_id TEXT PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, bytes INTEGER NOT NULL, lines INTEGER,
    stored_ms INTEGER NOT NULL, last_used_ms INTEGER NOT NULL, tool TEXT, session TEXT, exit_code INTEGER,
    complete INTEGER NOT NULL, pinned INTEGER NOT NULL, gone_ms INTEGER, gone_reason TEXT
) STRICT;
CREATE TABLE recalls (
    recall_id TEXT PRIMARY KEY, output_id TEXT NOT NULL, ts_ms INTEGER NOT NULL, class TEXT NOT NULL,
    via TEXT NOT NULL, chars INTEGER NOT NULL, decision_id TEXT, session TEXT, first INTEGER NOT NULL
) STRICT;
CREATE TABLE tool_uses (
    use_id TEXT PRIMARY KEY, ts_ms INTEGER NOT NULL, route_id TEXT NOT NULL, ok INTEGER NOT NULL,
    stems TEXT NOT NULL, decision_id TEXT, session TEXT
) STRICT;
CREATE TABLE texts (
    text_hash TEXT PRIMARY KEY, kind TEXT NOT NULL, text TEXT NOT NULL, expires_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX decisions_session ON decisions (session, ts_ms);
CREATE INDEX decisions_door ON decisions (door, ts_ms);
CREATE INDEX decisions_number ON decisions (writer, seq);
CREATE INDEX events_number ON events (writer, seq);
CREATE INDEX events_type ON events (type, ts_ms);
CREATE INDEX recalls_output ON recalls (output_id);
CREATE INDEX tool_uses_route ON tool_uses (route_id, ts_ms);
CREATE INDEX judge_calls_decision ON judge_calls (decision_id);
CREATE INDEX outputs_used ON outputs (last_used_ms);
"""
_DDL = _DDL_1 + EVIDENCE_DDL
# Those that an older version lacks, by the version that brought them.
_ADDED: Mapping[str, int] = MappingProxyType(dict.fromkeys(EVIDENCE_TABLES, 2))


def _kinds(table: str) -> tuple[str, ...]:
    """What each column holds: JSON, or its SQL type."""
    body = _DDL.partition(f"CREATE TABLE {table} (")[2].partition(") STRICT")[0]
    types = {words[0]: words[1] for part in body.split(",") if len(words := part.split()) > 1}
    return tuple("JSON" if column in JSON_COLUMNS else types[column] for column in COLUMNS[table])


KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType({table: _kinds(table) for table in TABLES})

Migration = Callable[[sqlite3.Connection], None]


def _add_evidence(con: sqlite3.Connection) -> None:
    for statement in EVIDENCE_DDL.split(";\n"):
        con.execute(statement)


# MIGRATIONS[k] brings version k + 1 to k + 2.
MIGRATIONS: tuple[Migration, ...] = (_add_evidence,)


def version_of(con: sqlite3.Connection) -> int:
    """The schema version of a database; 0 for one without tables."""
    return con.execute("PRAGMA user_version").fetchone()[0]


def tables_of(con: sqlite3.Connection) -> tuple[str, ...]:
    """The tables that a database of its version has, in the order of insertion."""
    version = version_of(con)
    return tuple(table for table in TABLES if _ADDED.get(table, 1) <= version)


def create(con: sqlite3.Connection) -> None:
    """Make the tables of the newest version in an empty database; nothing where they are there."""
    con.execute("PRAGMA auto_vacuum=INCREMENTAL")
    con.execute("PRAGMA journal_mode=WAL")
    con.execute("BEGIN IMMEDIATE")
    try:
        if version_of(con) == 0:
            for statement in _DDL.split(";\n"):
                con.execute(statement)
            con.executemany(
                "INSERT INTO meta VALUES (?, ?)",
                [
                    ("schema_version", str(SCHEMA_VERSION)),
                    ("created_by", __version__),
                    ("install_id", os.urandom(16).hex()),
                ],
            )
            con.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        con.execute("COMMIT")
    except BaseException:
        con.execute("ROLLBACK")
        raise


def migrate(path: str, migrations: tuple[Migration, ...] = MIGRATIONS) -> tuple[int, int] | None:
    """Bring a database to the newest version, after a backup beside it; the last 2 backups are kept.

    Returns:
        From which version to which, or None when there was nothing to do.

    Raises:
        TooNew: A newer version of Admit wrote it.
        Locked: Another process holds it.
        sqlite3.Error: A migration failed; the database is as it was.
    """
    newest = len(migrations) + 1
    with locked(os.path.join(os.path.dirname(path), ".lock"), 2000) as held:
        if not held:
            raise Locked(f"another process is working on {path}; try again")
        con = sqlite3.connect(path, timeout=2.0, isolation_level=None)
        try:
            before = version_of(con)
            if before > newest:
                raise TooNew(f"{path} has version {before}, this Admit knows {newest}: update Admit")
            if before in (0, newest):
                return None
            _back_up(con, path, before)
            con.execute("BEGIN EXCLUSIVE")
            try:
                for step in migrations[before - 1 :]:
                    step(con)
                con.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", (str(newest),))
                con.execute(f"PRAGMA user_version={newest}")
                con.execute("COMMIT")
            except BaseException:
                con.execute("ROLLBACK")
                raise
            return before, newest
        finally:
            con.close()


def to_values(table: str, cells: Iterable[Any]) -> tuple[Any, ...]:
    """A row as SQL values, in column order: what `coerced` gave, JSON columns as text."""
    return tuple(
        canonical(cell).decode() if kind == "JSON" and cell is not None else cell
        for kind, cell in zip(KINDS[table], cells, strict=True)
    )


def coerced(kind: str, value: Any) -> Any:
    """A cleaned value as its column gives it back, so that a row hashes alike before and after.

    None where the column cannot hold it: a fraction or a huge float in a column of whole numbers.
    """
    if kind == "REAL":
        # A negative zero becomes a zero, as in the file.
        return value + 0.0 if isinstance(value, (int, float)) else None
    if kind == "INTEGER":
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return int(value) if whole and -(1 << 63) <= value < 1 << 63 else None
    return str(value) if kind == "TEXT" else value


def from_values(table: str, values: Iterable[Any]) -> Any:
    """A row of its type again.

    Raises:
        ValueError: A JSON column does not hold JSON.
    """
    read = [_read(column, value) for column, value in zip(COLUMNS[table], values, strict=True)]
    return TABLES[table](*read)


def fields_of(table: str, values: Iterable[Any]) -> dict[str, Any]:
    """Column names to values, JSON columns parsed: what a content hash is taken over."""
    pairs = zip(COLUMNS[table], values, strict=True)
    return {
        column: parse(value) if column in JSON_COLUMNS and value is not None else value
        for column, value in pairs
    }


def _read(column: str, value: Any) -> Any:
    if value is None:
        return None
    if column in JSON_COLUMNS:
        value = parse(value)
        return tuple(value) if column in TUPLE_COLUMNS else value
    return bool(value) if column in FLAG_COLUMNS else value


def _back_up(con: sqlite3.Connection, path: str, version: int) -> None:
    """Copy the database as it stands to ``<path>.v<N>.bak``."""
    target = f"{path}.v{version}.bak"
    partial = f"{target}.part"
    if os.path.lexists(partial):
        os.unlink(partial)
    os.close(open_file(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL))
    copy = sqlite3.connect(partial)
    try:
        con.backup(copy)
    finally:
        copy.close()
    os.replace(partial, target)
    for old in backups(path)[:-BACKUPS_KEPT]:
        os.unlink(old)


def backups(path: str) -> list[str]:
    """The backups beside a database, lowest version first."""
    folder, name = os.path.split(path)
    found = []
    for entry in os.listdir(folder):
        version = entry[len(name) + 2 : -len(".bak")]
        if entry.startswith(f"{name}.v") and entry.endswith(".bak") and version.isdigit():
            found.append((int(version), os.path.join(folder, entry)))
    return [path for _, path in sorted(found)]
