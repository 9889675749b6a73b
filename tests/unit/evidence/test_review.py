"""One pair before a judge: a verdict with what it rests on, or none with the reason."""

from __future__ import annotations

import pytest

from admit.core.events import undeclared
from admit.core.question import RequestLimits
from admit.errors import CriterionError, EvidenceError, IntegrityError
from admit.evidence.criteria import load
from admit.evidence.gate import EvidenceGate
from admit.evidence.model import Pair
from admit.judges.scripted import FaultyJudge, ScriptedJudge
from admit.ledger.evidence import EvidenceStore
from admit.ledger.memory import MemoryLedger

from .reviews import GROUNDING, NOTE, criterion, files, gate_of, names, rules, says


@pytest.fixture
def store(tmp_path):
    return EvidenceStore(str(tmp_path / "ledger.db"))


def test_a_pass_is_stored_as_the_baseline_with_what_was_read_and_the_texts(base, store):
    gate = gate_of(base(files("a.md", "b.md")), store=store)
    found = gate.review(NOTE, GROUNDING)
    assert (found.verdict, found.reason, found.stored, found.conflict) == ("PASS", "judged", True, False)
    row = store.baseline(NOTE, GROUNDING.id, "scripted")
    assert row is not None
    assert (row.revision, row.job, row.attempt) == (1, found.job, 1)
    assert [(one.path, one.shape, one.route) for one in row.linked] == [
        ("a.md", "whole", "note"),
        ("b.md", "whole", "note"),
    ]
    note, rubric = store.text(row.note_sha256), store.text(row.criterion_sha256)
    assert note is not None and note.startswith(b"# The note")
    assert rubric is not None and b"id: grounding-alignment" in rubric
    job = store.job(found.job)
    assert job is not None and (job.state, job.verdict) == ("completed", "PASS")
    assert [(one.id, one.path, one.via) for one in store.reads(found.job, 1)] == [
        ("a1", "a.md", "judge"),
        ("a2", "b.md", "judge"),
    ]


@pytest.mark.parametrize(
    ("label", "verdict", "severity"),
    [("hint", "PASS", "INFO"), ("far", "WARN", "WARN"), ("bare", "FAIL", "FAIL"), ("wrong", "FAIL", "FAIL")],
)
def test_the_gravest_answer_is_the_verdict_and_each_that_is_no_pass_a_finding(base, label, verdict, severity):
    found = gate_of(base(files("a.md", "b.md", "c.md")), "good", label, "good").review(NOTE, criterion())
    assert found.verdict == verdict
    assert [(one.rule, one.severity, one.artifact) for one in found.findings] == [(label, severity, "b.md")]


def test_the_same_work_has_the_same_id_and_a_later_attempt_the_next_number(base, store):
    kb = base(files("a.md"))
    lost = gate_of(kb, judge=FaultyJudge("deadline"), store=store, partition="p").review(NOTE, criterion())
    again = gate_of(kb, judge=FaultyJudge("busy"), store=store, partition="p").review(NOTE, criterion())
    gate = gate_of(kb, store=store, partition="p")
    done = gate.review(NOTE, criterion())
    assert lost.job == again.job == done.job
    assert (lost.attempt, again.attempt, done.attempt) == (1, 2, 3)
    assert gate.review(NOTE, criterion()).job != done.job  # it follows another baseline


def test_one_spoiled_answer_leaves_the_whole_pair_unjudged_and_writes_no_baseline(base, store):
    judge = ScriptedJudge({"q1": 1.0, "q2": "bad_sum", "q3": 1.0})
    found = gate_of(base(files("a.md", "b.md", "c.md")), judge=judge, store=store).review(NOTE, criterion())
    assert (found.verdict, found.reason, found.stored) == ("UNJUDGED", "answer_defects", True)
    assert store.baselines() == ()
    assert found.coverage is not None and found.coverage.read == 3
    job = store.job(found.job)
    assert job is not None and (job.state, job.verdict, job.reason) == (
        "failed",
        "UNJUDGED",
        "answer_defects",
    )


def test_a_block_that_could_not_be_read_is_told_and_the_rest_is_judged(base):
    note = "# n\n\nOne ([s](a.md)).\n\nTwo ([s](big.md)).\n"
    kb = base({NOTE: note, "a.md": "# a\n", "big.md": "x" * 3000}, max_artifact_bytes=1024)
    gate = gate_of(kb)
    found = gate.review(NOTE, criterion())
    assert (found.verdict, [rule for rule, _, _ in rules(found)]) == ("PASS", ["unverifiable"])
    assert found.scoped.startswith("PASS on 1 of 1 artifacts") and "big.md" in found.scoped
    assert found.coverage is not None and not found.coverage.complete


