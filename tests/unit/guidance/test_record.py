"""A scan as it is written down: numbers, ids and hashes, never a prompt or a body."""

from __future__ import annotations

import pytest

from admit.core.events import undeclared
from admit.guidance.model import Surface
from admit.judges.scripted import FaultyJudge
from admit.ledger.memory import MemoryLedger

from .gated import SESSION, events, judged_by, opened, prompt, read


@pytest.fixture
def ledger():
    return MemoryLedger()


def test_every_scan_is_recorded_also_when_nothing_matched(guidance, ledger):
    guidance.way("project", "a", "pattern: deploy")
    gate = opened(guidance, ledger=ledger)
    gate.scan(prompt("hello"))
    gate.scan(prompt("<system-reminder>deploy"))
    view, notice = read(ledger)
    assert notice.decision.extra["counts"] == {"envelope": 1}
    assert (view.decision.door, view.decision.status, view.decision.n_gathered) == ("guidance", "idle", 0)
    assert view.decision.extra["counts"] == {"no_trigger": 1}
    assert view.decision.gather_rev.startswith("sha256:")


def test_a_record_holds_the_candidates_in_order_with_their_verdicts(guidance, ledger):
    for name in ("a", "b"):
        guidance.way("project", name, "pattern: deploy\ndescription: d")
    scores = {"a": 0.9, "b": 0.8}
    gate = opened(guidance, judge=judged_by({"b": 0.1}), ledger=ledger, scores=scores)
    result = gate.scan(prompt("deploy now", tokens_used=7, window=1000, hook_event="UserPromptSubmit"))
    [view] = read(ledger)
    row = view.decision
    assert (row.decision_id, row.status, row.cap, row.threshold) == (result.decision_id, "judged", 8, 0.3)
    assert (row.n_admitted, row.n_blocked, row.host_event) == (1, 1, "UserPromptSubmit")
    assert [(one.candidate_id, one.rank_tier, one.rank_key, one.span["p"]) for one in view.candidates] == [
        ("a", 1, (1.0, 6.0), 0.9), ("b", 1, (1.0, 6.0), 0.8),
    ]  # fmt: skip
    assert [(one.verdict, one.reason, one.p) for one in view.verdicts] == [
        ("admitted", "judge", (0.9,)), ("blocked", "judge", (0.1,)),
    ]  # fmt: skip
    extra = row.extra
    assert (extra["lane"], extra["window"], extra["tokens_used"], extra["matcher"]) == (
        "prompt", 1000, 7, "lexical",
    )  # fmt: skip
    assert extra["stages"] == {"blocked": ["b"], "shown": ["a"]}
    assert extra["policy"]["fill"] == "admission" and extra["chars_shown"] == row.size_out > 0


def test_no_prompt_and_no_body_stands_in_a_record(guidance, ledger):
    guidance.way("project", "a", "pattern: '\\bdeploy\\b.*'\ndescription: secret-description", "secret-body")
    gate = opened(guidance, judge=judged_by({}), ledger=ledger, scores={"a": 0.9})
    gate.delivered(gate.scan(prompt(f"deploy {'x' * 200}secret-prompt")).result_id)
    written = repr(ledger.records)
    assert not any(word in written for word in ("secret-prompt", "secret-body", "secret-description"))
    assert read(ledger)[0].decision.task_hash.startswith("hmac:")
    [shown] = events(ledger, "guidance.shown")
    assert len(shown["span"]) == 120


def test_what_was_shown_is_recorded_when_it_is_acknowledged(guidance, ledger):
    guidance.way("project", "a", "pattern: deploy\nrefire: 0")
    gate = opened(guidance, ledger=ledger)
    for position in (10, 20):
        result = gate.scan(prompt("deploy", tokens_used=position))
        gate.delivered(result.result_id)
    first, again = events(ledger, "guidance.shown")
    assert first | {"scan_id": 0, "digest": 0} == {
        "scan_id": 0, "id": "a", "again": False, "digest": 0, "root": "project", "trigger": "pattern",
        "span": "deploy", "chars": 5, "token_position": 10,
    }  # fmt: skip
    assert again["again"] is True


def test_a_fallback_is_an_event_with_its_reason_and_size(guidance, ledger):
    guidance.way("project", "a", "description: d")
    gate = opened(guidance, judge=FaultyJudge("connect"), ledger=ledger, scores={"a": 0.9})
    gate.scan(prompt("x"))
    [body] = events(ledger, "guidance.gate_fallback")
    assert (body["reason"], body["candidates"]) == ("connect", 1)
    assert read(ledger)[0].decision.reason == "connect"


def test_what_is_held_is_logged_with_the_position(guidance, ledger):
    guidance.way("project", "a", "pattern: deploy")
    gate = opened(guidance, ledger=ledger)
    gate.delivered(gate.scan(prompt("deploy", tokens_used=5)).result_id)
    gate.scan(prompt("deploy", tokens_used=6))
    [body] = events(ledger, "guidance.held")
    assert (body["ids"], body["position"]) == (["a"], 6)


def test_every_event_is_one_that_is_declared(guidance, ledger):
    for k in range(20):
        guidance.way("project", f"w{k:02d}", "pattern: deploy\ncommands: deploy\ndescription: d")
    scores = {f"w{k:02d}": 0.9 for k in range(20)}
    gate = opened(guidance, judge=FaultyJudge("busy"), ledger=ledger, scores=scores)
    for surface in (prompt("deploy"), Surface("command", "deploy", session=SESSION), prompt("deploy")):
        gate.delivered(gate.scan(surface).result_id)
    found = [event for record in ledger.records for event in record.events]
    assert {event.type for event in found} == {
        "guidance.gate_capped", "guidance.gate_fallback", "guidance.held", "guidance.shown",
        "guidance.turn_capped", "judge.fallback",
    }  # fmt: skip
    assert [undeclared(event.type, event.body) for event in found] == [()] * len(found)


def test_a_ledger_that_fails_costs_no_answer_and_is_counted(guidance):
    class Broken(MemoryLedger):
        def append(self, rec):
            raise OSError("no room")

    guidance.way("project", "a", "pattern: deploy")
    gate = opened(guidance, ledger=Broken())
    result = gate.scan(prompt("deploy"))
    gate.delivered(result.result_id)
    assert result.shown == ("a",) and gate.totals["fault:ledger"] == 2
