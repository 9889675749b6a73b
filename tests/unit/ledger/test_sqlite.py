"""The SQLite ledger of one process: the queue, the writer, the spool behind it, and every fault."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from admit.errors import Corrupt, Locked
from admit.ledger import connection as connection_module
from admit.ledger import iter_records, open_ledger
from admit.ledger import places as places_module
from admit.ledger import sqlite as sqlite_module
from admit.ledger.database import damaged_files
from admit.ledger.places import places
from admit.ledger.port import DecisionRow, FlushReport, OutputRow, Record, TextRow, ToolUse
from admit.ledger.recover import recover
from admit.ledger.spool import Spool
from admit.ledger.sqlite import SqliteLedger

from .samples import database, event, record, rows

QUICK = {"ledger.busy_ms": 50}


def ids() -> list[str]:
    return [row[0] for row in rows("SELECT decision_id FROM decisions ORDER BY rowid")]


def waiting() -> Spool:
    return Spool(places().spool, "test", 1 << 26)


def holding(path) -> sqlite3.Connection:
    """A connection of another process that keeps the database for itself."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    return other


@pytest.fixture
def made(ledger) -> SqliteLedger:
    """A ledger whose database is there."""
    ledger.append(record("made"))
    assert ledger.flush(5_000) == FlushReport(committed=1)
    return ledger


def test_opening_touches_no_file(state):
    open_ledger()
    assert not state.exists()


def test_a_flush_with_nothing_to_write_is_empty_and_makes_nothing(ledger, state):
    assert ledger.flush(5_000) == FlushReport()
    assert not state.exists()


def test_records_are_written_without_a_flush(ledger):
    ledger.append(record("d1"))
    end = time.monotonic() + 5
    while time.monotonic() < end and not (database().exists() and os.path.getsize(database())):
        time.sleep(0.01)
    ledger.close()
    assert ids() == ["d1"]


def test_a_flush_tells_each_record_once(ledger):
    for k in range(200):
        ledger.append(record(f"d{k}"))
    assert ledger.flush(10_000) == FlushReport(committed=200)
    assert ledger.flush(10_000) == FlushReport()
    assert ids() == [f"d{k}" for k in range(200)]


def test_files_are_private(made, state):
    made.flush(1_000)
    assert os.stat(state).st_mode & 0o777 == 0o700
    for name in os.listdir(state):
        assert os.stat(state / name).st_mode & 0o777 == 0o600, name


def test_rows_of_stored_outputs_wait_for_the_next_decision_or_a_flush(ledger, state):
    ledger.append(Record(outputs=(OutputRow("o_1", "1", 1),)))
    time.sleep(0.1)
    assert not state.exists()
    ledger.append(record("d1"))
    ledger.flush(5_000)
    assert rows("SELECT output_id FROM outputs") == [("o_1",)]


def test_a_disabled_ledger_writes_and_counts_nothing(state):
    ledger = SqliteLedger({"ledger.enabled": False})
    ledger.append(record("d1"))
    assert ledger.flush(1_000) == FlushReport()
    assert list(ledger.query()) == []
    ledger.close()
    assert not database().exists()


def test_readonly_is_for_reading_alone(made):
    reader = open_ledger(readonly=True)
    reader.append(record("d2"))
    reader.flush(1_000)
    assert [view.decision.decision_id for view in reader.query()] == ["made"]


def test_readonly_without_a_database_finds_nothing(state):
    reader = open_ledger(readonly=True)
    assert list(reader.query()) == list(reader.outputs()) == list(reader.tool_uses()) == []
    assert reader.output("o_1") is None
    assert not database().exists()


def test_a_database_locked_by_another_process_sends_records_to_the_spool_and_they_come_back(made):
    ledger = SqliteLedger(QUICK)
    other = holding(database())
    ledger.append(record("d1"))
    assert ledger.flush(5_000) == FlushReport(spooled=1)
    assert waiting().count() == 1
    other.execute("COMMIT")
    other.close()
    assert recover().drained == 1
    assert ids() == ["made", "d1"]
    assert rows("SELECT body FROM events WHERE type = 'ledger.spool_drained'") == [('{"bad":0,"n":1}',)]
    ledger.close()


def test_what_is_late_is_spooled_when_the_wait_ends_and_is_there_once(made):
    other = holding(database())
    slow = SqliteLedger({"ledger.busy_ms": 3_000})
    started = time.monotonic()
    slow.append(record("d1"))
    slow.append(record("d2"))
    assert slow.flush(100) == FlushReport(spooled=2)
    assert time.monotonic() - started < 2
    other.execute("COMMIT")
    other.close()
    slow.close()
    recover()
    assert sorted(ids()) == ["d1", "d2", "made"]
    assert slow.counters().gaps == {}