def test_where_no_block_is_left_to_ask_about_nobody_is_asked(base, store):
    note = "# n\n\nOne ([s](big.md)).\n\nOnly ![p](a.md) here and in a heading:\n\n## [s](a.md)\n"
    kb = base({NOTE: note, "a.md": "# a\n", "big.md": "x" * 3000}, max_artifact_bytes=1024)
    judge = ScriptedJudge(says("good"))
    found = gate_of(kb, judge=judge, store=store).review(NOTE, GROUNDING)
    assert (found.verdict, found.reason, judge.asks) == ("UNJUDGED", "nothing-read", [])
    assert [rule for rule, _, _ in rules(found)] == ["unverifiable"]
    assert found.coverage is not None and found.coverage.read == 0
    assert store.baselines() == ()


def test_texts_over_the_request_are_cut_or_left_out_and_told_and_the_verdict_is_scoped(base):
    kb = base(files("a.md", "b.md", text="word " * 3000))
    judge = ScriptedJudge(says("good"), limits=RequestLimits(context_tokens=9000))
    found = gate_of(kb, judge=judge).review(NOTE, criterion())
    assert found.verdict == "PASS" and found.coverage is not None
    assert {one.reason for one in found.coverage.unread} == {"request-size"}
    assert found.coverage.stop == "budget"
    assert "not read: " in found.scoped and "b.md" in found.scoped
    smaller = ScriptedJudge(says("bare"), limits=RequestLimits(context_tokens=9000))
    assert gate_of(kb, judge=smaller).review(NOTE, criterion()).verdict == "FAIL"  # the one that was whole
    cut = ScriptedJudge(says("good", "bare"), limits=RequestLimits(context_tokens=9000))
    assert gate_of(kb, judge=cut).review(NOTE, criterion()).verdict == "PASS"  # missing reading is no failure


def test_where_nothing_fits_nobody_is_asked(base):
    kb = base(files("a.md"))
    judge = ScriptedJudge(says("good"), limits=RequestLimits(context_tokens=10))
    found = gate_of(kb, judge=judge).review(NOTE, GROUNDING)
    assert (found.verdict, found.reason, judge.asks) == ("UNJUDGED", "request-too-large", [])


def test_what_never_left_was_not_read(base, store):
    kb = base(files("a.md", "b.md"))
    found = gate_of(kb, judge=FaultyJudge("no_consent"), store=store).review(NOTE, criterion())
    assert (found.verdict, found.reason) == ("UNJUDGED", "no_consent")
    assert found.coverage is not None and (found.coverage.read, found.pack_hash) == (0, "")
    assert {one.reason for one in found.coverage.unread} == {"not-opened"}
    assert store.reads(found.job, found.attempt) == ()
    late = gate_of(kb, judge=FaultyJudge("deadline")).review(NOTE, criterion())
    assert late.coverage is not None and late.coverage.read == 2  # it may have left


def test_a_failed_snapshot_route_fails_beside_the_answers_and_other_checks_change_nothing(base):
    note = "# n\n\nOne ([s](a.md), [x](gone.md)).\n\nTwo ([s (snapshot required)](s.ingest.md)).\n"
    kb = base({NOTE: note, "a.md": "# a\n", "s.ingest.md": "---\nsource: https://example.org\n---\n# S\n"})
    found = gate_of(kb).review(NOTE, criterion())
    assert found.verdict == "FAIL"
    assert [rule for rule, _, _ in rules(found)] == ["unverifiable", "snapshot-missing"]
    only_dangling = base({NOTE: "# n\n\nOne ([s](a.md), [x](gone.md)).\n"})
    assert gate_of(only_dangling).review(NOTE, criterion()).verdict == "PASS"


def test_an_ordinary_link_to_an_ingest_serves_its_quotations_and_never_its_snapshot(base):
    front = "---\nsource: https://example.org/a\n---\n# A\n\nAnalysis.\n\n"
    ingest = f"{front}## Quotes\n\nSource extract (verbatim): It is so.\n\nSource location: p. 1\n"
    kb = base({NOTE: "# n\n\nOne ([s](s.ingest.md)).\n", "s.ingest.md": ingest, ".snapshots/s.md": "Secret."})
    judge = ScriptedJudge(says("good"))
    gate_of(kb, judge=judge).review(NOTE, criterion())
    [ask] = judge.asks
    assert "Secret" not in str(ask.context) and "Analysis" not in str(ask.context)


