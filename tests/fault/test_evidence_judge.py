"""A judge that fails in any way leaves its pair unjudged: no PASS, no baseline, and the reason told."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.servers.chat_server import ChatServer
from tests.unit.evidence.reviews import GROUNDING, NOTE, base_in, files, gate_of, says

from admit.config.keys import shipped
from admit.core.events import undeclared
from admit.core.reasons import DEFECTS, REASONS
from admit.evidence.gate import EvidenceGate
from admit.judges.door import DoorJudge
from admit.judges.load import load_judge
from admit.judges.profiles import profile
from admit.judges.scripted import FaultyJudge, ScriptedJudge
from admit.ledger.evidence import EvidenceStore
from admit.ledger.memory import MemoryLedger

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import evidence_faults  # pyright: ignore[reportMissingImports]

SEEDS = 20


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    with base_in(tmp_path_factory.mktemp("kb"), files("a.md", "b.md", "c.md")) as base:
        yield base


def test_no_fault_of_a_judge_or_a_server_is_ever_reported_as_a_verdict():
    rows = evidence_faults.run(SEEDS)
    assert {one.pairs for one in rows} == {SEEDS}
    assert {one.fault for one in rows} >= {
        *REASONS,
        *(f"defect:{name}" for name in DEFECTS),
        "raises",
        "stalls",
    }
    assert [one for one in rows if one.passed or one.judged] == []


@pytest.mark.parametrize("share", [1.0, 0.25])
@pytest.mark.parametrize("reason", REASONS)
def test_each_reason_is_told_and_recorded_and_nothing_is_accepted(kb, tmp_path, reason, share):
    ledger, store = MemoryLedger(), EvidenceStore(str(tmp_path / "ledger.db"))
    found = gate_of(kb, judge=FaultyJudge(reason, share=share), ledger=ledger, store=store).review(
        NOTE, GROUNDING
    )
    assert (found.verdict, found.reason, found.stored) == ("UNJUDGED", reason, True)
    assert found.coverage is not None and found.coverage.offered == 3
    assert store.baselines() == ()
    record = ledger.records[-1]
    assert record.decision is not None
    assert (record.decision.status, record.decision.reason) == ("fallback", reason)
    assert undeclared("evidence.decision", record.decision.extra) == ()
    assert all(undeclared(one.type, one.body) == () for one in record.events)


@pytest.mark.parametrize("defect", DEFECTS)
@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_one_spoiled_answer_anywhere_spoils_the_pair(kb, tmp_path, defect, place):
    store = EvidenceStore(str(tmp_path / "ledger.db"))
    answers = {f"q{k}": defect if k == place + 1 else 1.0 for k in range(1, 5)}
    found = gate_of(kb, judge=ScriptedJudge(answers), store=store).review(NOTE, GROUNDING)
    assert (found.verdict, found.reason) == ("UNJUDGED", "answer_defects")
    assert store.baselines() == ()


def test_an_answer_after_the_deadline_of_the_profile_counts_for_nothing(kb):
    judge = FaultyJudge("stalls")
    chosen = profile("jev")
    cell = chosen.doors["evidence"]._replace(timeout_ms=200)
    gate = EvidenceGate(kb, DoorJudge(judge, chosen, cell, None, "sha256:p"))
    found = gate.review(NOTE, GROUNDING)
    judge.release()
    assert (found.verdict, found.reason) == ("UNJUDGED", "deadline")
    assert judge.asks[0].deadline_ms == 200


def remote(server, name="openai-compatible", **settings):
    own = f"judge.profiles.{name}"
    values = {**shipped(), f"{own}.destination": server.url, f"{own}.model": "small", f"{own}.path": "/v1"}
    values |= {f"{own}.context_tokens": 100_000, **settings}
    return load_judge(profile(name, values), config=values)


def test_without_consent_nothing_is_sent(kb):
    with ChatServer() as server:
        elsewhere = server.url.replace("127.0.0.1", "judge.example.org").replace("http:", "https:")
        own = "judge.profiles.openai-compatible"
        values = {**shipped(), f"{own}.destination": elsewhere, f"{own}.model": "small"}
        judge = load_judge(profile("openai-compatible", values), config=values)
        found = EvidenceGate(kb, judge).review(NOTE, GROUNDING)
        assert (server.requests, server.connections) == ([], 0)
    assert (found.verdict, found.reason) == ("UNJUDGED", "no_consent")
    assert found.coverage is not None and found.coverage.read == 0


def test_a_text_that_cannot_be_masked_in_time_is_not_sent(tmp_path, monkeypatch):
    from admit.judges import redact

    monkeypatch.setattr(redact.Redactor, "redact", _refused, raising=True)
    monkeypatch.setattr(redact.Redactor, "budget", lambda self, ms: self, raising=True)
    with base_in(tmp_path / "kb", files("a.md")) as base, ChatServer() as server:
        found = EvidenceGate(base, remote(server)).review(NOTE, GROUNDING)
        assert server.requests == []
    assert (found.verdict, found.reason) == ("UNJUDGED", "redaction")


def _refused(self, text):
    from admit.judges.redact import Unredacted

    raise Unredacted


def test_a_credential_in_any_of_the_texts_is_masked_before_it_leaves(tmp_path):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    texts = files("a.md", text=f"token: {secret}")
    texts[NOTE] = texts[NOTE].replace("Claim 1", f"Claim 1 {secret}")
    with base_in(tmp_path / "kb", texts) as base, ChatServer(judge=lambda task, text: 1.0) as server:
        found = EvidenceGate(base, remote(server)).review(NOTE, GROUNDING)
        [sent] = server.requests
    assert found.verdict == "PASS"
    assert secret.encode() not in sent.body


def test_a_server_that_answers_as_another_model_acts_on_nothing(kb, tmp_path):
    store = EvidenceStore(str(tmp_path / "ledger.db"))
    with ChatServer("drift", judge=lambda task, text: 1.0) as server:
        found = EvidenceGate(kb, remote(server), store=store).review(NOTE, GROUNDING)
    assert (found.verdict, found.shadow, found.model) == ("PASS", "model_drift", "another-model")
    assert store.baselines() == ()


def test_a_server_that_answers_gives_a_verdict_with_its_tokens_or_none_where_it_tells_none(kb):
    with ChatServer(judge=lambda task, text: 1.0) as server:
        found = EvidenceGate(kb, remote(server)).review(NOTE, GROUNDING)
        server.mode = "no-usage"
        untold = EvidenceGate(kb, remote(server)).review(NOTE, GROUNDING)
    assert found.verdict == untold.verdict == "PASS"
    assert found.input_tokens is not None and found.input_tokens > 0
    assert (untold.input_tokens, untold.output_tokens) == (None, None)


def test_what_a_server_says_beside_its_answers_is_never_read(kb):
    with ChatServer("echo", judge=lambda task, text: 0.0) as server:
        found = EvidenceGate(kb, remote(server)).review(NOTE, GROUNDING)
    assert found.verdict == "FAIL"  # the last label of the note's question


def test_a_judge_that_cannot_answer_a_choice_is_unsupported(kb):
    judge = ScriptedJudge(says("supported"), kinds=("Noul", "Score"))
    assert gate_of(kb, judge=judge).review(NOTE, GROUNDING).reason == "unsupported"
