"""The front door: what is due, many pairs, and what stands."""

from __future__ import annotations

import json
import threading

import pytest

from admit.core.question import RequestLimits
from admit.errors import EvidenceError, IntegrityError
from admit.evidence.gate import DEADLINE_MS, EvidenceGate
from admit.evidence.model import Pair
from admit.judges.door import DoorJudge
from admit.judges.profiles import profile
from admit.judges.scripted import FaultyJudge, ScriptedJudge
from admit.ledger.evidence import EvidenceStore

from .reviews import GROUNDING, NOTE, criterion, files, gate_of, says


@pytest.fixture
def store(tmp_path):
    return EvidenceStore(str(tmp_path / "ledger.db"))


def notes(count):
    """Notes n1.md on, each with one claim."""
    return {f"n{k}.md": f"# n\n\nClaim ([s](a{k}.md)).\n" for k in range(1, count + 1)} | {
        f"a{k}.md": f"# a{k}\n" for k in range(1, count + 1)
    }


def paths(due):
    return [path for path, _ in due.pairs]


def test_the_plans_of_a_folder_come_in_the_order_of_paths_and_under_the_cap_asked_for(base):
    gate = EvidenceGate(base({**notes(3), "b.md": "# b\n"}))
    planned = list(gate.plan_many([gate.base.root], criterion()))
    assert [one.note.path for one in planned][-3:] == ["n1.md", "n2.md", "n3.md"]
    assert gate.plan("n1.md", criterion(), cap=1).cap == 1
    assert gate.plan("n1.md", criterion(front="budget: 3\n")).cap == 3
    assert gate.plan("n1.md", criterion(front="budget: 3\n"), cap=None).cap is None
    assert gate.replay(gate.plan("n1.md"), cap=5).cap == 5


def test_a_pack_holds_to_the_limits_of_the_judge(base):
    kb = base(files("a.md", text="word " * 4000))
    chosen = criterion()
    plain = EvidenceGate(kb)
    [whole] = plain.pack(plain.plan(NOTE, chosen)).items
    held = gate_of(kb, judge=ScriptedJudge({}, limits=RequestLimits(context_tokens=4000)))
    [cut] = held.pack(held.plan(NOTE, chosen)).items
    assert (whole.shape, cut.shape) == ("whole", "head")


def test_many_reviews_come_in_the_order_of_the_pairs_and_are_worked_on_at_once(base, store):
    kb = base(notes(6))
    together = threading.Barrier(3)

    class Waiting(ScriptedJudge):
        def ask(self, ask):
            together.wait(10)
            return super().ask(ask)

    gate = gate_of(kb, judge=Waiting(says("good")), store=store)
    given = [(f"n{k}.md", criterion()) for k in (4, 1, 6, 2, 5, 3)]
    found = list(gate.review_many(given, workers=3))
    assert [one.pair.note for one in found] == [path for path, _ in given]
    assert {one.verdict for one in found} == {"PASS"} and all(one.stored for one in found)


def test_what_is_done_when_it_is_left_early_stays_and_only_the_rest_is_due(base, store):
    kb = base(notes(5))
    gate = gate_of(kb, store=store)
    every = [f"n{k}.md" for k in range(1, 6)]
    running = gate.review_many(gate.due(every, [criterion()]).pairs, workers=1)
    assert next(running).stored
    running.close()  # type: ignore[attr-defined]
    for thread in threading.enumerate():
        if thread.name.startswith("review-"):
            thread.join(10)
    done = {row.note for row in store.baselines()}
    left = gate.due(every, [criterion()])
    assert "n1.md" in done and paths(left) == [one for one in every if one not in done]
    assert left.fresh == len(done)
    list(gate.review_many(left.pairs))
    assert gate.due(every, [criterion()]).pairs == ()


def test_the_pairs_that_are_due_are_the_stale_and_the_missing_ones(base, store, tmp_path):
    kb = base(notes(3))
    gate = gate_of(kb, store=store)
    every = ["n1.md", "n2.md", "n3.md"]
    list(gate.review_many([(path, criterion()) for path in every]))
    assert (gate.due(every, [criterion()]).pairs, gate.due(every, [criterion()]).fresh) == ((), 3)
    (tmp_path / "root/a1.md").write_text("# another\n")
    (tmp_path / "root/n2.md").write_text("# n\n\nClaim, edited ([s](a2.md)).\n")
    assert paths(gate.due(every, [criterion()])) == ["n1.md", "n2.md"]
    assert paths(gate.due(every, [criterion()], reasons=["note-changed"])) == ["n2.md"]
    assert paths(gate.due(every, [criterion()], fresh=True)) == every
    edited = criterion(front="budget: 1\n")._replace(sha256="sha256:" + "d" * 64)
    assert paths(gate.due(every, [edited], reasons=["criterion-changed"])) == every
    stands = {one.pair.note: one.reasons for one in gate.status([kb.root], [criterion()])}
    assert stands == {"n1.md": ("linked-changed",), "n2.md": ("note-changed",), "n3.md": ()}


def test_unjudged_pairs_stay_due(base, store):
    gate = gate_of(base(notes(2)), judge=FaultyJudge("busy"), store=store)
    every = ["n1.md", "n2.md"]
    assert {one.verdict for one in gate.review_many(gate.due(every, [criterion()]).pairs)} == {"UNJUDGED"}
    assert paths(gate.due(every, [criterion()])) == every


