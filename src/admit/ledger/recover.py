"""Bringing back what is outside the database: the spool, and what a damaged database still holds."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from admit.core.events import Event
from admit.errors import Corrupt, IntegrityError, LedgerError, Locked, UsageError

from .database import (
    SIDES,
    account_for,
    as_ledger_error,
    cause_of,
    damaged_files,
    lost_by_writer,
    open_writer,
    salvaged_mark,
    set_aside,
    to_salvage,
    write,
)
from .drain import drain_into
from .evidence_rows import EVIDENCE_TABLES
from .evidence_sql import read_row
from .key import keyed, load_key
from .places import places, setting
from .port import SCHEMA_VERSION, Record
from .prepare import Keeper, Prepared, prepare
from .reading import reading
from .record import new_id, now_ms
from .retention import transaction
from .schema import COLUMNS, HASHED_TABLES, TABLES, tables_of, version_of
from .spool import Spool
from .verify import has_its_hash, is_sound

# Beyond this many single look-ups in one table its unreadable middle is given up, and counted.
PROBES = 1_000_000


class RecoverReport(NamedTuple):
    """What was brought back.

    Attributes:
        rows, lost: Rows salvaged from damaged databases, and rows there that could not be.
        drained, bad: Records imported from the spool, and those there that could not be read.
        damaged: The damaged databases that stand beside the ledger; they are never changed.
        migrated: From which schema version to which, where an older database was brought forward.
    """

    rows: int = 0
    lost: int = 0
    drained: int = 0
    bad: int = 0
    damaged: tuple[str, ...] = ()
    migrated: tuple[int, int] | None = None


class OwnWriter:
    """Numbers and hashes the records that a command makes itself."""

    def __init__(self, config: Mapping[str, object] | None) -> None:
        key = load_key(places(config).key).key
        self._id = os.urandom(8).hex()
        self._seq = 0
        self._keeper = Keeper(lambda texts: keyed(key, texts))

    def record(self, type: str, body: Mapping[str, Any]) -> Prepared:
        """A record with one event."""
        self._seq += 1
        event = Event(new_id(), type, now_ms(), body)
        return prepare(Record(events=(event,)), self._id, self._seq, self._keeper)


def recover(config: Mapping[str, object] | None = None, into: str | None = None) -> RecoverReport:
    """Bring an older database forward, set a damaged one aside, drain the spool, salvage what was set aside.

    Args:
        into: Salvage into this new file instead; the ledger and the spool stay as they are.

    Raises:
        UsageError: `into` exists.
        LedgerError: Another process holds the database, or the place cannot be written.
    """
    place = places(config)
    busy_ms = int(setting(config, "ledger.busy_ms"))
    try:
        if into is not None:
            return _salvaged_into(os.path.abspath(into), place.database, busy_ms)
        before = _sound_version(place.database, busy_ms)
        migrated = (before, SCHEMA_VERSION) if 0 < before < SCHEMA_VERSION else None
        con = open_writer(place.database, busy_ms)
        try:
            own = OwnWriter(config)
            spool = Spool(place.spool, "recover", int(setting(config, "ledger.spool_max_bytes")))
            drained = drain_into(con, spool, own.record, wait_ms=busy_ms)
            if drained is None:
                raise Locked("another process is draining the spool; try again")
            rows = lost = 0
            damaged = damaged_files(place.database)
            for path in to_salvage(con, place.database):
                salvaged, gone = _salvage(path, con)
                with transaction(con):
                    con.execute("INSERT INTO meta VALUES (?, ?)", (salvaged_mark(path), f"{salvaged},{gone}"))
                    write(con, own.record("ledger.recovered", {"rows": salvaged, "lost": gone}))
                rows, lost = rows + salvaged, lost + gone
            if lost:
                # Their numbers are missing for a reason that is told here, so they are no gap from now on.
                with transaction(con):
                    for writer, n in lost_by_writer(con).items():
                        account_for(con, writer, n)
        finally:
            con.close()
    except sqlite3.Error as fault:
        raise as_ledger_error(fault, place.database) from fault
    except OSError as fault:
        raise LedgerError(f"the ledger cannot be recovered: {fault}") from fault
    return RecoverReport(rows, lost, drained.records, drained.bad, tuple(damaged), migrated)


def check_at_start(config: Mapping[str, object] | None = None) -> str | None:
    """Set a damaged database aside, for a process that is going to run for long; gives its new name.

    Raises:
        LedgerError, OSError: It cannot be looked at, or not be renamed.
    """
    place = places(config)
    if not _is_damaged(place.database, int(setting(config, "ledger.busy_ms"))):
        return None
    return set_aside(place.database, None, int(setting(config, "ledger.busy_ms")))


def _sound_version(database: str, busy_ms: int) -> int:
    """The version of the database; 0 where there is none, or a damaged one that is now set aside."""
    if _is_damaged(database, busy_ms):
        set_aside(database, None, busy_ms)
    with reading(database, busy_ms) as con:
        return 0 if con is None else version_of(con)


def _is_damaged(database: str, busy_ms: int) -> bool:
    try:
        with reading(database, busy_ms) as con:
            return con is not None and not is_sound(con)
    except Corrupt:
        return True


def _salvaged_into(into: str, database: str, busy_ms: int) -> RecoverReport:
    if os.path.lexists(into):
        raise UsageError(f"{into} exists; name a new file")
    sources = damaged_files(database)
    damaged = tuple(sources)
    if os.path.exists(database) and _is_damaged(database, busy_ms):
        sources.append(database)
    con = open_writer(into, busy_ms)
    try:
        counts = [_salvage(path, con) for path in sources]
    finally:
        con.close()
    return RecoverReport(sum(rows for rows, _ in counts), sum(lost for _, lost in counts), damaged=damaged)


def _salvage(path: str, con: sqlite3.Connection) -> tuple[int, int]:
    """Copy every readable row of a damaged database, table by table; gives rows copied and rows lost.

    It works on a copy: opening a database folds its log into it, and the damaged one must stay as it is.
    """
    with tempfile.TemporaryDirectory(prefix="admit-recover-") as folder:
        copy = os.path.join(folder, "damaged.db")
        for side in SIDES[:2]:
            if os.path.exists(path + side):
                shutil.copyfile(path + side, copy + side)
        source = sqlite3.connect(copy, isolation_level=None)
        try:
            rows = lost = 0
            for table in _tables(source):
                with transaction(con):
                    for found in _rows(source, table):
                        if found is not None and _copied(con, table, found):
                            rows += 1
                        else:
                            lost += 1
            _copy_accounts(source, con)
            return rows, lost
        finally:
            source.close()


def _tables(source: sqlite3.Connection) -> tuple[str, ...]:
    """Those that it had when it was sound; all of them where that cannot be read any more."""
    try:
        return tables_of(source) or tuple(TABLES)
    except sqlite3.Error:
        return tuple(TABLES)


def _copied(con: sqlite3.Connection, table: str, values: tuple[Any, ...]) -> bool:
    if table in HASHED_TABLES and not has_its_hash(table, values):
        return False
    try:
        if table in EVIDENCE_TABLES:
            read_row(table, values)
        write(con, Prepared("", 0, {table: [values]}))
        return True
    except IntegrityError:
        return False
    except (sqlite3.Error, OverflowError) as fault:
        if cause_of(fault) != "refused":
            raise
        return False


def _rows(source: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...] | None]:
    """Every row that can be read, from both ends and then one by one in between; None for one that cannot."""
    columns = ", ".join(COLUMNS[table])
    first, last = 0, None
    try:
        for rowid, *values in source.execute(f"SELECT rowid, {columns} FROM {table} ORDER BY rowid"):
            yield tuple(values)
            first = rowid
        return
    except sqlite3.Error:
        pass
    backwards: list[tuple[Any, ...]] = []
    try:
        query = f"SELECT rowid, {columns} FROM {table} WHERE rowid > ? ORDER BY rowid DESC"
        for rowid, *values in source.execute(query, (first,)):
            backwards.append(tuple(values))
            last = rowid
    except sqlite3.Error:
        pass
    last = last if last is not None else _highest(source, table)
    if last is None or last - first > PROBES:
        yield None
    else:
        for rowid in range(first + 1, last):
            try:
                found = source.execute(f"SELECT {columns} FROM {table} WHERE rowid = ?", (rowid,)).fetchone()
            except sqlite3.Error:
                yield None
            else:
                if found is not None:
                    yield found
    yield from reversed(backwards)


def _highest(source: sqlite3.Connection, table: str) -> int | None:
    """One past the number of rows, as an index may still know it where the table does not."""
    try:
        return source.execute(f"SELECT count(*) FROM {table}").fetchone()[0] + 1
    except sqlite3.Error:
        return None


def _copy_accounts(source: sqlite3.Connection, con: sqlite3.Connection) -> None:
    try:
        accounts = source.execute(
            "SELECT key, value FROM meta WHERE key LIKE 'gone:%' OR key LIKE 'last:%'"
        ).fetchall()
    except sqlite3.Error:
        return
    with transaction(con):
        con.executemany("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO NOTHING", accounts)