def test_a_note_that_cannot_be_read_is_an_error_of_its_pair(base, store):
    ledger = MemoryLedger()
    kb = base({"big.md": "x" * 3000, "bin.md": b"\x00"}, max_artifact_bytes=1024)
    gate = gate_of(kb, store=store, ledger=ledger)
    said = [(gate.review(note, criterion()).verdict, gate.review(note, criterion()).reason)
            for note in ("gone.md", "big.md", "bin.md")]  # fmt: skip
    assert said == [("ERROR", "missing"), ("ERROR", "too-large"), ("ERROR", "non-text")]
    assert ledger.records[-1].decision is not None
    assert ledger.records[-1].decision.extra["verdict"] == "ERROR"
    assert store.baselines() == store.jobs() == ()


def test_a_pair_that_the_criterion_asks_nothing_of_is_no_pass(base):
    judge = ScriptedJudge(says("good"))
    found = gate_of(base({NOTE: "# n\n\nWords.\n"}), judge=judge).review(NOTE, criterion())
    assert (found.verdict, found.reason, judge.asks) == ("UNJUDGED", "not-applicable", [])


def test_without_a_named_judge_nothing_is_reviewed_and_the_ways_are_told(base):
    kb = base(files("a.md"))
    with pytest.raises(EvidenceError, match=r"--judge NAME .*--agent .*--export"):
        EvidenceGate(kb).review(NOTE, criterion())
    with pytest.raises(EvidenceError, match=r"evidence\.mode is off"):
        gate_of(base({}, mode="off")).review(NOTE, criterion())
    with pytest.raises(CriterionError, match="nothing-such"):
        gate_of(kb).review(NOTE, "nothing-such")


@pytest.mark.parametrize(("mode", "shadow"), [("shadow", None), ("enforce", "model_drift")])
def test_what_is_in_shadow_is_told_and_recorded_and_no_baseline(base, store, mode, shadow):
    ledger = MemoryLedger()
    judge = ScriptedJudge(says("good"), shadow=shadow)
    found = gate_of(base(files("a.md"), mode=mode), judge=judge, store=store, ledger=ledger).review(
        NOTE, criterion()
    )
    assert (found.verdict, found.shadow, found.stored) == ("PASS", shadow or "mode", True)
    assert store.baselines() == ()
    record = ledger.records[-1]
    assert record.decision is not None and record.decision.mode == "shadow"
    assert {(one.verdict, one.would) for one in record.verdicts if one.would} == {("unjudged", "admitted")}


class Meanwhile(ScriptedJudge):
    """Answers good to everything, once something else has happened."""

    def __init__(self, happens):
        super().__init__(says("good"))
        self._happens = happens

    def ask(self, ask):
        self._happens()
        return super().ask(ask)


def test_a_baseline_that_moved_on_meanwhile_wins_and_the_verdict_is_told_as_a_conflict(base, store):
    kb = base(files("a.md"))
    other = gate_of(kb, "far", store=store)
    judge = Meanwhile(lambda: other.review(NOTE, criterion()))
    found = gate_of(kb, judge=judge, store=store).review(NOTE, criterion())
    assert (found.verdict, found.conflict, found.stored) == ("PASS", True, False)
    row = store.baseline(NOTE, "c", "scripted")
    assert row is not None and row.revision == 1
    accepted = store.job(row.job, row.attempt)
    assert accepted is not None and accepted.verdict == "WARN"
    conflict = store.job(found.job, found.attempt)
    assert conflict is not None and (conflict.verdict, conflict.reason) == ("PASS", "conflict")


def test_a_note_edited_meanwhile_is_stored_as_it_was_reviewed(base, store, tmp_path):
    kb = base(files("a.md"))
    before = kb.note(NOTE).sha256
    judge = Meanwhile(lambda: (tmp_path / "root" / NOTE).write_text("# another\n"))
    gate = gate_of(kb, judge=judge, store=store)
    found = gate.review(NOTE, criterion())
    row = store.baseline(NOTE, "c", "scripted")
    assert row is not None and row.note_sha256 == found.note_sha256 == before
    assert store.text(before) is not None


def test_a_criterion_file_edited_after_it_was_read_is_stored_by_its_hash_alone(base, store, tmp_path):
    text = "---\nid: own\nasks: claims\nanswers: {good: pass, bad: fail}\n---\nLook.\n"
    kb = base({**files("a.md"), ".admit/criteria/own.md": text})
    chosen = load(kb, "own")
    judge = Meanwhile(lambda: None)
    (tmp_path / "root/.admit/criteria/own.md").write_text(text + "More.\n")
    found = gate_of(kb, judge=judge, store=store).review(NOTE, chosen)
    assert found.stored and found.criterion_sha256 == chosen.sha256
    assert store.text(chosen.sha256) is None


