"""`admit ledger`: what a person reads, what a script reads, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from admit.cli import frame
from admit.config import layers
from admit.ledger.outputs import FileOutputs
from admit.ledger.places import places
from admit.ledger.port import OutputMeta, Record
from admit.ledger.spool import Spool
from admit.ledger.sqlite import SqliteLedger

from .samples import NOW, database, event, record, rows


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for variable in ("ADMIT_CONFIG", "ADMIT_OFF"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(layers, "_seen", {})
    monkeypatch.setattr(layers, "_user_file", None)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def admit(capsys):
    def run(*args: str) -> tuple[int, str]:
        code = frame.run(["ledger", *args])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return run


@pytest.fixture
def filled(ledger) -> SqliteLedger:
    ref = FileOutputs(ledger=ledger).put(b"some output", OutputMeta("bash", "s1", 2))
    ledger.append(
        record("d1", session="s1", output_id=ref.id, extra={"how": "judged"}, size_in=900, size_out=80)
    )
    ledger.append(record("d2", session="s2", door="tools", reason="none_passed", status="fallback"))
    ledger.close()
    return ledger


def as_json(out: str) -> dict:
    return json.loads(out)


def test_without_a_record_every_reading_command_says_so_and_makes_none(admit):
    assert admit("show") == (1, "No decision is recorded for that.\n")
    code, out = admit("stats")
    assert code == 0 and "none yet" in out
    code, out = admit("verify")
    assert code == 0 and "whole" in out
    assert not database().exists()


def test_show_lists_decisions_newest_first_and_narrows(admit, filled):
    code, out = admit("show")
    assert code == 0
    assert [line.split()[2] for line in out.splitlines()[1:]] == ["d2", "d1"]
    assert "80 of 900" in out and "none_passed" in out
    for narrowed in (["--door", "tools"], ["--reason", "none_passed"], ["--session", "s2"], ["--limit", "1"]):
        code, out = admit("show", *narrowed)
        assert [line.split()[2] for line in out.splitlines()[1:]] == ["d2"], narrowed
    assert admit("show", "--since", "1d")[0] == 1
    assert admit("show", "--since", "2023-01-01")[0] == 0


def test_show_of_one_tells_all_by_decision_or_by_output(admit, filled):
    code, out = admit("show", "d1")
    assert code == 0
    for part in ("content_hash", "extra.how", "judged", "c1", "c2", "minilm", "outputs.fault"):
        assert part in out
    output_id = rows("SELECT output_id FROM outputs")[0][0]
    assert admit("show", output_id) == (code, out)
    assert admit("show", "unknown")[0] == 1
    assert admit("show", "o_000000000000")[0] == 1


def test_show_as_json_holds_the_candidates_in_order_and_no_reply(admit, filled):
    code, out = admit("show", "d1", "--json")
    (view,) = as_json(out)["decisions"]
    assert code == 0
    assert [row["ord"] for row in view["candidates"]] == [1, 2]
    assert view["calls"][0]["reply"] is None and view["calls"][0]["cost_usd"] is None
    assert view["decision"]["extra"] == {"how": "judged"}
    assert admit("show", "nothing", "--json") == (1, '{\n  "schema": 1,\n  "decisions": []\n}\n')


def test_hidden_characters_in_names_are_escaped(admit, ledger):
    rec = record("d1")
    odd = rec.candidates[0]._replace(candidate_id="safe\u202egpj.exe\u200b\x1b[31m")
    ledger.append(rec._replace(candidates=(odd,), decision=rec.decision._replace(reason="\u202e")))
    ledger.close()
    for args in (["show"], ["show", "d1"]):
        out = admit(*args)[1]
        assert "\u202e" not in out and "\x1b" not in out and "\u200b" not in out
        assert "\\u202e" in out


def test_stats_count_rows_sizes_and_what_waits(admit, filled):
    Spool(places().spool, "w", 1 << 20).append(b"{}")
    code, out = admit("stats")
    assert code == 0
    assert "2 decisions" in out and "1 record waiting" in out and "1 file, 11 bytes" in out
    found = as_json(admit("stats", "--json")[1])
    assert (found["schema"], found["schema_version"], found["rows"]["candidates"]) == (1, 2, 4)


def test_a_decision_without_a_judge_says_so_and_is_not_called_off(admit, ledger):
    ledger.append(record("a1", n=0, mode="enforce", status="off"))
    ledger.append(record("a2", n=0, mode="off", status="off"))
    ledger.close()
    code, out = admit("show", "a1")
    assert code == 0 and [
        line.split(None, 1)[1] for line in out.splitlines() if line.startswith("status")
    ] == ["no judge asked"]
    listed = {line.split()[2]: line for line in admit("show")[1].splitlines()[1:]}
    assert "no judge asked" in listed["a1"] and "no judge asked" not in listed["a2"]
    assert as_json(admit("show", "a1", "--json")[1])["decisions"][0]["decision"]["status"] == "off"


def test_verify_exits_0_clean_1_with_findings_2_when_damaged(admit, filled):
    assert admit("verify")[0] == 0
    Path(next(FileOutputs().stored()).path).write_bytes(b"changed")
    code, out = admit("verify")
    assert code == 1 and "Stored outputs altered, so not given back: 1 (o_" in out
    assert [finding["kind"] for finding in as_json(admit("verify", "--json")[1])["findings"]] == ["altered"]
    database().write_bytes(b"no database" * 1_000)
    assert admit("verify")[0] == 2


def test_verify_can_take_gaps_as_known(admit, filled):
    import sqlite3

    con = sqlite3.connect(database())
    for table in ("events", "judge_calls", "verdicts", "candidates", "decisions"):
        con.execute(f"DELETE FROM {table} WHERE decision_id = 'd1'")
    con.commit()
    con.close()
    code, out = admit("verify", "--fix-counts")
    assert code == 1 and "before it wrote them: 1." in out
    assert admit("verify")[0] == 0


def test_verify_names_events_of_a_later_version_without_calling_them_wrong(admit, ledger):
    ledger.append(Record(events=(event("e1", type="later.thing"),)))
    ledger.close()
    code, out = admit("verify")
    assert code == 0 and "later.thing" in out


def test_recover_exits_0_when_nothing_is_lost_and_1_when_something_is(admit, filled):
    assert admit("recover") == (0, "0 records brought in from the spool.\n")
    Spool(places().spool, "w", 1 << 20).append(b"no record")
    code, out = admit("recover")
    assert code == 1 and "1 could not be read" in out
    database().write_bytes(b"no database" * 1_000)
    code, out = admit("recover", "--json")
    assert code == 1 and as_json(out)["lost"] > 0 and as_json(out)["damaged"] == [f"{database()}.damaged-1"]
    assert admit("recover")[0] == 0


def test_recover_into_a_file_that_exists_is_a_usage_error(admit, filled, tmp_path):
    (tmp_path / "x.db").write_text("")
    assert admit("recover", "--into", str(tmp_path / "x.db"))[0] == 2


def test_export_and_import_round_and_refuse_what_was_altered(admit, filled, tmp_path):
    code, out = admit("export", "--out", "copy")
    assert code == 0 and "written to copy" in out
    assert admit("export", "--out", "copy")[0] == 2
    code, out = admit("import", "copy")
    assert code == 0 and "0 of them new" in out
    with open("copy/decisions.jsonl", "a") as file:
        file.write("{}\n")
    assert admit("import", "copy")[0] == 2
    assert admit("import", "nowhere")[0] == 2
    manifest = as_json(admit("export", "--out", "second", "--json")[1])
    assert manifest["tables"]["decisions"]["rows"] == 2


def test_forget_and_prune_ask_and_without_a_terminal_need_yes(admit, filled):
    for args in (["forget", "--all"], ["prune"]):
        code, out = admit(*args)
        assert code == 2 and "--yes" in out
    code, out = admit("forget", "--session", "s1", "--yes")
    assert code == 0 and "1 output" in out
    assert rows("SELECT decision_id FROM decisions") == [("d2",)]
    assert admit("forget", "--yes")[0] == 2
    assert admit("forget", "--all", "--session", "s", "--yes")[0] == 2
    assert admit("forget", "--key", "--yes")[0] == 0
    assert as_json(admit("forget", "--all", "--yes", "--json")[1])["rows"] > 0
    assert admit("forget", "--before", "1d", "--yes")[0] == 0


def test_prune_deletes_what_is_past_its_time(admit, filled):
    code, out = admit("prune", "--yes")
    assert code == 0 and "0 outputs" in out
    assert rows("SELECT count(*) FROM decisions") == [(0,)]  # both are of 2023
    assert as_json(admit("prune", "--yes", "--json")[1])["rows"]["removed"] == 0
    assert NOW < 1_800_000_000_000


@pytest.mark.parametrize(
    "name", ["show", "stats", "verify", "recover", "export", "import", "forget", "prune"]
)
def test_every_command_has_json_and_an_example_in_its_help(admit, name):
    code, out = admit(name, "--help")
    assert code == 0
    assert "--json" in out and f"admit ledger {name}" in out
