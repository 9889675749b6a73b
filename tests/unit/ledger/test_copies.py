"""Export, import, forget, stats and pruning by hand."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from pathlib import Path

import pytest

from admit.errors import TooNew, UsageError
from admit.ledger import iter_records
from admit.ledger.export import export, import_
from admit.ledger.forget import forget
from admit.ledger.key import install_key
from admit.ledger.outputs import FileOutputs
from admit.ledger.places import places
from admit.ledger.port import OutputMeta, Record, TextRow, ToolUse
from admit.ledger.spool import Spool
from admit.ledger.sqlite import SqliteLedger
from admit.ledger.stats import stats
from admit.ledger.tend import prune_all
from admit.ledger.verify import verify

from .samples import NOW, database, event, recall, record, rows

DAY_MS = 86_400_000
TEXTS = {"ledger.text": "full"}


def fill(ledger: SqliteLedger, n: int = 5) -> None:
    store = FileOutputs(ledger=ledger)
    for k in range(n):
        ref = store.put(b"output %d" % k, OutputMeta("bash", f"s{k}", k))
        ledger.append(
            record(
                f"d{k}",
                session=f"s{k}",
                project=f"/home/me/p{k}",
                ts_ms=NOW + k * DAY_MS,
                output_id=ref.id,
                extra={"é": 0.1 + k, "surrogate": "\ud800"},
            )._replace(events=(event(f"e{k}", session=f"s{k}", ts_ms=NOW + k * DAY_MS),))
        )
        store.recalled(recall(f"r{k}", ref.id, session=f"s{k}"))
        ledger.tool_use(ToolUse(f"u{k}", NOW, f"route{k % 2}", True, ("word",), f"d{k}", f"s{k}"))
    ledger.flush(10_000)


@pytest.fixture
def filled(ledger) -> SqliteLedger:
    fill(ledger)
    return ledger


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def move_home(monkeypatch, home: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(home))


def test_export_import_export_is_byte_identical(filled, tmp_path, monkeypatch):
    forget(before=NOW + DAY_MS)  # so that there are numbers to account for
    export(str(tmp_path / "one"))
    move_home(monkeypatch, tmp_path / "other")
    found = import_(str(tmp_path / "one"))
    assert found.rows == found.new > 0 and found.unknown == ()
    export(str(tmp_path / "two"))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert contents(tmp_path / "one")["gone.jsonl"]
    assert {finding.kind for finding in verify().findings} == {"deleted"}  # files are not exported


def test_the_same_database_exported_twice_is_byte_identical(filled, tmp_path):
    export(str(tmp_path / "one"))
    export(str(tmp_path / "two"))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_an_export_holds_one_file_a_table_and_a_manifest_of_them(filled, tmp_path):
    manifest = export(str(tmp_path / "x"))
    tables = [
        "candidates",
        "decisions",
        "events",
        "evidence_baseline",
        "evidence_job",
        "evidence_read",
        "gone",
        "judge_calls",
        "outputs",
        "recalls",
        "tool_uses",
        "verdicts",
    ]
    assert sorted(manifest["tables"]) == tables
    assert sorted(os.listdir(tmp_path / "x")) == sorted([*(f"{t}.jsonl" for t in tables), "manifest.json"])
    assert manifest["tables"]["decisions"]["rows"] == 5
    assert os.stat(tmp_path / "x").st_mode & 0o777 == 0o700
    assert os.stat(tmp_path / "x" / "decisions.jsonl").st_mode & 0o777 == 0o600
    calls = [json.loads(line) for line in (tmp_path / "x" / "judge_calls.jsonl").read_text().splitlines()]
    assert calls[0]["reply"] == {"base64": "AGFuc3dlcg=="}


def test_importing_twice_or_into_a_ledger_that_has_some_of_it_adds_only_the_rest(
    filled, tmp_path, monkeypatch
):
    export(str(tmp_path / "all"))
    export(str(tmp_path / "part"), since=NOW + 3 * DAY_MS)
    move_home(monkeypatch, tmp_path / "other")
    part = import_(str(tmp_path / "part"))
    whole = import_(str(tmp_path / "all"))
    assert part.new == part.rows < whole.rows
    assert whole.new == whole.rows - part.rows
    assert import_(str(tmp_path / "all")).new == 0
    assert sorted(row[0] for row in rows("SELECT decision_id FROM decisions")) == [f"d{k}" for k in range(5)]


def test_a_part_of_the_record_brings_no_gaps(filled, tmp_path, monkeypatch):
    export(str(tmp_path / "part"), since=NOW + 3 * DAY_MS)
    move_home(monkeypatch, tmp_path / "other")
    import_(str(tmp_path / "part"))
    assert rows("SELECT count(*) FROM decisions") == [(2,)]
    assert SqliteLedger().counters().gaps == {}


@pytest.mark.parametrize("name", ["decisions.jsonl", "candidates.jsonl", "manifest.json"])
def test_a_folder_that_was_altered_is_refused_whole(filled, tmp_path, monkeypatch, name):
    export(str(tmp_path / "x"))
    path = tmp_path / "x" / name
    path.write_bytes(path.read_bytes().replace(b"d3", b"d9").replace(b'"rows":5', b'"rows":6'))
    move_home(monkeypatch, tmp_path / "other")
    with pytest.raises(UsageError):
        import_(str(tmp_path / "x"))
    assert not database().exists() or rows("SELECT count(*) FROM decisions") == [(0,)]


def test_a_row_that_was_altered_together_with_the_manifest_is_refused_by_its_hash(
    filled, tmp_path, monkeypatch
):
    import hashlib

    folder = tmp_path / "x"
    manifest = export(str(folder))
    data = (folder / "decisions.jsonl").read_bytes().replace(b'"n_admitted":2', b'"n_admitted":3', 1)
    (folder / "decisions.jsonl").write_bytes(data)
    manifest["tables"]["decisions"]["sha256"] = hashlib.sha256(data).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    move_home(monkeypatch, tmp_path / "other")
    with pytest.raises(UsageError, match="hash"):
        import_(str(folder))


def test_a_folder_that_is_no_export_is_refused(tmp_path):
    with pytest.raises(UsageError):
        import_(str(tmp_path))
    (tmp_path / "manifest.json").write_text('{"format":"other","schema":1,"tables":{}}')
    with pytest.raises(UsageError):
        import_(str(tmp_path))


def test_a_newer_export_is_refused(filled, tmp_path):
    manifest = export(str(tmp_path / "x"))
    (tmp_path / "x" / "manifest.json").write_text(json.dumps({**manifest, "schema": 9}))
    with pytest.raises(TooNew):
        import_(str(tmp_path / "x"))


def test_columns_that_are_not_known_are_left_out_and_named_once(filled, tmp_path, monkeypatch):
    import hashlib

    folder = tmp_path / "x"
    manifest = export(str(folder))
    lines = [json.loads(line) for line in (folder / "recalls.jsonl").read_text().splitlines()]
    data = "".join(json.dumps({**line, "mood": "good"}) + "\n" for line in lines).encode()
    (folder / "recalls.jsonl").write_bytes(data)
    manifest["tables"]["recalls"]["sha256"] = hashlib.sha256(data).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    move_home(monkeypatch, tmp_path / "other")
    assert import_(str(folder)).unknown == ("recalls.mood",)
    assert rows("SELECT count(*) FROM recalls") == [(5,)]


def test_a_folder_that_holds_something_is_not_written_and_not_touched(filled, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir(mode=0o755)
    (folder / "file").write_text("")
    with pytest.raises(UsageError):
        export(str(folder))
    assert os.stat(folder).st_mode & 0o777 == 0o755


def test_texts_leave_only_when_asked_for_and_kept(tmp_path):
    ledger = SqliteLedger(TEXTS)
    ledger.append(record("d1")._replace(texts=(TextRow("hmac:t", "task", "the words"),)))
    ledger.close()
    export(str(tmp_path / "without"), TEXTS)
    export(str(tmp_path / "with"), TEXTS, text=True)
    assert "texts.jsonl" not in os.listdir(tmp_path / "without")
    assert b"the words" in (tmp_path / "with" / "texts.jsonl").read_bytes()
    with pytest.raises(UsageError):
        export(str(tmp_path / "off"), text=True)


def test_an_empty_record_is_exported_empty(tmp_path):
    manifest = export(str(tmp_path / "x"))
    assert {file["rows"] for file in manifest["tables"].values()} == {0}


def test_records_read_the_same_before_and_after(filled, tmp_path, monkeypatch):
    before = list(iter_records(str(database())))
    export(str(tmp_path / "x"))
    move_home(monkeypatch, tmp_path / "other")
    import_(str(tmp_path / "x"))
    assert list(iter_records(str(database()))) == before


def everything() -> str:
    """All that is stored under the state folder, as one text to search."""
    found = []
    for path in Path(places().state).rglob("*"):
        if path.is_file() and path.name != "ledger.key":
            found.append(path.read_bytes().decode("latin-1"))
    return "\n".join(found)


def ids() -> list[str]:
    return [row[0] for row in rows("SELECT decision_id FROM decisions ORDER BY 1")]


def test_a_forgotten_session_leaves_no_row_no_output_and_no_byte(filled):
    hashed = filled.keyed(["s3"])[0]
    filled.close()
    assert hashed in everything() and "output 3" in everything()
    report = forget(session="s3")
    assert hashed not in everything() and "output 3" not in everything()
    assert ids() == ["d0", "d1", "d2", "d4"]
    # decision, 2 candidates, 2 verdicts, call, event, output, recall, tool use
    assert (report.rows, report.outputs, report.copies) == (10, 1, ())
    assert verify().findings == ()


@pytest.mark.parametrize("name", ["/home/me/p2", "/home/me/../me/p2", "p2", "keyed"])
def test_a_project_is_forgotten_by_its_path_its_name_or_its_hash(filled, name):
    chosen = filled.keyed(["/home/me/p2"])[0] if name == "keyed" else name
    assert forget(project=chosen).outputs == 1
    assert ids() == ["d0", "d1", "d3", "d4"]


def test_what_is_older_is_forgotten_also_files_that_no_row_knows(filled):
    loose = FileOutputs().put(b"loose", OutputMeta())
    os.utime(loose.path, ns=(NOW * 10**6, NOW * 10**6))
    forget(before=NOW + 2 * DAY_MS)
    assert ids() == ["d2", "d3", "d4"]
    assert FileOutputs().find(loose.id) is None


def test_an_output_that_another_decision_shows_too_stays(ledger):
    ref = FileOutputs(ledger=ledger).put(b"shared", OutputMeta())
    ledger.append(record("d1", session="s1", output_id=ref.id))
    ledger.append(record("d2", session="s2", output_id=ref.id))
    ledger.flush(5_000)
    assert forget(session="s1").outputs == 0
    assert FileOutputs().find(ref.id) is not None
    assert forget(session="s2").outputs == 1


def test_what_waits_in_the_spool_is_forgotten_too(filled):
    waiting = SqliteLedger({"ledger.busy_ms": 1})
    other = sqlite3.connect(database(), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    waiting.append(record("waiting", session="s3"))
    assert waiting.flush(5_000).spooled == 1
    other.execute("ROLLBACK")
    other.close()
    waiting.close()
    hashed = filled.keyed(["s3"])[0]
    filled.close()
    forget(session="s3")
    assert "waiting" not in ids() and hashed not in everything()


def test_texts_that_nothing_names_any_more_go_along(state):
    ledger = SqliteLedger(TEXTS)
    for k in range(2):
        ledger.append(
            record(f"d{k}", session=f"s{k}", task_hash=f"hmac:{k}")._replace(
                texts=(TextRow(f"hmac:{k}", "task", f"words {k}"),)
            )
        )
    ledger.close()
    forget(session="s1")
    assert rows("SELECT text FROM texts") == [("words 0",)]


def test_all_is_all(filled, state):
    filled.close()
    Path(f"{database()}.damaged-1").write_bytes(b"old rows d3")
    Path(f"{database()}.v1.bak").write_bytes(b"old rows d3")
    Spool(places().spool, "w", 1 << 20).append(b"d3 waits")
    capture = FileOutputs().capture(OutputMeta())
    capture.write(b"half of d3")
    words = ("old rows", "waits", "half of", "output 3", filled.keyed(["s3"])[0])
    assert all(word in everything() for word in words)
    report = forget(everything=True)
    assert (report.outputs, report.waiting) == (5, 1)
    assert not any(word in everything() for word in words)
    assert ids() == []
    assert [name for name in os.listdir(state) if ".bak" in name or "damaged" in name] == []
    assert verify().findings == ()


def test_all_works_on_a_damaged_database_too(filled):
    filled.close()
    database().write_bytes(b"no database, but private" * 500)
    forget(everything=True)
    assert "private" not in everything()


def test_copies_that_may_still_hold_it_are_named(filled):
    filled.close()
    Path(f"{database()}.damaged-1").write_bytes(b"old rows")
    assert forget(session="s3").copies == (f"{database()}.damaged-1",)


def test_a_new_key_links_nothing_to_what_was_before(filled):
    old, hashed = install_key(), filled.keyed(["x"])
    forget(key=True)
    assert install_key() != old
    assert SqliteLedger().keyed(["x"]) != hashed
    assert rows("SELECT count(*) FROM tool_uses") == [(0,)]
    assert len(ids()) == 5


@pytest.mark.parametrize("wrong", [{}, {"session": "s", "everything": True}, {"session": "s", "before": 3}])
def test_exactly_one_thing_is_forgotten_at_a_time(wrong):
    with pytest.raises(UsageError):
        forget(**wrong)


def test_stats_count_what_there_is_what_waits_and_what_is_missing(filled):
    filled.close()
    Spool(places().spool, "w", 1 << 20).append(b"{}")
    Path(f"{database()}.damaged-1").write_bytes(b"x")
    found = stats()
    assert (found.rows["decisions"], found.rows["recalls"]) == (5, 5)
    assert (found.spool_files, found.spool_records, found.outputs, found.outputs_bytes) == (1, 1, 5, 40)
    assert found.used_bytes > 0 and found.database_bytes + found.wal_bytes >= found.used_bytes
    assert (found.schema, found.known_schema, found.retention_ms, found.gaps) == (2, 2, 0, {})
    assert found.damaged == (f"{database()}.damaged-1",)


def test_stats_name_what_was_dropped_by_cause(filled):
    odd = record("odd")._replace(verdicts=(record("other").verdicts[0],))
    filled.append(odd)
    filled.append(Record(events=(event("e", type="ledger.spool_dropped")._replace(body={"n": 3}),)))
    filled.close()
    assert stats().dropped == {"refused": 1, "spool": 3}


def test_pruning_by_hand_prunes_rows_and_outputs(filled):
    now = int(time.time() * 1000)
    filled.append(record("today", ts_ms=now))
    filled.close()
    old = next(FileOutputs().stored())
    os.utime(old.path, ns=((now - 20 * DAY_MS) * 10**6,) * 2)
    deleted, outputs = prune_all()
    assert deleted.removed > 0 and outputs.removed == 1
    assert ids() == ["today"]
    assert rows("SELECT gone_reason FROM outputs WHERE output_id = ?", old.id) == [("expired",)]
