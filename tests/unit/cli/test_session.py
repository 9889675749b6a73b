"""`admit session`: the gate of a session summed up, and decided again."""

from __future__ import annotations

import json

import pytest
from command_line import golden
from tests.unit.guidance.gated import judged_by, opened, prompt
from tests.unit.guidance.project import Guidance

from admit.cli import frame
from admit.config.layers import load
from admit.ledger import open_ledger


@pytest.fixture
def guidance(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    made = Guidance(tmp_path)
    monkeypatch.chdir(made.project)
    return made


@pytest.fixture
def recorded(guidance):
    """Two sessions: ten candidates judged with one block, then two."""
    scores = {f"w{k}": 0.9 - k / 100 for k in range(10)}
    for name in scores:
        guidance.way("project", name)
    ledger = open_ledger(load().values)
    gate = opened(guidance, judge=judged_by({"w1": 0.1}), ledger=ledger, scores=scores)
    gate.scan(prompt("deploy", session="first"))
    gate.scan(prompt("<system-reminder>", session="first"))
    small = opened(guidance, judge=judged_by({}), ledger=ledger, scores={"w1": 0.9, "w2": 0.8})
    small.scan(prompt("deploy", session="second"))
    ledger.close()
    return guidance


@pytest.fixture
def session(capsys):
    def run(*words: str) -> tuple[int, str]:
        code = frame.run(["session", *words])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return run


@pytest.mark.parametrize("name", ["", "dump", "replay"])
def test_help_reads_as_it_did(guidance, session, name):
    code, text = session(*filter(None, [name]), "--help")
    assert code == 0
    golden(f"help/{'-'.join(filter(None, ['admit-session', name]))}.txt", text)


@pytest.mark.parametrize("words", [("dump",), ("replay",), ("dump", "nobody"), ("dump", "\ud800")])
def test_without_a_record_it_says_what_to_do(guidance, session, words):
    code, text = session(*words)
    assert code == 2 and "admit " in text


def test_a_dump_sums_one_session_up(recorded, session):
    code, text = session("dump", "first", "--json")
    found = json.loads(text)
    gate = found["gate"]
    assert code == 0 and found["session"] == "first"
    assert (gate["requests"], gate["judged"], gate["passed"], gate["blocked"]) == (1, 8, 7, 1)
    assert (gate["unjudged"], gate["capped_requests"], gate["fallbacks"]) == (2, 1, {})
    assert gate["blocked_ids"] == {"w1": 1} and gate["unjudged_ids"] == {"w8": 1, "w9": 1}
    assert list(gate) == [
        "requests", "judged", "passed", "blocked", "would_block", "unjudged", "defects", "capped_requests",
        "ancestor_blocked", "exempt", "fallbacks", "gate_ms_p50", "gate_ms_p95", "blocked_ids",
        "unjudged_ids",
    ]  # fmt: skip
    code, text = session("dump", "first")
    assert code == 0 and "1 request over the cap: 2 not judged" in text and "Blocked: w1 1." in text


def test_without_an_id_it_is_the_session_decided_on_last(recorded, session):
    code, text = session("dump", "--json")
    assert code == 0 and json.loads(text)["gate"]["judged"] == 2


def test_a_replay_without_options_changes_nothing(recorded, session):
    code, text = session("replay", "first")
    assert code == 0 and "Nothing would be different." in text


def test_a_replay_under_another_policy_shows_what_moves(recorded, session):
    code, text = session("replay", "first", "--max-candidates", "9", "--json")
    found = json.loads(text)
    assert code == 0 and found["policy"] == {"max_candidates": 9, "fill": None, "overflow": None}
    assert found["totals"]["was"]["unjudged"] == 2
    assert (found["totals"]["now"]["unknown"], found["totals"]["now"]["unjudged"]) == (1, 1)
    code, text = session("replay", "first", "--overflow", "block")
    moved = [line.split() for line in text.split("\n") if line.strip().startswith(("w8", "w9"))]
    assert moved == [[f"w{k}", "unjudged", "overflow", "blocked", "overflow"] for k in (8, 9)]
    code, text = session("replay", "first", "--max-candidates", "12")
    assert "Unknown: the record holds no verdict on it." in text
