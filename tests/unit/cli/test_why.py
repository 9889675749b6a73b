"""`admit why`: one decision in one table."""

from __future__ import annotations

import json

import pytest
from command_line import Home, golden, log

from admit.cli.why import explanation
from admit.ledger.port import CallRow, CandidateRow, DecisionRow, DecisionView, Recall, VerdictRow


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def test_the_last_decision_names_mode_budget_sizes_and_the_rule_of_each_range(home):
    name = home.stored(log())
    done = home.admit("why", "--last")
    assert done.returncode == 0
    head, about, sizes, *_ = done.stdout.decode().split("\n")
    assert head.startswith("outputs · ") and "cap 6,000 characters" in head and "no judge" in head
    assert about == f"{name} from an unnamed tool, exit code 2: local"
    assert sizes.startswith("failure mode: ") and "of 3,000 lines" in sizes
    assert "rule" in done.stdout.decode() and "3,000  end" in done.stdout.decode()


def test_a_decision_is_found_by_its_own_id_and_by_its_outputs(home):
    name = home.stored(log())
    value = json.loads(home.admit("why", name, "--json").stdout)
    assert value["decision"]["output_id"] == name
    assert value["output"]["sha256"].startswith(name[2:])
    again = json.loads(home.admit("why", value["decision"]["decision_id"], "--json").stdout)
    assert again == value
    assert (
        home.admit("why", "--last", "--door", "outputs", "--json").stdout
        == home.admit("why", "--last", "--json").stdout
    )


def test_where_there_is_none_it_exits_with_1(home):
    done = home.admit("why", "--last")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"admit: no decision yet; ")
    home.stored(log())
    done = home.admit("why", "--last", "--door", "tools")
    assert done.returncode == 1 and b"at the door tools" in done.stderr
    assert home.admit("why", "f" * 32).returncode == 1
    assert home.admit("why").returncode == 2


NOON = 1_767_268_800_000
BASE = DecisionRow("d" * 32, ts_ms=NOON, admit_version="0.1.0", cap=6_000, elapsed_ms=41.2)
EXTRA = {
    "tool": "run",
    "exit_code": 2,
    "mode": "failure",
    "how": "local",
    "original_chars": 121_437,
    "kept_chars": 5_870,
    "lines": 1_502,
    "gaps": 2,
    "parsers": ["pytest", "make"],
    "kept": [
        [1_200, 1_261, "run", 3.634, 0, 1],
        [1_262, 1_262, "summary", 1.2, 1, 2],
        [1_490, 1_502, "end", 0.01, 2, 3],
    ],
}


def outputs_row(**extra) -> DecisionRow:
    return BASE._replace(
        door="outputs", status="off", unit="chars", output_id="o_3f9a1c2b7d10", extra=EXTRA | extra
    )


def test_the_table_of_a_local_selection(monkeypatch):
    utc(monkeypatch)
    went_back = Recall("r", "o_3f9a1c2b7d10", NOON, "range", "cli", 900)
    golden("why-local.txt", explanation(DecisionView(outputs_row(), recalls=(went_back,))) + "\n")


def test_the_table_of_a_judged_selection_with_drops(monkeypatch):
    utc(monkeypatch)
    row = outputs_row(how="judged", dropped_qualifying={"chunks": 3, "chars": 5_100, "best_score": 2.4})
    row = row._replace(status="partial", reason="deadline", profile="jev", threshold=1.5)
    candidates = tuple(CandidateRow("d" * 32, n, f"c{n}", size=1_900 + n) for n in (1, 2, 3))
    verdicts = (
        VerdictRow("d" * 32, 1, "live", "admitted", reason="judge", kind="score", expectation=2.41),
        VerdictRow("d" * 32, 2, "live", "blocked", reason="judge", kind="score", expectation=0.32),
        VerdictRow("d" * 32, 3, "live", "unjudged", reason="defect:missing"),
    )
    calls = (
        CallRow("k1", "d" * 32, "api.example", "m", cost_usd=0.0004),
        CallRow("k2", "d" * 32, "api.example", "m"),
    )
    golden("why-judged.txt", explanation(DecisionView(row, candidates, verdicts, calls)) + "\n")


def test_the_table_of_an_output_that_was_shown_whole(monkeypatch):
    utc(monkeypatch)
    row = outputs_row(how="exempt", kept=[], parsers=[], original_chars=3_120)._replace(reason="under_gate")
    golden("why-whole.txt", explanation(DecisionView(row)) + "\n")


def test_a_door_without_an_explanation_of_its_own_shows_the_stored_columns(monkeypatch):
    utc(monkeypatch)
    row = BASE._replace(door="tools", status="judged", cap=24, unit="count", profile="local", mode="shadow")
    candidates = (
        CandidateRow("d" * 32, 1, "github.create_issue", size=212),
        CandidateRow("d" * 32, 2, "github.list_issues", size=180, within=False),
    )
    verdicts = (
        VerdictRow("d" * 32, 1, "live", "admitted", reason="judge", kind="noul", p=(0.913,)),
        VerdictRow("d" * 32, 2, "live", "unjudged", reason="overflow"),
    )
    calls = (CallRow("k1", "d" * 32, "local", "lexical", cost_usd=0.0),)
    golden("why-stored.txt", explanation(DecisionView(row, candidates, verdicts, calls)) + "\n")


def utc(monkeypatch) -> None:
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
