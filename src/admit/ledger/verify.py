"""Whether the record is whole: the database, every hash, every number, every stored output."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from admit.core.events import EVENTS
from admit.errors import Corrupt, IntegrityError, OutputNotFound

from .database import account_for, as_ledger_error, damaged_files, open_writer, rows_by_table, to_salvage
from .evidence_rows import EVIDENCE_TABLES
from .evidence_sql import read_row
from .outputs import FileOutputs
from .places import misplaced, places, setting
from .prepare import row_hash
from .reading import gaps, reading
from .retention import transaction
from .schema import COLUMNS, HASHED_TABLES, tables_of

EXAMPLES = 3


class Finding(NamedTuple):
    """One kind of thing that is not as it should be: how often, and a sentence with the fix."""

    kind: str
    n: int
    text: str


class VerifyReport(NamedTuple):
    """What was found.

    Attributes:
        corrupt: The database itself is damaged.
        findings: In the order they were looked for.
        rows: Rows by table.
        unknown: Events by a type that this version does not know; they are no finding.
    """

    corrupt: bool
    findings: tuple[Finding, ...]
    rows: Mapping[str, int]
    unknown: Mapping[str, int]


def verify(config: Mapping[str, object] | None = None, *, fix_counts: bool = False) -> VerifyReport:
    """Check everything; reads all of it once.

    Args:
        fix_counts: Take the missing numbers as known, so that they are reported this once.

    Raises:
        LedgerError: Another process holds the database, or it cannot be read at all.
    """
    place = places(config)
    busy_ms = int(setting(config, "ledger.busy_ms"))
    findings: list[Finding] = []
    rows: dict[str, int] = {}
    unknown: Counter[str] = Counter()
    corrupt = False
    waiting = damaged_files(place.database)
    try:
        with reading(place.database, busy_ms) as con:
            if con is not None:
                findings += _structure(con)
                corrupt = bool(findings)
                waiting = waiting if corrupt else to_salvage(con, place.database)
                if not corrupt:
                    findings += [*_references(con), *_hashes(con), *_evidence(con)]
                    rows = rows_by_table(con)
                    unknown.update(_unknown_types(con))
    except Corrupt as fault:
        findings.append(Finding("corrupt", 1, f"{fault}"))
        corrupt = True
    if not corrupt:
        findings += _gaps(config, fix_counts)
    findings += [Finding("place", 1, f"{odd.text} {odd.fix}") for odd in misplaced(place)]
    findings += _outputs(config)
    for path in waiting:
        findings.append(Finding("damaged", 1, f"{path} was set aside: `admit ledger recover` salvages it."))
    return VerifyReport(corrupt, tuple(findings), rows, dict(sorted(unknown.items())))


def is_sound(con: sqlite3.Connection) -> bool:
    """SQLite's own quick check: pages and rows, not indexes."""
    return [row[0] for row in con.execute("PRAGMA quick_check(1)")] == ["ok"]


def _structure(con: sqlite3.Connection) -> Iterator[Finding]:
    problems = [row[0] for row in con.execute("PRAGMA integrity_check(100)")]
    if problems != ["ok"]:
        text = f"The database is damaged ({problems[0]}): run `admit ledger recover`."
        yield Finding("corrupt", len(problems), text)


def _references(con: sqlite3.Connection) -> Iterator[Finding]:
    broken = con.execute("PRAGMA foreign_key_check").fetchall()
    if broken:
        tables = ", ".join(sorted({row[0] for row in broken}))
        yield Finding(
            "reference",
            len(broken),
            f"Rows of {tables} that hang on no decision: {len(broken):,}.",
        )


def _hashes(con: sqlite3.Connection) -> Iterator[Finding]:
    for table in HASHED_TABLES:
        altered = []
        for values in con.execute(f"SELECT {', '.join(COLUMNS[table])} FROM {table} ORDER BY rowid"):
            if not has_its_hash(table, values):
                altered.append(values[0])
        if altered:
            text = f"Rows of {table} altered after they were written: {len(altered):,} ({_some(altered)})."
            yield Finding("hash", len(altered), text)


def _evidence(con: sqlite3.Connection) -> Iterator[Finding]:
    for table in (one for one in tables_of(con) if one in EVIDENCE_TABLES):
        malformed = []
        for values in con.execute(f"SELECT {', '.join(COLUMNS[table])} FROM {table} ORDER BY rowid"):
            try:
                read_row(table, values)
            except IntegrityError as fault:
                malformed.append(fault.key)
        if malformed:
            text = f"Rows of {table} that are not as they should be: {len(malformed):,} ({_some(malformed)})."
            yield Finding("evidence", len(malformed), text)


def has_its_hash(table: str, values: tuple[object, ...]) -> bool:
    """Whether a row still has the content that its hash was taken over."""
    try:
        return row_hash(table, values) == values[-1]
    except ValueError:
        return False


def _gaps(config: Mapping[str, object] | None, fix: bool) -> Iterator[Finding]:
    place = places(config)
    busy_ms = int(setting(config, "ledger.busy_ms"))
    lost, odd = gaps(place, busy_ms)
    if odd:
        yield Finding("unreadable", 1, odd)
    for writer, n in lost.items():
        yield Finding("gap", n, f"Records lost by writer {writer}, killed before it wrote them: {n:,}.")
    if lost and fix:
        con = open_writer(place.database, busy_ms)
        try:
            with transaction(con):
                for writer, n in lost.items():
                    account_for(con, writer, n)
        except sqlite3.Error as fault:
            raise as_ledger_error(fault, place.database) from fault
        finally:
            con.close()


def _outputs(config: Mapping[str, object] | None) -> Iterator[Finding]:
    """Stored files against their names, and rows against files."""
    store = FileOutputs(config)
    present = set()
    altered = []
    for ref in store.stored():
        present.add(ref.sha256)
        try:
            store.open(ref.id).close()
        except OutputNotFound:
            altered.append(ref.id)
    missing = []
    try:
        with reading(places(config).database) as con:
            if con is not None:
                rows = con.execute(
                    "SELECT output_id, sha256 FROM outputs WHERE gone_ms IS NULL ORDER BY rowid"
                )
                missing = [output_id for output_id, sha256 in rows if sha256 not in present]
    except Corrupt:
        pass  # said already
    if altered:
        text = f"Stored outputs altered, so not given back: {len(altered):,} ({_some(altered)})."
        yield Finding("altered", len(altered), text)
    if missing:
        text = f"Stored outputs deleted by someone: {len(missing):,} ({_some(missing)})."
        yield Finding("deleted", len(missing), text)


def _unknown_types(con: sqlite3.Connection) -> dict[str, int]:
    counts = dict(con.execute("SELECT type, count(*) FROM events GROUP BY type").fetchall())
    return {type: n for type, n in counts.items() if type not in EVENTS}


def _some(names: list[str]) -> str:
    return ", ".join(names[:EXAMPLES]) + (", …" if len(names) > EXAMPLES else "")
