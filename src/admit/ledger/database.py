"""One connection to the database: how it is opened, what is written over it, and what its errors mean."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from typing import Any

from admit.config.places import state_dir
from admit.core.events import Event
from admit.errors import Corrupt, LedgerError, Locked, TooNew

from . import schema
from .places import check_file, locked, open_file, own_folder
from .port import SCHEMA_VERSION, Record
from .prepare import Keeper, Prepared, prepare
from .record import now_ms
from .rows import new_id
from .schema import COLUMNS, TABLES

LOCK_NAME = ".lock"
SIDES = ("", "-wal", "-shm")

# SQLite's result codes (sqlite.org/rescode.html), by the cause they are counted under.
_CAUSES = {
    sqlite3.SQLITE_BUSY: "busy",
    sqlite3.SQLITE_LOCKED: "busy",
    sqlite3.SQLITE_READONLY: "readonly",
    sqlite3.SQLITE_PERM: "readonly",
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_CORRUPT: "corrupt",
    sqlite3.SQLITE_NOTADB: "corrupt",
    sqlite3.SQLITE_CONSTRAINT: "refused",
    sqlite3.SQLITE_MISMATCH: "refused",
    sqlite3.SQLITE_TOOBIG: "refused",
}
_SETTINGS = (
    "synchronous=NORMAL",
    "foreign_keys=ON",
    "wal_autocheckpoint=1000",
    "journal_size_limit=8388608",
    "trusted_schema=OFF",
    "cell_size_check=ON",
    "secure_delete=FAST",
)


def _insert(table: str, conflict: str = "ON CONFLICT DO NOTHING") -> str:
    columns = COLUMNS[table]
    marks = ", ".join("?" * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks}) {conflict}"


# A stored output is known again: what is newer holds, and being stored again ends being gone.
_OUTPUT_AGAIN = """DO UPDATE SET
    output_id = excluded.output_id, sha256 = excluded.sha256,
    bytes = max(excluded.bytes, outputs.bytes), complete = min(excluded.complete, outputs.complete),
    lines = coalesce(excluded.lines, outputs.lines), tool = coalesce(excluded.tool, outputs.tool),
    session = coalesce(excluded.session, outputs.session),
    exit_code = coalesce(excluded.exit_code, outputs.exit_code),
    pinned = max(excluded.pinned, outputs.pinned), stored_ms = max(excluded.stored_ms, outputs.stored_ms),
    last_used_ms = max(excluded.last_used_ms, outputs.last_used_ms),
    gone_reason = CASE WHEN excluded.gone_ms IS NOT NULL THEN excluded.gone_reason
        WHEN excluded.stored_ms > outputs.gone_ms THEN NULL ELSE outputs.gone_reason END,
    gone_ms = CASE WHEN excluded.gone_ms IS NOT NULL THEN excluded.gone_ms
        WHEN excluded.stored_ms > outputs.gone_ms THEN NULL ELSE outputs.gone_ms END"""
_INSERTS = {table: _insert(table) for table in TABLES}
_INSERTS["outputs"] = _insert(
    "outputs", f"ON CONFLICT (output_id) {_OUTPUT_AGAIN} ON CONFLICT (sha256) {_OUTPUT_AGAIN}"
)
# What stands is kept, under a revision that no job of either line can expect.
_INSERTS["evidence_baseline"] = _insert(
    "evidence_baseline",
    """ON CONFLICT DO UPDATE SET revision = excluded.revision + 1
    WHERE excluded.revision > evidence_baseline.revision
    OR (excluded.revision = evidence_baseline.revision AND excluded.job <> evidence_baseline.job)""",
)
_INSERTS["recalls"] = (
    f"INSERT INTO recalls ({', '.join(COLUMNS['recalls'])}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
    "coalesce(?9, NOT EXISTS (SELECT 1 FROM recalls WHERE output_id = ?2))) ON CONFLICT DO NOTHING"
)


def open_writer(path: str, busy_ms: int, *, migrate: bool = True) -> sqlite3.Connection:
    """Open the database for writing; make it where there is none, and bring an older one forward.

    Args:
        migrate: Whether it may be brought forward here; a hook must not wait for that.

    Raises:
        NotOurs: A symlink or another user's file.
        TooNew: A newer version of Admit wrote it.
        LedgerError: An older version wrote it, and it may not be brought forward here.
        OSError, sqlite3.Error: As they come.
    """
    folder = os.path.dirname(path)
    own_folder(folder, ours=folder == state_dir())
    for side in SIDES:
        check_file(path + side)
    if not os.path.lexists(path):
        _make_file(path, busy_ms)
    con = sqlite3.connect(
        f"file:{_in_uri(path)}?mode=rw",
        uri=True,
        timeout=busy_ms / 1000,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        version = schema.version_of(con)
        if version == 0:
            with locked(os.path.join(folder, LOCK_NAME), busy_ms) as held:
                if not held:
                    raise Locked(f"another process is making {path}")
                schema.create(con)
        elif version > SCHEMA_VERSION:
            raise TooNew(
                f"{path} has schema version {version} and this Admit knows {SCHEMA_VERSION}: update Admit. "
                "Until then records wait in the spool."
            )
        elif version < SCHEMA_VERSION and not migrate:
            raise LedgerError(
                f"{path} has schema version {version} and this Admit writes {SCHEMA_VERSION}: the daemon and "
                "the commands bring it forward, as `admit ledger recover` does. Until then records wait in "
                "the spool."
            )
        elif version < SCHEMA_VERSION:
            _bring_forward(con, path)
        for pragma in _SETTINGS:
            con.execute(f"PRAGMA {pragma}")
        return con
    except BaseException:
        con.close()
        raise


def open_reader(path: str, busy_ms: int) -> sqlite3.Connection | None:
    """Open the database for reading only; None where there is none.

    Raises:
        Corrupt: It is no database, or damaged.
        Locked: Another process holds it.
        LedgerError: It cannot be read.
    """
    try:
        if check_file(path) is None or not os.path.getsize(path):
            return None
        con = sqlite3.connect(
            f"file:{_in_uri(path)}?mode=ro", uri=True, timeout=busy_ms / 1000, isolation_level=None
        )
        try:
            con.execute("PRAGMA trusted_schema=OFF")
            if schema.version_of(con) == 0:
                con.close()
                return None
            con.execute("SELECT count(*) FROM meta").fetchone()
        except BaseException:
            con.close()
            raise
        return con
    except sqlite3.Error as fault:
        raise as_ledger_error(fault, path) from fault
    except OSError as fault:
        raise LedgerError(f"the ledger cannot be read: {fault}") from fault


def cause_of(fault: BaseException) -> str:
    """The word an error is counted under."""
    code = getattr(fault, "sqlite_errorcode", None)
    if code is not None:
        return _CAUSES.get(code & 0xFF, "io")
    return "refused" if isinstance(fault, (sqlite3.Error, OverflowError)) else "io"


def as_ledger_error(fault: sqlite3.Error, path: str) -> LedgerError:
    """The error of the ledger that an error of SQLite means."""
    cause = cause_of(fault)
    if cause == "corrupt":
        return Corrupt(f"{path} is damaged ({fault}): run `admit ledger recover`")
    if cause == "busy":
        return Locked(f"another process holds {path}; try again")
    return LedgerError(f"{path}: {fault}")


def write(con: sqlite3.Connection, prepared: Prepared) -> None:
    """Insert one record inside the transaction under way; a record that was written before changes nothing.

    Raises:
        sqlite3.Error: Nothing of this record is in the transaction.
    """
    con.execute("SAVEPOINT record")
    try:
        numbered = 0
        for table, rows in prepared.tables.items():
            inserted = con.executemany(_INSERTS[table], rows).rowcount
            numbered += inserted if table in schema.HASHED_TABLES else 0
        if prepared.seq and not numbered and not _stands(con, prepared):
            # A repeat of a record took a number that no row will show.
            account_for(con, prepared.writer, 1, prepared.seq)
        con.execute("RELEASE record")
    except BaseException:
        if con.in_transaction:  # some errors of SQLite have ended the transaction already
            con.execute("ROLLBACK TO record")
            con.execute("RELEASE record")
        raise


def account_for(con: sqlite3.Connection, writer: str, n: int, last: int = 0) -> None:
    """Remember that `n` numbers of a writer are missing for a known reason, so that they are no gap.

    Args:
        last: The highest of them: a writer's numbers run at least up to it.
    """
    con.execute(
        "INSERT INTO meta VALUES ('gone:' || ?1, CAST(?2 AS TEXT)) ON CONFLICT (key) "
        "DO UPDATE SET value = CAST(CAST(value AS INTEGER) + ?2 AS TEXT)",
        (writer, n),
    )
    con.execute(
        "INSERT INTO meta VALUES ('last:' || ?1, CAST(?2 AS TEXT)) ON CONFLICT (key) "
        "DO UPDATE SET value = CAST(max(CAST(value AS INTEGER), ?2) AS TEXT)",
        (writer, last),
    )


def set_aside(path: str, opened: os.stat_result | None, wait_ms: int) -> str | None:
    """Rename a damaged database to ``<path>.damaged-<n>``; it is never changed or deleted.

    Args:
        opened: The file that was found damaged. Where another one stands there by now, nothing is done:
            another process set the damaged one aside.

    Returns:
        The new name, or None.
    """
    with locked(os.path.join(os.path.dirname(path), LOCK_NAME), wait_ms) as held:
        present = check_file(path)
        if not held or present is None or (opened is not None and not os.path.samestat(present, opened)):
            return None
        n = 1
        while os.path.lexists(f"{path}.damaged-{n}"):
            n += 1
        target = f"{path}.damaged-{n}"
        # The database last: until it has its new name, the next process finds all of it or none.
        for side in reversed(SIDES):
            if os.path.lexists(path + side):
                os.rename(path + side, target + side)
        return target


def damaged_files(path: str) -> list[str]:
    """The damaged databases that stand beside `path`, oldest first."""
    prefix = os.path.basename(path) + ".damaged-"
    try:
        names = os.listdir(os.path.dirname(path))
    except OSError:
        return []
    numbers = sorted(int(name[len(prefix) :]) for name in names if _is_numbered(name, prefix))
    return [f"{path}.damaged-{n}" for n in numbers]


def salvaged_mark(path: str) -> str:
    """Under which key of `meta` it stands that a damaged database was salvaged."""
    return f"recovered:{os.path.basename(path)}"


def to_salvage(con: sqlite3.Connection | None, path: str) -> list[str]:
    """The damaged databases beside `path` that nothing was salvaged from yet, oldest first."""
    done = set() if con is None else {key for (key,) in con.execute("SELECT key FROM meta")}
    return [damaged for damaged in damaged_files(path) if salvaged_mark(damaged) not in done]


def lost_by_writer(con: sqlite3.Connection) -> dict[str, int]:
    """Records that a writer numbered and that are not there, by writer; none that are accounted for."""
    rows = con.execute(
        """SELECT n.writer, max(max(n.seq), coalesce(CAST(last.value AS INTEGER), 0)) - count(*)
            - coalesce(CAST(gone.value AS INTEGER), 0) AS lost
        FROM (SELECT writer, seq FROM decisions UNION SELECT writer, seq FROM events) AS n
        LEFT JOIN meta AS gone ON gone.key = 'gone:' || n.writer
        LEFT JOIN meta AS last ON last.key = 'last:' || n.writer
        GROUP BY n.writer HAVING lost > 0 ORDER BY n.writer"""
    )
    return dict(rows.fetchall())


def count_rows(con: sqlite3.Connection) -> int:
    """Rows of all tables together."""
    return sum(rows_by_table(con).values())


def rows_by_table(con: sqlite3.Connection) -> dict[str, int]:
    """Rows of each table that its version has."""
    count = "SELECT count(*) FROM {}"
    return {table: con.execute(count.format(table)).fetchone()[0] for table in schema.tables_of(con)}


def read_rows(con: sqlite3.Connection, table: str, tail: str = "", args: Iterable[Any] = ()) -> list[Any]:
    """Rows of a table as their own type; `tail` is what follows the table's name.

    Raises:
        ValueError: A row does not hold what its column should.
    """
    columns = ", ".join(f"{table}.{column}" for column in COLUMNS[table])
    cursor = con.execute(f"SELECT {columns} FROM {table} {tail}", tuple(args))
    return [schema.from_values(table, values) for values in cursor]


def _in_uri(path: str) -> str:
    """A path as a file URI takes it (sqlite.org/uri.html)."""
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _bring_forward(con: sqlite3.Connection, path: str) -> None:
    """Migrate, and write down that it was done."""
    migrated = schema.migrate(path)
    if migrated is None:
        return  # another process was quicker
    event = Event(new_id(), "ledger.migrated", now_ms(), {"from": migrated[0], "to": migrated[1]})
    # It holds nothing that would have to be hashed.
    prepared = prepare(Record(events=(event,)), os.urandom(8).hex(), 1, Keeper(lambda texts: ()))
    con.execute("BEGIN IMMEDIATE")
    write(con, prepared)
    con.execute("COMMIT")


def _make_file(path: str, busy_ms: int) -> None:
    """Make an empty private file. A log without its database belongs to no one and is put away first."""
    with locked(os.path.join(os.path.dirname(path), LOCK_NAME), busy_ms) as held:
        if held and not os.path.lexists(path):
            for side in SIDES[1:]:
                if os.path.lexists(path + side):
                    os.replace(path + side, f"{path}{side}.lost")
            os.close(open_file(path, os.O_RDWR | os.O_CREAT | os.O_EXCL))


def _stands(con: sqlite3.Connection, prepared: Prepared) -> bool:
    """Whether the record itself is there, under its own number."""
    found = "SELECT 1 FROM {} WHERE writer = ? AND seq = ? AND {} = ?"
    for table in schema.HASHED_TABLES:
        rows = prepared.tables.get(table)
        if rows:
            query = found.format(table, COLUMNS[table][0])
            return con.execute(query, (prepared.writer, prepared.seq, rows[0][0])).fetchone() is not None
    return False


def _is_numbered(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and name[len(prefix) :].isdigit()
