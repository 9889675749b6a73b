"""Verify and recover: what is wrong is found, what can be read is brought back, nothing is overwritten."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from admit.core.events import Event
from admit.errors import Locked, UsageError
from admit.ledger.database import damaged_files, open_writer
from admit.ledger.outputs import FileOutputs
from admit.ledger.places import locked, places
from admit.ledger.port import OutputMeta, Record
from admit.ledger.recover import RecoverReport, check_at_start, recover
from admit.ledger.spool import Spool
from admit.ledger.sqlite import SqliteLedger
from admit.ledger.verify import verify

from .samples import NOW, database, record, rows
from .version1 import make_version_1

PAGE = 4096


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    """A closed ledger with 300 decisions, written once."""
    folder = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as home:
        home.setenv("XDG_STATE_HOME", str(folder))
        ledger = SqliteLedger()
        for k in range(300):
            ledger.append(record(f"d{k:03}", extra={"filling": "x" * 200}))
        ledger.flush(20_000)
        ledger.close()
    return folder / "admit"


@pytest.fixture
def filled(template, state) -> Path:
    shutil.copytree(template, state)
    return database()


def kinds(**options) -> dict[str, int]:
    return {finding.kind: finding.n for finding in verify(**options).findings}


def change(sql: str, *args: object) -> None:
    con = sqlite3.connect(database())
    con.execute(sql, args)
    con.commit()
    con.close()


def spoil(path: Path, page: int) -> None:
    with open(path, "r+b") as file:
        file.seek(page * PAGE)
        file.write(b"\xa5" * PAGE)


def page_of(path: Path, nth: int) -> int:
    """The nth page that holds the filling of decisions."""
    data = path.read_bytes()
    pages = [k for k in range(len(data) // PAGE) if data[k * PAGE : (k + 1) * PAGE].count(b"filling") > 3]
    return pages[nth]


def test_a_whole_record_has_no_findings(filled):
    report = verify()
    assert (report.corrupt, report.findings) == (False, ())
    assert (report.rows["decisions"], report.rows["events"], report.rows["candidates"]) == (300, 300, 600)


def test_nothing_recorded_yet_is_whole():
    assert verify().findings == ()
    assert not database().exists()


@pytest.mark.parametrize("column", ["n_admitted", "ts_ms", "seq"])
def test_a_row_that_was_altered_is_found_by_its_hash(filled, column):
    change(f"UPDATE decisions SET {column} = {column} + 1000 WHERE decision_id = 'd007'")
    assert kinds()["hash"] == 1


def test_an_event_whose_body_is_no_json_any_more_is_found(filled):
    change("UPDATE events SET body = '{' WHERE decision_id = 'd007'")
    assert kinds() == {"hash": 1}


def test_rows_that_hang_on_nothing_are_found(filled):
    change("INSERT INTO verdicts (decision_id, ord, source, verdict) VALUES ('none', 1, 'live', 'admitted')")
    assert kinds() == {"reference": 1}


def test_missing_numbers_are_reported_and_once_fixed_no_more(filled):
    change("DELETE FROM decisions WHERE decision_id IN ('d003', 'd004')")
    change("DELETE FROM events WHERE decision_id IN ('d003', 'd004')")
    change("DELETE FROM candidates WHERE decision_id IN ('d003', 'd004')")
    change("DELETE FROM verdicts WHERE decision_id IN ('d003', 'd004')")
    change("DELETE FROM judge_calls WHERE decision_id IN ('d003', 'd004')")
    (finding,) = verify().findings
    assert finding.kind == "gap" and finding.n == 2 and finding.text.endswith("before it wrote them: 2.")
    assert kinds(fix_counts=True) == {"gap": 2}
    assert kinds() == {}


def test_stored_outputs_that_were_altered_or_deleted_are_found(ledger):
    store = FileOutputs(ledger=ledger)
    altered, deleted, whole = (store.put(name, OutputMeta()) for name in (b"altered", b"deleted", b"whole"))
    ledger.flush(5_000)
    Path(altered.path).write_bytes(b"changed")
    os.unlink(deleted.path)
    texts = {finding.kind: finding.text for finding in verify().findings}
    assert set(texts) == {"altered", "deleted"}
    assert altered.id in texts["altered"] and deleted.id in texts["deleted"]
    assert whole.id not in str(texts)


def test_events_of_a_type_this_version_does_not_know_are_counted_and_no_finding(ledger):
    for k in range(3):
        ledger.append(Record(events=(Event(f"e{k}", "later.thing", NOW, {"new": 1}),)))
    ledger.flush(5_000)
    report = verify()
    assert (report.findings, report.unknown) == ((), {"later.thing": 3})


def test_a_damaged_page_is_corrupt_and_so_is_a_file_that_is_no_database(filled):
    spoil(filled, page_of(filled, 3))
    assert verify().corrupt
    filled.write_bytes(b"no database" * 1_000)
    assert verify().corrupt


def test_recover_salvages_what_is_around_a_damaged_page_and_counts_the_rest(filled):
    page = page_of(filled, 5)
    spoil(filled, page)
    before = filled.read_bytes()
    report = recover()
    assert report.damaged == (f"{filled}.damaged-1",)
    assert Path(report.damaged[0]).read_bytes() == before
    saved = {row[0] for row in rows("SELECT decision_id FROM decisions")}
    assert 270 < len(saved) < 300
    lost_decisions = 300 - len(saved)
    # A lost decision takes its candidates, verdicts and call along.
    assert report.lost == lost_decisions * 6
    assert report.rows == 300 * 7 - report.lost
    assert not verify().corrupt
    assert {row[0] for row in rows("SELECT type FROM events WHERE type LIKE 'ledger.%'")} == {
        "ledger.recovered"
    }


def test_what_was_salvaged_once_is_not_counted_again(filled):
    spoil(filled, page_of(filled, 5))
    first = recover()
    again = recover()
    assert first.lost > 0
    assert (again.rows, again.lost, again.damaged) == (0, 0, first.damaged)


def test_once_it_is_salvaged_a_damaged_copy_is_no_finding_and_another_one_is(filled):
    spoil(filled, page_of(filled, 5))
    assert recover().lost > 0
    assert verify().findings == ()
    Path(f"{filled}.damaged-2").write_bytes(b"")
    assert [finding.kind for finding in verify().findings if finding.kind != "place"] == ["damaged"]


def test_of_a_file_that_is_no_database_nothing_is_saved_and_the_loss_is_said(filled):
    filled.write_bytes(b"no database" * 1_000)
    report = recover()
    assert report.rows == 0 and report.lost >= 1
    assert rows("SELECT count(*) FROM decisions") == [(0,)]


def test_rows_whose_content_does_not_match_their_hash_are_not_salvaged(filled):
    change("UPDATE decisions SET n_admitted = 99 WHERE decision_id = 'd007'")
    os.rename(filled, f"{filled}.damaged-1")
    report = recover()
    assert rows("SELECT count(*) FROM decisions WHERE decision_id = 'd007'") == [(0,)]
    assert report.lost == 1 + 2 + 2 + 1


def test_the_log_of_a_damaged_database_is_salvaged_too(ledger):
    ledger.append(record("d1"))
    ledger.flush(5_000)  # it stands in the log, not in the database
    for side in ("", "-wal"):
        Path(f"{database()}.damaged-1{side}").write_bytes(Path(f"{database()}{side}").read_bytes())
    ledger.close()
    os.unlink(database())
    assert recover().rows == 7
    assert rows("SELECT decision_id FROM decisions") == [("d1",)]


def test_recover_into_another_file_leaves_everything_as_it_is(filled, tmp_path):
    spoil(filled, page_of(filled, 5))
    before = filled.read_bytes()
    into = tmp_path / "into" / "salvaged.db"
    report = recover(into=str(into))
    assert filled.read_bytes() == before and damaged_files(str(filled)) == []
    con = sqlite3.connect(into)
    assert con.execute("SELECT count(*) FROM decisions").fetchone()[0] == 300 - report.lost // 6
    con.close()
    with pytest.raises(UsageError):
        recover(into=str(into))


def test_recover_drains_the_spool_and_counts_what_cannot_be_read(state):
    spool = Spool(places().spool, "w", 1 << 20)
    spool.append(b"no record")
    spool.append(
        b'{"writer":"w","seq":1,"tables":{"decisions":{"all":{},"columns":["colour"],"rows":[[1]]}}}'
    )
    assert recover() == RecoverReport(bad=2)
    assert spool.files() == []


def test_records_from_another_version_lose_only_the_columns_it_does_not_know(state):
    body = (
        b'{"writer":"w","seq":1,"tables":{"moods":{"all":{},"columns":["x"],"rows":[[1]]},'
        b'"recalls":{"all":{"via":"cli","class":"whole","mood":"good"},'
        b'"columns":["recall_id","output_id","ts_ms","chars"],"rows":[["r1","o_1",5,6]]}}}'
    )
    Spool(places().spool, "w", 1 << 20).append(body)
    assert recover().drained == 1
    assert rows("SELECT recall_id, class, via, first FROM recalls") == [("r1", "whole", "cli", 1)]


def test_importing_a_file_twice_changes_nothing(ledger):
    slow = SqliteLedger({"ledger.busy_ms": 1})
    ledger.append(record("d0"))
    ledger.flush(5_000)
    ledger.close()
    other = sqlite3.connect(database(), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    slow.append(record("d1"))
    slow.flush(5_000)
    slow.close()
    other.execute("ROLLBACK")
    other.close()
    (path,) = Spool(places().spool, "x", 0).files()
    whole = Path(path).read_bytes()
    recover()
    before = rows("SELECT * FROM decisions"), rows("SELECT count(*) FROM candidates")
    Path(path).write_bytes(whole)
    os.chmod(path, 0o600)
    recover()
    assert (rows("SELECT * FROM decisions"), rows("SELECT count(*) FROM candidates")) == before
    assert verify().findings == ()


def test_recover_brings_an_older_database_forward(state):
    make_version_1([record("d1")])
    assert recover().migrated == (1, 2)
    assert rows("SELECT body FROM events WHERE type = 'ledger.migrated'") == [('{"from":1,"to":2}',)]
    assert recover().migrated is None


def test_recover_waits_for_another_process_that_drains_and_then_says_so(state):
    Spool(places().spool, "w", 1 << 20).append(b"x")
    with locked(os.path.join(places().spool, ".lock"), 0), pytest.raises(Locked):
        recover({"ledger.busy_ms": 30})


def test_a_process_that_runs_for_long_looks_before_it_writes(filled):
    assert check_at_start() is None
    spoil(filled, page_of(filled, 3))
    assert check_at_start() == f"{filled}.damaged-1"
    assert check_at_start() is None


def test_a_hook_spools_where_the_database_is_older_and_a_command_brings_it_forward(state):
    make_version_1([record("d1")])
    hook = SqliteLedger(migrate=False)
    hook.append(record("later"))
    assert hook.flush(5_000).spooled == 1
    assert any("admit ledger recover" in finding for finding in hook.counters().findings)
    hook.close()
    assert rows("PRAGMA user_version") == [(1,)]
    command = SqliteLedger()
    command.append(record("now"))
    assert command.flush(5_000).committed == 1
    command.close()
    recover()
    assert rows("SELECT decision_id FROM decisions ORDER BY 1") == [("d1",), ("later",), ("now",)]
    assert verify().findings == ()


def test_settings_of_one_connection_name_the_busy_time(filled):
    con = open_writer(str(filled), 77)
    assert con.execute("PRAGMA busy_timeout").fetchone() == (77,)
    con.close()