def test_a_store_that_cannot_be_written_costs_no_verdict(base, tmp_path):
    (tmp_path / "file").write_text("no folder")
    broken = EvidenceStore(str(tmp_path / "file" / "ledger.db"))
    found = gate_of(base(files("a.md")), store=broken).review(NOTE, criterion())
    assert (found.verdict, found.stored, found.conflict) == ("PASS", False, False)


def test_a_store_that_fails_after_the_answer_costs_no_verdict(base, store, tmp_path):
    def break_it():
        path = tmp_path / "ledger.db"
        path.write_bytes(b"no database" * 1000)
        for more in ("-wal", "-shm"):
            (tmp_path / f"ledger.db{more}").unlink(missing_ok=True)

    found = gate_of(base(files("a.md")), judge=Meanwhile(break_it), store=store).review(NOTE, criterion())
    assert (found.verdict, found.stored) == ("PASS", False)


def test_a_baseline_that_was_altered_is_an_integrity_error_before_anybody_is_asked(base, store, tmp_path):
    import sqlite3

    kb = base(files("a.md"))
    gate_of(kb, store=store).review(NOTE, criterion())
    con = sqlite3.connect(tmp_path / "ledger.db")
    con.execute("UPDATE evidence_baseline SET note_sha256 = 'sha256:no'")
    con.commit()
    con.close()
    judge = ScriptedJudge(says("good"))
    with pytest.raises(IntegrityError, match="evidence_baseline"):
        gate_of(kb, judge=judge, store=store).review(NOTE, criterion())
    assert judge.asks == []


def test_the_record_holds_the_decision_the_reads_and_no_text_of_what_was_reviewed(base):
    ledger = MemoryLedger()
    kb = base(files("a.md", "b.md", text="A secret sentence."))
    found = gate_of(kb, "good", "far", ledger=ledger).review(NOTE, criterion(front="budget: 1\n"))
    record = ledger.records[-1]
    row = record.decision
    assert row is not None
    assert (row.door, row.status, row.unit, row.cap) == ("evidence", "judged", "artifacts", 1)
    assert {one.candidate_id: one.kind for one in record.candidates} == {
        "note": "note",
        "criterion": "criterion",
        "a1": "artifact",
        "a2": "artifact",
    }
    places = {one.ord: one.candidate_id for one in record.candidates}
    assert {places[one.ord]: one.verdict for one in record.verdicts} == {
        "note": "exempt",
        "criterion": "exempt",
        "a1": "admitted",
        "a2": "blocked",
    }
    assert all(one.kind is None and one.p == () for one in record.verdicts)
    assert undeclared("evidence.decision", row.extra) == ()
    assert row.extra["pair"] == found.pair._asdict()
    assert [one["status"] for one in row.extra["offers"]] == ["admitted", "blocked"]
    reads = [one for one in record.events if one.type == "evidence.read"]
    assert [(one.body["n"], one.body["path"], one.body["via"]) for one in reads] == [(1, "a.md", "judge")]
    assert all(undeclared(one.type, one.body) == () for one in record.events)
    assert "secret" not in str(record) and "Claim 1" not in str(record)


def test_a_review_without_a_verdict_leaves_every_offer_unjudged_in_the_record(base):
    ledger = MemoryLedger()
    gate_of(base(files("a.md", "b.md")), judge=FaultyJudge("busy"), ledger=ledger).review(NOTE, criterion())
    record = ledger.records[-1]
    assert record.decision is not None
    assert (record.decision.status, record.decision.reason) == ("fallback", "busy")
    assert {one.verdict for one in record.verdicts} == {"exempt", "unjudged"}
    [event] = [one for one in record.events if one.type == "judge.fallback"]
    assert event.body["questions"] == 2


def test_the_order_of_reading_is_the_order_of_admission_and_the_pack_hash_does_not_depend_on_it(base):
    one = gate_of(base({**files("a.md", "b.md"), "m.md": files("b.md", "a.md")[NOTE]}))
    first, second = one.review(NOTE, criterion()), one.review("m.md", criterion())
    assert first.coverage is not None and second.coverage is not None
    assert names(first.coverage.opened) == ["a.md", "b.md"]
    assert names(second.coverage.opened) == ["b.md", "a.md"]
    assert first.pack_hash == second.pack_hash != ""


def test_a_pair_is_named_by_the_note_as_it_is_spelled_on_disk(base):
    found = gate_of(base({"kb/n.md": "# n\n\nOne ([s](a.md)).\n", "kb/a.md": "# a\n"})).review(
        "kb/../kb/n.md", criterion()
    )
    assert found.pair == Pair("kb/n.md", "c", "scripted")