def test_the_thread_drains_the_spool_after_its_first_write(made):
    spooling = SqliteLedger(QUICK)
    other = holding(database())
    spooling.append(record("d1"))
    spooling.flush(5_000)
    other.execute("COMMIT")
    other.close()
    spooling.close()
    later = SqliteLedger()
    later.append(record("d2"))
    later.flush(5_000)
    later.close()
    assert sorted(ids()) == ["d1", "d2", "made"]
    assert waiting().count() == 0


def test_a_full_queue_goes_straight_to_the_spool(made, monkeypatch):
    monkeypatch.setattr(sqlite_module, "QUEUE_RECORDS", 3)
    ledger = SqliteLedger({"ledger.busy_ms": 2_000})
    other = holding(database())
    ledger.append(record("first"))
    time.sleep(0.2)  # the thread has it in hand, and waits for the lock
    for k in range(5):
        ledger.append(record(f"d{k}"))
    assert waiting().count() == 3
    other.execute("COMMIT")
    other.close()
    assert ledger.flush(10_000) == FlushReport(committed=3, spooled=3)
    ledger.close()
    recover()
    assert sorted(ids()) == ["d0", "d1", "d2", "d3", "d4", "first", "made"]


def test_a_queue_full_of_bytes_goes_to_the_spool_too(made, monkeypatch):
    monkeypatch.setattr(sqlite_module, "QUEUE_BYTES", 20_000)
    ledger = SqliteLedger()
    other = holding(database())
    wide = [
        record(f"d{k}", n=0)._replace(texts=(TextRow(f"hmac:{k}", "task", "x" * 9_000),)) for k in range(6)
    ]
    for rec in wide:
        ledger.append(rec)
    assert waiting().count() == 4
    other.execute("COMMIT")
    other.close()
    assert ledger.flush(10_000) == FlushReport(committed=2, spooled=4)
    ledger.close()


def test_a_corrupt_database_is_set_aside_and_a_new_one_is_started(made):
    made.close()
    database().write_bytes(b"this is no database" * 500)
    ledger = SqliteLedger()
    ledger.append(record("d1"))
    assert ledger.flush(5_000) == FlushReport(committed=1)
    assert ids() == ["d1"]
    (kept,) = damaged_files(str(database()))
    assert Path(kept).read_bytes() == b"this is no database" * 500
    assert any("damaged" in finding for finding in ledger.counters().findings)
    ledger.close()


def test_a_second_damage_does_not_overwrite_the_first(made):
    made.close()
    for _ in range(2):
        database().write_bytes(b"this is no database" * 500)
        ledger = SqliteLedger()
        ledger.append(record("d1"))
        ledger.flush(5_000)
        ledger.close()
    assert [path.rpartition(".")[2] for path in damaged_files(str(database()))] == ["damaged-1", "damaged-2"]


def test_two_writers_that_find_the_same_damage_set_it_aside_once(made):
    made.close()
    database().write_bytes(b"this is no database" * 500)
    ledgers = [SqliteLedger() for _ in range(4)]
    for k, ledger in enumerate(ledgers):
        ledger.append(record(f"d{k}"))
    reports = [ledger.flush(10_000) for ledger in ledgers]
    assert sum(report.committed + report.spooled for report in reports) == 4
    for ledger in ledgers:
        ledger.close()
    recover()
    assert sorted(ids()) == ["d0", "d1", "d2", "d3"]
    assert len(damaged_files(str(database()))) == 1


def test_a_database_that_was_moved_away_is_made_again(made):
    os.rename(database(), f"{database()}.moved")
    made.append(record("d1"))
    assert made.flush(5_000) == FlushReport(committed=1)
    assert ids() == ["d1"]


def test_a_log_without_its_database_is_put_away_and_never_replayed(state):
    state.mkdir(mode=0o700)
    (state / "ledger.db-wal").write_bytes(b"stale")
    os.chmod(state / "ledger.db-wal", 0o600)
    ledger = SqliteLedger()
    ledger.append(record("d1"))
    assert ledger.flush(5_000) == FlushReport(committed=1)
    assert (state / "ledger.db-wal.lost").read_bytes() == b"stale"
    ledger.close()


def test_a_database_of_a_newer_version_is_read_and_never_written(made):
    made.close()
    con = sqlite3.connect(database())
    con.execute("PRAGMA user_version=7")
    con.close()
    ledger = SqliteLedger()
    ledger.append(record("d1"))
    assert ledger.flush(5_000) == FlushReport(spooled=1)
    assert [view.decision.decision_id for view in ledger.query()] == ["made"]
    (finding,) = ledger.counters().findings
    assert "7" in finding and "knows 2" in finding and "update Admit" in finding
    ledger.close()


