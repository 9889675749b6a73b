"""Evidence in the upkeep of the ledger: brought forward, retained, salvaged, exported, forgotten."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from admit.core.events import sha256
from admit.errors import Locked, TooNew, UsageError
from admit.ledger.evidence import EvidenceStore, open_store
from admit.ledger.export import export, import_
from admit.ledger.forget import forget
from admit.ledger.key import install_key, keyed
from admit.ledger.places import locked, places
from admit.ledger.record import now_ms
from admit.ledger.recover import recover
from admit.ledger.schema import version_of
from admit.ledger.sqlite import SqliteLedger
from admit.ledger.stats import stats
from admit.ledger.tend import prune_all
from admit.ledger.verify import verify

from .samples import database, record, rows
from .test_evidence import CRITERION, LINKED, NOTE, PAIR, baseline, job, read
from .version1 import make_version_1

TABLES = ("evidence_text", "evidence_job", "evidence_read", "evidence_baseline")


def fill(store: EvidenceStore) -> None:
    """A completed job, what it read, the review that was accepted of it, and an open job."""
    store.add_job(job(manifest={"plan": [1, None]}), texts=(NOTE, CRITERION))
    store.add_read("e-1", 1, lambda earlier: read())
    store.complete_job("e-1", 1, verdict="WARN", reason="judged", review={"é": 0.5}, linked=(LINKED,))
    store.add_job(job("e-2", expected_revision=1))


def told(store: EvidenceStore) -> tuple[object, ...]:
    return store.baselines(), store.jobs(), store.reads("e-1", 1), store.text(sha256(NOTE))


@pytest.fixture
def store(state) -> EvidenceStore:
    return EvidenceStore(places().database, busy_ms=200)


def counts() -> tuple[int, ...]:
    return tuple(rows(f"SELECT count(*) FROM {table}")[0][0] for table in TABLES)


def test_a_database_of_version_1_is_brought_forward_by_the_first_review_and_loses_nothing(store):
    path = make_version_1([record("d1"), record("d2")])
    before = {t: rows(f"SELECT * FROM {t}") for t in ("decisions", "candidates", "verdicts", "judge_calls")}
    fill(store)
    assert {table: rows(f"SELECT * FROM {table}") for table in before} == before
    assert rows("PRAGMA user_version") == [(2,)]
    assert rows("SELECT value FROM meta WHERE key = 'schema_version'") == [("2",)]
    assert rows("SELECT body FROM events WHERE type = 'ledger.migrated'") == [('{"from":1,"to":2}',)]
    assert verify().findings == () and counts() == (2, 2, 1, 1)
    backup = sqlite3.connect(f"{path}.v1.bak")
    assert version_of(backup) == 1 and backup.execute("SELECT count(*) FROM decisions").fetchone() == (2,)
    backup.close()


def test_a_migrated_database_has_the_tables_of_a_new_one(store, tmp_path):
    make_version_1([])
    store.put_text(b"x")
    fresh = tmp_path / "fresh" / "ledger.db"
    EvidenceStore(str(fresh)).put_text(b"x")
    listed = "SELECT type, name, sql FROM sqlite_schema ORDER BY name"
    con = sqlite3.connect(fresh)
    assert rows(listed) == con.execute(listed).fetchall()
    con.close()


def test_reading_an_older_database_finds_no_reviews_and_leaves_it_as_it_is(store, tmp_path):
    path = make_version_1([record("d1")])
    before = Path(path).read_bytes()
    assert told(EvidenceStore(path)) == ((), (), (), None)
    assert stats().schema == 1 and "evidence_job" not in stats().rows
    assert verify().findings == () and verify().rows["decisions"] == 1
    assert export(str(tmp_path / "x"))["tables"]["evidence_job"]["rows"] == 0
    assert Path(path).read_bytes() == before and not os.path.exists(f"{path}.v1.bak")


def test_while_another_process_migrates_a_review_is_told_that_the_ledger_is_held(store):
    path = make_version_1([record("d1")])
    with locked(os.path.join(os.path.dirname(path), ".lock"), 0), pytest.raises(Locked):
        store.put_text(b"x")
    assert rows("PRAGMA user_version") == [(1,)]
    assert store.put_text(b"x")


def test_a_database_that_cannot_be_brought_forward_stays_as_it_is(store, monkeypatch):
    make_version_1([record("d1")])

    def fail(con: sqlite3.Connection) -> None:
        con.execute("CREATE TABLE evidence_text (x TEXT) STRICT")
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr("admit.ledger.schema.migrate.__defaults__", ((fail,),))
    ledger = SqliteLedger()
    ledger.append(record("d2"))
    assert ledger.flush(5_000).spooled == 1
    ledger.close()
    assert rows("PRAGMA user_version") == [(1,)] and rows("SELECT count(*) FROM decisions") == [(1,)]
    assert rows("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'evidence%'") == [(0,)]
    monkeypatch.undo()


def test_texts_that_no_job_and_no_baseline_names_are_collected_and_nothing_else(store):
    fill(store)
    store.put_text(b"nobody's")
    before = told(store)
    prune_all({"ledger.retain_days": 1})
    assert store.text(sha256(b"nobody's")) is None
    assert told(store) == before
    store.retire(*PAIR, expect=1)
    prune_all()
    assert store.text(sha256(NOTE)) == NOTE


def test_what_is_exported_and_imported_is_the_same(store, tmp_path, monkeypatch):
    fill(store)
    before = told(store)
    export(str(tmp_path / "one"), text=True)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    assert import_(str(tmp_path / "one")).new == 6
    assert import_(str(tmp_path / "one")).new == 0
    assert told(EvidenceStore(places().database)) == before
    export(str(tmp_path / "two"), text=True)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_reviewed_documents_leave_only_when_asked_for(store, tmp_path):
    fill(store)
    assert "evidence_text" not in export(str(tmp_path / "without"))["tables"]
    assert not (tmp_path / "without" / "evidence_text.jsonl").exists()
    assert export(str(tmp_path / "with"), text=True)["tables"]["evidence_text"]["rows"] == 2


@pytest.mark.parametrize(
    ("table", "old", "new"),
    [("evidence_baseline", "sha256:", "sha256;"), ("evidence_job", "kb/n.md", "../n.md"),
     ("evidence_text", "base64\":\"", "base64\":\"AAAA")],
)  # fmt: skip
def test_an_export_with_a_malformed_row_is_refused_whole(store, tmp_path, monkeypatch, table, old, new):
    fill(store)
    manifest = export(str(tmp_path / "x"), text=True)
    file = tmp_path / "x" / f"{table}.jsonl"
    data = file.read_text().replace(old, new).encode()
    file.write_bytes(data)
    manifest["tables"][table]["sha256"] = sha256(data).removeprefix("sha256:")
    (tmp_path / "x" / "manifest.json").write_text(json.dumps(manifest))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    with pytest.raises(UsageError, match=table):
        import_(str(tmp_path / "x"))
    assert counts() == (0, 0, 0, 0)


def test_an_import_never_brings_a_revision_that_an_open_job_may_expect(store, tmp_path):
    fill(store)
    export(str(tmp_path / "x"))
    shutil.rmtree(places().state)
    store.accept(baseline(job="e-other"), expect=None)
    import_(str(tmp_path / "x"))
    row = store.baseline(*PAIR)
    assert row is not None and (row.revision, row.job) == (2, "e-other")
    import_(str(tmp_path / "x"))
    assert store.baseline(*PAIR) == row
    with pytest.raises(Exception, match="revision 2"):
        store.complete_job("e-2", 1, verdict="PASS", reason="judged", review=None, linked=())


def test_reviews_are_salvaged_from_a_damaged_database_and_malformed_ones_are_lost(store):
    fill(store)
    before = told(store)
    con = sqlite3.connect(database())
    con.execute("UPDATE evidence_job SET plan_hash = 'x' WHERE job = 'e-2'")
    con.commit()
    con.close()
    os.rename(database(), f"{database()}.damaged-1")
    report = recover()
    assert (report.rows, report.lost) == (5, 1)
    assert told(store) == (before[0], before[1][:1], *before[2:])
    assert verify().findings == ()


def test_of_a_damaged_database_of_version_1_no_review_is_counted_as_lost(state):
    path = make_version_1([record("d1")])
    os.rename(path, f"{path}.damaged-1")
    report = recover()
    assert (report.rows, report.lost, report.migrated) == (7, 0, None)
    assert counts() == (0, 0, 0, 0)


def test_a_newer_database_is_read_and_never_written(store):
    fill(store)
    before = told(store)
    con = sqlite3.connect(database())
    con.execute("PRAGMA user_version=3")
    con.close()
    for act in (lambda: store.put_text(b"x"), lambda: store.accept(baseline(), expect=1)):
        with pytest.raises(TooNew, match="version 3"):
            act()
    assert told(store) == before


@pytest.mark.parametrize("way", ["path", "hash", "name"])
def test_a_project_is_forgotten_with_its_reviews(state, way):
    one, two = open_store({}, "/home/me/one"), open_store({}, "/home/me/two")
    fill(one)
    fill(two)
    ledger = SqliteLedger()
    ledger.append(record("d1", door="evidence", project="/home/me/one"))
    ledger.close()
    hashed = keyed(install_key(), ["/home/me/one"])[0]
    forget(project={"path": "/home/me/one", "hash": hashed, "name": "one"}[way])
    assert told(one)[:3] == ((), (), ()) and len(two.jobs()) == 2
    assert two.text(sha256(NOTE)) == NOTE
    forget(project="/home/me/two")
    assert counts() == (0, 0, 0, 0)


def test_reviews_before_a_time_are_forgotten_with_their_texts(store):
    fill(store)
    forget(before=now_ms() - 60_000)
    assert counts() == (2, 2, 1, 1)
    forget(before=now_ms() + 60_000)
    assert counts() == (0, 0, 0, 0)


def test_all_forgets_every_review(store):
    fill(store)
    forget(everything=True)
    assert counts() == (0, 0, 0, 0)