def test_a_note_that_cannot_be_read_is_due_and_one_without_claims_is_counted(base, store):
    gate = gate_of(base({**notes(1), "plain.md": "# p\n\nWords.\n"}), store=store)
    found = gate.due(["gone.md", "n1.md", "plain.md"], [criterion(), criterion("[note]")])
    assert paths(found) == ["gone.md", "gone.md", "n1.md", "n1.md", "plain.md"]
    assert found.not_applicable == 1
    assert [one.verdict for one in gate.review_many(found.pairs)] == [
        "ERROR",
        "ERROR",
        "PASS",
        "PASS",
        "PASS",
    ]


def test_a_store_that_cannot_be_read_makes_everything_due_and_an_altered_row_stops(base, store, tmp_path):
    kb = base(notes(1))
    (tmp_path / "file").write_text("no folder")
    broken = EvidenceStore(str(tmp_path / "file" / "ledger.db"))
    assert paths(gate_of(kb, store=broken).due(["n1.md"], [criterion()])) == ["n1.md"]
    gate = gate_of(kb, store=store)
    gate.review("n1.md", criterion())
    import sqlite3

    con = sqlite3.connect(tmp_path / "ledger.db")
    con.execute("UPDATE evidence_baseline SET note_sha256 = 'sha256:no'")
    con.commit()
    con.close()
    with pytest.raises(IntegrityError):
        gate.due(["n1.md"], [criterion()])


def test_an_ack_takes_the_edited_note_as_reviewed(base, store, tmp_path):
    kb = base(notes(1))
    gate = gate_of(kb, store=store)
    gate.review("n1.md", GROUNDING)
    (tmp_path / "root/n1.md").write_text("# n\n\nClaim, edited ([s](a1.md)).\n")
    pair = Pair("n1.md", GROUNDING.id, gate.partition)
    assert [one.reasons for one in gate.status([str(tmp_path / "root/n1.md")], [GROUNDING])] == [
        ("note-changed",)
    ]
    gate.ack(pair)
    assert gate.status([str(tmp_path / "root/n1.md")], [GROUNDING])[0].fresh


def test_a_job_is_exported_opened_and_ended_through_the_gate(base, store, tmp_path):
    text = "---\nid: own\nasks: claims\nbudget: 1\nanswers: {good: pass, bad: fail}\n---\nLook.\n"
    kb = base({**files("a.md", "b.md"), ".admit/criteria/own.md": text})
    gate = EvidenceGate(kb, store=store)
    with pytest.raises(EvidenceError, match="budget"):
        gate.export(gate.plan(NOTE, "own", cap=2), str(tmp_path / "jobs"))
    job = gate.export(gate.plan(NOTE, "own"), str(tmp_path / "jobs"))
    assert "The text." in gate.open(job.id, "a1")
    with pytest.raises(EvidenceError):
        gate.open(job.id, "a2")
    (tmp_path / "jobs" / job.id / "output.md").write_text("nothing of the kind")
    assert gate.finalize(job.id).verdict == "UNJUDGED"


def test_a_gate_without_a_store_keeps_nothing_and_says_so(base):
    gate = gate_of(base(notes(1)))
    assert not gate.review("n1.md", criterion()).stored
    with pytest.raises(EvidenceError, match="store"):
        gate.status(["n1.md"])


def test_a_judge_comes_with_the_name_the_partition_and_the_deadline_of_its_profile(base):
    chosen = profile("jev")
    judge = ScriptedJudge(says("good"), name="inner")
    door = DoorJudge(judge, chosen, chosen.doors["evidence"]._replace(timeout_ms=4321), None, "sha256:p")
    gate = EvidenceGate(base(notes(1)), door)
    found = gate.review("n1.md", criterion())
    assert (found.pair.partition, found.judge, gate.partition) == ("jev-1.13", "jev", "jev-1.13")
    assert judge.asks[0].deadline_ms == 4321
    bare = ScriptedJudge(says("good"))
    gate_of(base({}), judge=bare).review("n1.md", criterion())
    assert bare.asks[0].deadline_ms == DEADLINE_MS


def test_a_review_is_plain_json_for_whoever_keeps_it(base, store):
    from admit.evidence.as_json import document

    gate = gate_of(base(notes(2)), store=store)
    told = document("review", gate.review_many(gate.due(["n1.md", "n2.md"], [criterion()]).pairs))
    assert json.loads(json.dumps(told)) == told


def test_the_checks_need_no_judge_and_come_by_note(base):
    gate = EvidenceGate(base({"b.md": "# b\n\n[x](gone.md)\n", "a.md": "# a\n\n[y](../out.md)\n"}))
    assert [(one.note, one.rule) for one in gate.lint([gate.base.root])] == [
        ("a.md", "outside"),
        ("b.md", "dangling"),
    ]
    assert [one.rule for one in gate.lint([gate.base.root], rules=["dangling"])] == ["dangling"]


def test_paths_of_the_library_start_at_the_root_wherever_it_is_called_from(base, tmp_path, monkeypatch):
    kb = base({"kb/n.md": "# n\n\n[t](t.md)\n", "kb/t.md": "# t\n", "kb/gone.md": "[x](nowhere.md)\n"})
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "kb").mkdir(parents=True)
    monkeypatch.chdir(elsewhere)
    gate = EvidenceGate(kb)
    assert [one.note.path for one in gate.plan_many(["kb"])] == ["kb/gone.md", "kb/n.md", "kb/t.md"]
    assert [one.rule for one in gate.lint(["kb"])] == ["dangling"]


def test_a_judge_that_cannot_say_its_limits_costs_no_exception(base):
    class Odd(ScriptedJudge):
        def limits(self):
            raise RuntimeError("no idea")

    kb = base({"n.md": "# n\n\nA claim, see [t](t.md).\n", "t.md": "# t\n"})
    assert EvidenceGate(kb, Odd({})).review("n.md", "grounding-alignment").verdict == "UNJUDGED"