@pytest.mark.parametrize("name", ["ledger.db", "ledger.db-wal", "ledger.db-shm"])
def test_a_symlink_in_the_place_of_the_database_turns_the_ledger_off(state, tmp_path, name):
    state.mkdir(mode=0o700)
    target = tmp_path / "target"
    (state / name).symlink_to(target)
    ledger = SqliteLedger()
    ledger.append(record("d1"))
    assert ledger.flush(5_000) == FlushReport(dropped=1)
    assert ledger.counters().dropped == {"authority": 1}
    assert not target.exists()
    assert any("off" in finding for finding in ledger.counters().findings)
    assert waiting().count() == 0
    ledger.close()


def test_a_state_folder_that_is_a_symlink_is_refused(state, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    state.symlink_to(elsewhere)
    ledger = SqliteLedger()
    ledger.append(record("d1"))
    assert ledger.flush(5_000) == FlushReport(dropped=1)
    assert os.listdir(elsewhere) == []
    ledger.close()


def test_a_foreign_owner_turns_the_ledger_off(made, monkeypatch):
    made.close()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    ledger = SqliteLedger()
    ledger.append(record("d1"))
    assert ledger.flush(5_000) == FlushReport(dropped=1)
    assert ledger.counters().dropped == {"authority": 1}
    ledger.close()
    monkeypatch.undo()


def test_on_a_network_file_system_the_spool_is_the_ledger(state, monkeypatch):
    monkeypatch.setattr(connection_module, "network_filesystem", lambda path: ("nfs4", ""))
    ledger = SqliteLedger()
    ledger.append(record("d1"))
    ledger.append(record("d2"))
    assert ledger.flush(5_000) == FlushReport(spooled=2)
    assert not database().exists()
    (finding,) = ledger.counters().findings
    assert "nfs4" in finding and "ledger.path" in finding
    ledger.close()


def test_mounts_that_cannot_be_read_are_taken_as_local_with_one_finding(state, monkeypatch):
    def unreadable(*args, **kwargs):
        raise PermissionError("no")

    monkeypatch.setattr(places_module, "open", unreadable, raising=False)
    ledger = SqliteLedger()
    ledger.append(record("d1"))
    assert ledger.flush(5_000) == FlushReport(committed=1)
    assert len(ledger.counters().findings) == 1
    ledger.close()


def test_a_lost_key_empties_the_tool_uses_and_says_so(made):
    made.tool_use(ToolUse("u1", 1, "route", True, ("word",)))
    made.flush(5_000)
    made.close()
    os.unlink(places().key)
    ledger = SqliteLedger()
    ledger.append(record("d1"))
    ledger.flush(5_000)
    assert list(ledger.tool_uses()) == []
    assert ids() == ["made", "d1"]
    assert any("key" in finding for finding in ledger.counters().findings)
    ledger.close()


def test_a_record_that_the_tables_refuse_is_dropped_alone_and_told_in_an_event(made):
    odd = record("odd")._replace(verdicts=(record("other").verdicts[0],))  # hangs on no decision
    for rec in (record("d1"), odd, record("d2")):
        made.append(rec)
    assert made.flush(5_000) == FlushReport(committed=2, dropped=1)
    assert ids() == ["made", "d1", "d2"]
    made.close()
    assert rows("SELECT body FROM events WHERE type = 'ledger.dropped'") == [('{"refused":1}',)]


def test_numbers_that_died_in_a_queue_show_as_a_gap(made):
    made.append(record("d1"))
    made.flush(5_000)
    con = sqlite3.connect(database())
    con.execute("PRAGMA foreign_keys=ON")
    con.execute("DELETE FROM events WHERE decision_id = 'made'")
    con.execute("DELETE FROM decisions WHERE decision_id = 'made'")
    con.commit()
    con.close()
    (writer,) = {row[0] for row in rows("SELECT writer FROM decisions")}
    assert made.counters().gaps == {writer: 1}


def test_what_waits_in_the_spool_is_no_gap(made):
    ledger = SqliteLedger(QUICK)
    os.makedirs(places().spool, mode=0o700)
    other = holding(database())
    with places_module.locked(os.path.join(places().spool, ".lock"), 0):  # nobody drains meanwhile
        ledger.append(record("d1"))
        ledger.flush(5_000)
        other.execute("COMMIT")
        other.close()
        ledger.append(record("d2"))
        ledger.flush(5_000)
        assert ids() == ["made", "d2"]
        assert ledger.counters().gaps == {}
    ledger.close()


def test_texts_are_kept_where_the_user_opted_in_and_expire(state):
    ledger = SqliteLedger({"ledger.text": "redacted", "ledger.text_days": 2})
    ledger.append(record("d1")._replace(texts=(TextRow("hmac:t", "task", "words"),)))
    ledger.flush(5_000)
    ((text, expires),) = rows("SELECT text, expires_ms FROM texts")
    assert text == "words" and abs(expires - (time.time() * 1000 + 2 * 86_400_000)) < 60_000
    ledger.close()


def test_names_of_projects_are_left_out_where_the_user_says_so(state):
    ledger = SqliteLedger({"ledger.store_names": False})
    ledger.append(record("d1", project="/home/me/place"))
    ledger.flush(5_000)
    assert next(ledger.query()).decision.project == ledger.keyed(["/home/me/place"])[0]
    ledger.close()


def test_append_never_raises_whatever_it_is_given(ledger):
    for odd in (None, 7, "text", Record(decision=None), Record(decision=DecisionRow(decision_id=None))):  # type: ignore[arg-type]
        ledger.append(odd)
    report = ledger.flush(5_000)
    assert report.committed + report.dropped >= 2
    ledger.append(record("d1"))
    assert ledger.flush(5_000).committed == 1


def test_many_threads_may_append_at_once(ledger):
    def write(name: str) -> None:
        for k in range(50):
            ledger.append(record(f"{name}{k}"))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report = ledger.flush(20_000)
    assert (report.committed + report.spooled, report.dropped) == (200, 0)
    ledger.close()
    recover()
    assert len(ids()) == 200
    assert SqliteLedger().counters().gaps == {}


def test_a_fork_has_its_own_writer_and_harms_no_ones_records(made):
    child = os.fork()
    if child == 0:
        made.append(record("child"))
        os._exit(0 if made.flush(10_000).committed == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    made.append(record("parent"))
    assert made.flush(5_000).committed == 1
    assert sorted(ids()) == ["child", "made", "parent"]
    assert len({row[0] for row in rows("SELECT writer FROM decisions")}) == 2
    assert made.counters().gaps == {}


def test_a_process_that_ends_without_a_flush_still_writes(state):
    code = (
        "from admit.ledger import open_ledger\n"
        "from admit.ledger.port import DecisionRow, Record\n"
        "open_ledger().append(Record(DecisionRow('d1')))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
    assert ids() == ["d1"]


def test_sqlite_is_loaded_by_the_thread_alone():
    code = (
        "import sys\n"
        "from admit.ledger import open_ledger, open_outputs\n"
        "from admit.ledger.port import DecisionRow, OutputMeta, Record\n"
        "import admit.ledger.record\n"
        "ledger = open_ledger()\n"
        "store = open_outputs(ledger=ledger)\n"
        "store.put(b'x', OutputMeta())\n"
        "ledger.keyed(['x'])\n"
        "heavy = {'sqlite3', 'pydantic', 'rich', 'numpy', 'dataclasses', 'asyncio', 'tempfile', 'pathlib'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], check=True, timeout=30, capture_output=True, text=True
    )
    assert found.stdout.strip() == "[]"


def test_a_query_of_a_damaged_database_says_so(made):
    made.close()
    database().write_bytes(b"this is no database" * 500)
    with pytest.raises(Corrupt):
        list(made.query())
    with pytest.raises(Corrupt):
        open_ledger(readonly=True)
    assert made.counters().findings


def test_a_row_that_holds_no_json_is_damage_and_no_crash(made):
    con = sqlite3.connect(database())
    con.execute("UPDATE decisions SET extra = '{'")
    con.commit()
    con.close()
    with pytest.raises(Corrupt):
        list(made.query())


def test_a_query_of_a_locked_database_says_so(made):
    made.close()
    con = sqlite3.connect(database(), isolation_level=None)
    con.execute("PRAGMA journal_mode=DELETE")
    con.close()
    other = holding(database())
    with pytest.raises(Locked):
        open_ledger(QUICK, readonly=True)
    other.close()


def test_records_are_read_in_the_order_they_were_written_what_hangs_on_none_last(made, state):
    made.append(Record(events=(event("loose", type="admit.shed"),)))
    made.append(record("d2", output_id="o_2"))
    made.append(Record(outputs=(OutputRow("o_1", "1", 1), OutputRow("o_2", "2", 1))))
    made.tool_use(ToolUse("u1", 1, "route", True))
    made.flush(5_000)
    read = list(iter_records(str(state)))
    assert [rec.decision.decision_id for rec in read if rec.decision] == ["made", "d2"]
    assert read[0].candidates == record("made").candidates
    assert [row.output_id for row in read[1].outputs] == ["o_2"]
    assert [one.event_id for rec in read[2:] for one in rec.events] == ["loose"]
    assert [row.output_id for rec in read[2:] for row in rec.outputs] == ["o_1"]
    assert [use.use_id for rec in read for use in rec.tool_uses] == ["u1"]
    assert list(iter_records(str(database()))) == read
    assert list(iter_records(str(state / "nothing.db"))) == []
