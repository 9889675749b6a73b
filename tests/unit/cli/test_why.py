"""`admit why`: one decision in one table."""

from __future__ import annotations

import json

import pytest
from command_line import Home, golden, log

from admit.cli.why import explanation
from admit.config.layers import Config, shipped
from admit.core.events import Event
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


SHIPPED = Config(shipped())
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
    golden("why-local.txt", explanation(DecisionView(outputs_row(), recalls=(went_back,)), SHIPPED) + "\n")


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
        CallRow("k1", "d" * 32, "api.example", "m", sent="yes", cost_usd=0.0004),
        CallRow("k2", "d" * 32, "api.example", "m", sent="unknown"),
    )
    golden("why-judged.txt", explanation(DecisionView(row, candidates, verdicts, calls), SHIPPED) + "\n")


def test_the_table_of_an_output_that_was_shown_whole(monkeypatch):
    utc(monkeypatch)
    row = outputs_row(how="exempt", kept=[], parsers=[], original_chars=3_120)._replace(reason="under_gate")
    golden("why-whole.txt", explanation(DecisionView(row), SHIPPED) + "\n")


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
    golden("why-stored.txt", explanation(DecisionView(row, candidates, verdicts, calls), SHIPPED) + "\n")


def fallen_back(reason, *events, profile="jev", **fields) -> str:
    row = outputs_row(reason=reason)._replace(status="fallback", reason=reason, profile=profile, **fields)
    return explanation(DecisionView(row, events=events), SHIPPED)


def test_a_fallback_is_explained_in_a_sentence_with_its_fix():
    _, sentence, fix, about, *_ = fallen_back("no_consent").split("\n")
    assert sentence == "Nobody allowed that texts of the outputs door go to https://api.typesafe.ai:443."
    assert fix == "    admit consent grant https://api.typesafe.ai:443 --door outputs"
    assert about.startswith("o_3f9a1c2b7d10 from run")
    assert "\n    admit judge key jev\n" in fallen_back("no_key")


def test_a_cap_and_a_pause_are_named_with_their_figures(monkeypatch):
    utc(monkeypatch)
    cap = Event("e1", "judge.budget", NOON, {"cap": "day.usd", "used": 0.99, "limit": 1.0})
    assert "The cap is limits.day.usd: 0.99 of 1.0 are used." in fallen_back("budget_usd", cap, cap)
    assert fallen_back("budget_usd", cap, cap).count("The cap is") == 1
    until = {"destination": "https://a:443", "until_s": NOON // 1000, "cause": "connect"}
    pause = Event("e2", "judge.cooldown", NOON, until)
    said = fallen_back("connect", pause)
    assert "https://a:443 is left alone until 2026-01-01 12:00:00 UTC: connect." in said


def test_answers_that_were_only_recorded_say_why_and_what_to_set():
    row = outputs_row(reason="shadow:unverified", shadow="unverified")
    row = row._replace(status="judged", mode="shadow", reason="shadow:unverified", profile="jev")
    said = explanation(DecisionView(row), SHIPPED)
    assert "no threshold is known for this model" in said
    assert "admit config set judge.profiles.jev.outputs.threshold N" in said


def test_what_was_not_sent_is_no_request_and_has_no_cost():
    calls = (
        CallRow("k1", "d" * 32, "https://a:443", "m", sent="yes", cost_usd=0.0004, outcome="judged"),
        CallRow("k2", "d" * 32, "https://a:443", "m", sent="no", reason="busy", outcome="fallback"),
    )
    row = outputs_row()._replace(profile="jev", status="partial")
    head = explanation(DecisionView(row, calls=calls), SHIPPED).split("\n")[0]
    assert "judge jev, 1 request, 1 not sent, $0.00040" in head
    head = explanation(DecisionView(row, calls=calls[1:]), SHIPPED).split("\n")[0]
    assert "judge jev, 0 requests, 1 not sent" in head and "$" not in head


def test_a_small_known_cost_does_not_read_as_0():
    call = CallRow("k1", "d" * 32, "https://a:443", "m", sent="yes", cost_usd=0.000011, outcome="judged")
    row = outputs_row()._replace(profile="jev", status="judged")
    head = explanation(DecisionView(row, calls=(call,)), SHIPPED).split("\n")[0]
    assert "judge jev, 1 request, $0.000011" in head


def utc(monkeypatch) -> None:
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
