"""The record as plain files, and back: one JSONL file a table, canonical, in the order it was written.

manifest.json       schema version, and rows and SHA-256 of every file
decisions.jsonl …   one row a line, keys sorted; blobs as {"base64": …}
gone.jsonl          by writer: numbers that are missing for a known reason, so that they are no gap
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from admit.core.events import canonical, content_hash, parse
from admit.errors import IntegrityError, LedgerError, TooNew, UsageError

from .database import as_ledger_error, count_rows, open_writer, write
from .evidence_rows import EVIDENCE_TABLES
from .evidence_sql import read_row
from .places import NotOurs, open_file, own_folder, places, read_all, setting
from .port import SCHEMA_VERSION
from .prepare import Prepared, as_json, values_of
from .reading import reading
from .retention import transaction
from .schema import COLUMNS, HASHED_TABLES, JSON_COLUMNS, TABLES, fields_of, tables_of

MANIFEST = "manifest.json"
GONE = "gone"

# What of a table belongs to a time: everything from it on.
_SINCE = {
    "decisions": "ts_ms >= :since",
    "candidates": "decision_id IN (SELECT decision_id FROM decisions WHERE ts_ms >= :since)",
    "verdicts": "decision_id IN (SELECT decision_id FROM decisions WHERE ts_ms >= :since)",
    "judge_calls": "decision_id IN (SELECT decision_id FROM decisions WHERE ts_ms >= :since)",
    "events": "ts_ms >= :since",
    "outputs": "last_used_ms >= :since",
    "recalls": "ts_ms >= :since",
    "tool_uses": "ts_ms >= :since",
    "texts": "TRUE",
    "evidence_text": "TRUE",
    "evidence_job": "created_ms >= :since",
    "evidence_read": "ts_ms >= :since",
    "evidence_baseline": "TRUE",
}
_WITH_TEXT = ("texts", "evidence_text")
_ALL_GONE = """SELECT substr(gone.key, 6), CAST(gone.value AS INTEGER), CAST(last.value AS INTEGER)
    FROM meta AS gone JOIN meta AS last ON last.key = 'last:' || substr(gone.key, 6)
    WHERE gone.key LIKE 'gone:%' ORDER BY gone.key"""
# In a part, whatever is missing is missing because it is a part.
_PART_GONE = """SELECT writer, max(seq) - count(*) AS n, max(seq) FROM
    (SELECT writer, seq FROM decisions WHERE ts_ms >= :since
    UNION SELECT writer, seq FROM events WHERE ts_ms >= :since)
    GROUP BY writer HAVING n > 0 ORDER BY writer"""


class Imported(NamedTuple):
    """What an import found: rows, how many of them were new, and columns this version does not know."""

    rows: int
    new: int
    unknown: tuple[str, ...]


def export(
    folder: str,
    config: Mapping[str, object] | None = None,
    *,
    since: int | None = None,
    text: bool = False,
) -> dict[str, Any]:
    """Write the record into a new or empty folder, and give the manifest.

    Args:
        since: Only from this time on, in epoch ms.
        text: Also the stored texts, where ``ledger.text`` is on, and the documents that were reviewed.

    Raises:
        UsageError: The folder holds something, or cannot be written, or texts are not stored.
        LedgerError: The ledger cannot be read.
    """
    if text and setting(config, "ledger.text") == "off" and not _holds_documents(config):
        raise UsageError("no texts are stored (ledger.text is off): leave out --text")
    folder = os.path.abspath(folder)
    try:
        if os.path.lexists(folder) and os.listdir(folder):
            raise UsageError(f"{folder} is not empty; name a new folder")
        own_folder(folder)
    except OSError as fault:
        raise UsageError(f"{folder} cannot be written: {fault}") from fault
    files: dict[str, Any] = {}
    with reading(places(config).database, int(setting(config, "ledger.busy_ms"))) as con:
        if con is not None:
            con.execute("BEGIN")  # one snapshot for all tables
        for table in TABLES:
            if table not in _WITH_TEXT or text:
                lines = _lines(con, table, since) if con is not None and table in tables_of(con) else ()
                files[table] = _written(os.path.join(folder, f"{table}.jsonl"), lines)
        files[GONE] = _written(os.path.join(folder, f"{GONE}.jsonl"), _gone(con, since))
    manifest = {"format": "admit-ledger", "schema": SCHEMA_VERSION, "tables": files}
    _written(os.path.join(folder, MANIFEST), [canonical(manifest)])
    return manifest


def import_(folder: str, config: Mapping[str, object] | None = None) -> Imported:
    """Add exported rows to the ledger, all or none; what is there already stays as it is.

    Raises:
        UsageError: No manifest, or a file or a row that is not as it was written.
        TooNew: A newer version of Admit exported it.
        LedgerError: The ledger cannot be written.
    """
    tables = _checked(folder)
    unknown: set[str] = set()
    total = 0
    place = places(config)
    try:
        con = open_writer(place.database, int(setting(config, "ledger.busy_ms")))
        try:
            before = count_rows(con)
            with transaction(con):
                for table in TABLES:
                    for row in tables.get(table, ()):
                        unknown.update(f"{table}.{name}" for name in row if name not in COLUMNS[table])
                        values = _values(table, row)
                        if table in EVIDENCE_TABLES:
                            read_row(table, values)
                        write(con, Prepared("", 0, {table: [values]}))
                        total += 1
                for row in tables.get(GONE, ()):
                    con.executemany(
                        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO NOTHING",
                        [
                            (f"gone:{row['writer']}", str(int(row["n"]))),
                            (f"last:{row['writer']}", str(int(row["last"]))),
                        ],
                    )
                new = count_rows(con) - before
        finally:
            con.close()
    except sqlite3.IntegrityError as fault:
        raise UsageError(f"{folder} holds a row that the ledger refuses: {fault}") from fault
    except sqlite3.Error as fault:
        raise as_ledger_error(fault, place.database) from fault
    except (KeyError, TypeError, ValueError, IntegrityError) as fault:
        raise UsageError(f"{folder} holds a row that is none: {fault}") from fault
    except OSError as fault:
        raise LedgerError(f"the ledger cannot be written: {fault}") from fault
    return Imported(total, new, tuple(sorted(unknown)))


def _holds_documents(config: Mapping[str, object] | None) -> bool:
    with reading(places(config).database, int(setting(config, "ledger.busy_ms"))) as con:
        return (
            con is not None
            and "evidence_text" in tables_of(con)
            and con.execute("SELECT EXISTS (SELECT 1 FROM evidence_text)").fetchone()[0]
        )


def _lines(con: sqlite3.Connection, table: str, since: int | None) -> Iterator[bytes]:
    where = f"WHERE {_SINCE[table]}" if since is not None else ""
    query = f"SELECT {', '.join(COLUMNS[table])} FROM {table} {where} ORDER BY rowid"
    for values in con.execute(query, {"since": since}):
        fields = fields_of(table, values)
        yield canonical({column: as_json(value) for column, value in fields.items()})


def _gone(con: sqlite3.Connection | None, since: int | None) -> Iterator[bytes]:
    if con is not None:
        query = _ALL_GONE if since is None else _PART_GONE
        for writer, n, last in con.execute(query, {} if since is None else {"since": since}):
            yield canonical({"writer": writer, "n": n, "last": last})


def _written(path: str, lines: Iterable[bytes]) -> dict[str, Any]:
    digest = hashlib.sha256()
    rows = 0
    fd = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    with os.fdopen(fd, "wb") as file:
        for line in lines:
            file.write(line + b"\n")
            digest.update(line + b"\n")
            rows += 1
    return {"rows": rows, "sha256": digest.hexdigest()}


def _checked(folder: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of every table, once every file is what the manifest says."""
    try:
        manifest = parse(read_all(os.path.join(folder, MANIFEST)))
        schema, tables = manifest["schema"], manifest["tables"]
        if manifest["format"] != "admit-ledger":
            raise ValueError("another format")
        if schema > SCHEMA_VERSION:
            raise TooNew(
                f"{folder} has schema version {schema}, this Admit knows {SCHEMA_VERSION}: update it"
            )
        return {table: _read(folder, table, said) for table, said in tables.items() if _is_known(table)}
    except NotOurs as fault:
        raise UsageError(f"{folder} is refused: {fault}") from fault
    except OSError as fault:
        raise UsageError(f"{folder} is no export: {fault}") from fault
    except (KeyError, TypeError, AttributeError, ValueError) as fault:
        raise UsageError(f"{folder} is no export, or was altered: {fault}") from fault


def _is_known(table: str) -> bool:
    return table in TABLES or table == GONE


def _read(folder: str, table: str, said: Mapping[str, Any]) -> list[dict[str, Any]]:
    data = read_all(os.path.join(folder, f"{table}.jsonl"))
    if hashlib.sha256(data).hexdigest() != said["sha256"]:
        raise ValueError(f"{table}.jsonl does not match the manifest")
    rows = [parse(line) for line in data.splitlines()]
    if len(rows) != said["rows"]:
        raise ValueError(f"{table}.jsonl has {len(rows)} rows, not {said['rows']}")
    for k, row in enumerate(rows, 1):
        if table in HASHED_TABLES and content_hash(row) != row["content_hash"]:
            raise ValueError(f"row {k} of {table}.jsonl does not match its hash")
    return rows


def _values(table: str, row: Mapping[str, Any]) -> tuple[Any, ...]:
    as_text = {
        name: canonical(value).decode() if name in JSON_COLUMNS and value is not None else value
        for name, value in row.items()
    }
    return values_of(table, as_text)
