"""Tables, rows and the way forward from an older version."""

from __future__ import annotations

import sqlite3

import pytest

from admit.errors import TooNew
from admit.ledger import schema
from admit.ledger.database import open_writer
from admit.ledger.places import places

from .samples import record


@pytest.fixture
def path() -> str:
    place = places().database
    open_writer(place, 100).close()
    return place


def columns(con: sqlite3.Connection, table: str) -> list[tuple[str, str]]:
    return [(row[1], row[2]) for row in con.execute(f"PRAGMA table_info({table})")]


def add_a_column(con: sqlite3.Connection) -> None:
    con.execute("ALTER TABLE recalls ADD COLUMN mood TEXT")


def add_a_table(con: sqlite3.Connection) -> None:
    con.execute("CREATE TABLE moods (mood TEXT PRIMARY KEY) STRICT")


def fail(con: sqlite3.Connection) -> None:
    add_a_column(con)
    raise sqlite3.OperationalError("on purpose")


def test_every_table_has_the_columns_of_its_row_type_in_order(path):
    con = sqlite3.connect(path)
    for table in schema.TABLES:
        assert [name for name, _ in columns(con, table)] == list(schema.COLUMNS[table])


def test_every_table_is_strict_and_settings_are_as_published(path):
    con = open_writer(path, 250)
    strict = {row[1]: row[5] for row in con.execute("PRAGMA table_list") if not row[1].startswith("sqlite_")}
    assert set(strict.values()) == {1}
    expected = {
        "journal_mode": "wal",
        "synchronous": 1,
        "foreign_keys": 1,
        "busy_timeout": 250,
        "auto_vacuum": 2,
        "user_version": schema.SCHEMA_VERSION,
        "wal_autocheckpoint": 1000,
        "journal_size_limit": 8 * 1024 * 1024,
        "trusted_schema": 0,
        "cell_size_check": 1,
        "secure_delete": 2,
    }
    assert {name: con.execute(f"PRAGMA {name}").fetchone()[0] for name in expected} == expected
    con.close()


@pytest.mark.parametrize("table", ["decisions", "candidates", "verdicts", "judge_calls", "events"])
def test_a_row_reads_back_as_it_was(table):
    rec = record("d1", extra={"é": [1, None, {"x": 0.1}]})
    row = {
        "decisions": rec.decision,
        "candidates": rec.candidates[0],
        "verdicts": rec.verdicts[0],
        "judge_calls": rec.calls[0],
        "events": rec.events[0],
    }[table]
    assert schema.from_values(table, schema.to_values(table, row)) == row


def test_deleting_a_decision_takes_what_hangs_on_it(ledger, path):
    ledger.append(record("d1"))
    ledger.flush(5_000)
    con = open_writer(path, 1_000)
    con.execute("DELETE FROM decisions")
    for table in ("candidates", "verdicts", "judge_calls"):
        assert con.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    con.close()


def test_an_older_database_is_brought_forward_step_by_step_after_a_backup(path):
    assert schema.migrate(path, (*schema.MIGRATIONS, add_a_column, add_a_table)) == (2, 4)
    con = sqlite3.connect(path)
    assert schema.version_of(con) == 4
    assert columns(con, "recalls")[-1] == ("mood", "TEXT")
    assert con.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone() == ("4",)
    backup = sqlite3.connect(f"{path}.v2.bak")
    assert schema.version_of(backup) == 2
    assert columns(backup, "recalls") == columns(con, "recalls")[:-1]
    assert schema.migrate(path, (*schema.MIGRATIONS, add_a_column, add_a_table)) is None


def test_a_migration_that_fails_changes_nothing(path):
    with pytest.raises(sqlite3.OperationalError):
        schema.migrate(path, (*schema.MIGRATIONS, add_a_table, fail))
    con = sqlite3.connect(path)
    assert schema.version_of(con) == 2
    assert columns(con, "moods") == []
    assert ("mood", "TEXT") not in columns(con, "recalls")


def test_the_last_two_backups_are_kept(path):
    for steps in range(1, 4):
        schema.migrate(path, (*schema.MIGRATIONS, *(lambda con: None,) * steps))
    assert [backup.rpartition("/")[2] for backup in schema.backups(path)] == [
        "ledger.db.v3.bak",
        "ledger.db.v4.bak",
    ]


def test_a_newer_database_is_never_migrated(path):
    con = sqlite3.connect(path)
    con.execute("PRAGMA user_version=9")
    con.close()
    with pytest.raises(TooNew, match="9"):
        schema.migrate(path)


def test_making_the_tables_twice_changes_nothing(path):
    con = open_writer(path, 100)
    before = con.execute("SELECT value FROM meta ORDER BY key").fetchall()
    schema.create(con)
    assert con.execute("SELECT value FROM meta ORDER BY key").fetchall() == before
    con.close()
