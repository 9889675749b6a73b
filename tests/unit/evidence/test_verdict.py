"""From answers to a verdict: the gravest counts, a tie never becomes the milder one, reading never a FAIL."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.question import Answer, Choice
from admit.evidence.coverage import coverage
from admit.evidence.criterion import Outcome
from admit.evidence.model import Item, Unavailable
from admit.evidence.note import Block
from admit.evidence.pack import pack
from admit.evidence.planning import plan
from admit.evidence.questions import Asked, Target, targets
from admit.evidence.settings import Settings
from admit.evidence.verdict import answer_findings, answered, route_findings, unread_findings, verdict

from .reviews import NOTE, criterion, files

OUTCOMES: tuple[tuple[str, Outcome], ...] = (
    ("good", "pass"),
    ("hint", "info"),
    ("far", "warn"),
    ("bare", "fail-if-read"),
    ("wrong", "fail"),
)
LABELS = tuple(label for label, _ in OUTCOMES)
GRAVITY = {"pass": 0, "info": 1, "warn": 2, "fail": 3}
BLOCK = Block("b1", 0, 5, 1, 1, "Claim", "claim")
ITEM = Item("a1", "a.md", "a.md", "whole", "note", (1,), "text", "sha256:0", "sha256:0")


def one(complete=True, k=1):
    target = Target(BLOCK, ("a1",), (ITEM,), (), (), complete)
    return Asked(Choice(f"q{k}", "Claim", "ask", tuple((x, x) for x in LABELS)), OUTCOMES, target)


def given_p(*p, complete=True):
    found = answered((one(complete),), (Answer("q1", "choice", p),))
    assert found is not None
    return found[0].label, found[0].outcome


def sure(label):
    return Answer("q1", "choice", tuple(1.0 if name == label else 0.0 for name in LABELS))


@pytest.mark.parametrize(
    ("label", "said"),
    [("good", "PASS"), ("hint", "PASS"), ("far", "WARN"), ("bare", "FAIL"), ("wrong", "FAIL")],
)
def test_the_outcome_of_the_label_is_the_verdict(label, said):
    found = answered((one(),), (sure(label),))
    assert found is not None
    assert verdict(found, ()) == said


def test_what_was_not_wholly_read_is_never_a_failure_for_holding_nothing():
    assert given_p(0, 0, 0, 1, 0, complete=False) == ("bare", "info")
    assert given_p(0, 0, 0, 0, 1, complete=False) == ("wrong", "fail")


def test_of_equally_probable_labels_the_graver_is_taken_and_then_the_first():
    assert given_p(0.5, 0, 0.5, 0, 0) == ("far", "warn")
    assert given_p(0.5, 0.5, 0, 0, 0) == ("hint", "info")
    assert given_p(0, 0, 0, 0.5, 0.5) == ("bare", "fail")
    assert given_p(0, 0, 0.4, 0.4, 0.2, complete=False) == ("far", "warn")


@given(st.lists(st.integers(0, 20), min_size=5, max_size=5).filter(any), st.booleans())
def test_no_label_that_is_as_probable_as_the_chosen_one_is_graver(parts, complete):
    p = tuple(part / sum(parts) for part in parts)
    label, outcome = given_p(*p, complete=complete)
    read = "fail" if complete else "info"
    worth = {name: read if word == "fail-if-read" else word for name, word in OUTCOMES}
    likely = [name for name, part in zip(LABELS, parts, strict=True) if part == max(parts)]
    assert label in likely
    assert GRAVITY[outcome] == max(GRAVITY[worth[name]] for name in likely)


@pytest.mark.parametrize(
    "answers",
    [
        (),
        (Answer("q1", "choice", (), None, "missing"),),
        (Answer("q1", "choice", (0.5, 0.5)),),
        (Answer("q3", "choice", (1.0, 0, 0, 0, 0)),),
    ],
)
def test_a_question_without_a_valid_answer_spoils_them_all(answers):
    assert answered((one(),), answers) is None
    assert answered((one(), one(k=2)), (sure("good"), *answers)) is None


@given(st.lists(st.sampled_from(LABELS), max_size=6))
def test_one_more_answer_never_makes_a_verdict_milder(labels):
    order = ["PASS", "WARN", "FAIL"]
    steps = []
    for count in range(len(labels) + 1):
        asked = tuple(one(k=k + 1) for k in range(count))
        answers = [sure(label)._replace(id=f"q{k}") for k, label in enumerate(labels[:count], 1)]
        found = answered(asked, answers)
        assert found is not None
        steps.append(order.index(verdict(found, ())))
    assert all(before <= after for before, after in pairwise(steps))


def test_a_finding_quotes_the_claim_and_names_label_artifact_and_what_was_read_for_it(base):
    kb = base(files("a.md", "b.md"))
    planned = plan(kb, NOTE, criterion())
    items = pack(kb, planned).items
    first, second = targets(planned, items)
    asked = tuple(
        Asked(one()[0]._replace(id=f"q{k}"), OUTCOMES, target) for k, target in enumerate((first, second), 1)
    )
    found = answered(asked, (sure("far"), sure("good")._replace(id="q2")))
    assert found is not None
    [finding] = answer_findings(planned, found)
    assert (finding.rule, finding.severity, finding.origin) == ("far", "WARN", "judge")
    assert (finding.claim, finding.block, finding.line) == ("Claim 1 ([s](a.md)).", first.block.id, 3)
    assert finding.artifact == "a.md" and "a1 a.md" in finding.text
    assert planned.note.text.encode()[finding.start : finding.end].decode() == finding.claim
    assert finding.passage == ""


def test_a_block_of_which_nothing_was_read_is_told_with_its_routes_and_why(base):
    note = "# n\n\nOne ([s](a.md)).\n\nTwo ([s](b.md), [x](gone.md)).\n"
    kb = base({NOTE: note, "a.md": "# a\n", "b.md": "# b\n"})
    planned = plan(kb, NOTE, criterion(front="budget: 1\n"))
    packed = pack(kb, planned)
    read = coverage(planned, packed.items, left=packed.left_out)
    [finding] = unread_findings(planned, targets(planned, packed.items), read)
    assert (finding.rule, finding.severity, finding.origin) == ("unverifiable", "INFO", "check")
    assert finding.artifact == "b.md"
    assert "a2 b.md (budget)" in finding.text and "gone.md (missing)" in finding.text


def test_a_declared_snapshot_that_is_not_there_fails_by_its_rule_and_other_links_do_not(base):
    note = "# n\n\nOne ([s (snapshot required)](s.ingest.md), [x](gone.md)).\n"
    kb = base({NOTE: note, "s.ingest.md": "---\nsource: https://example.org\n---\n# S\n"})
    planned = plan(kb, NOTE, criterion())
    [finding] = route_findings(planned, (), Settings().severity)
    assert (finding.rule, finding.severity, finding.origin) == ("snapshot-missing", "FAIL", "check")
    assert (finding.artifact, finding.line) == ("s.ingest.md", 3)
    assert verdict((), (finding,)) == "FAIL"
    assert route_findings(planned, (), {**Settings().severity, "snapshot-missing": None}) == ()
    late = Unavailable("gone.md", 2, "artifact", "changed")
    assert route_findings(planned, (late,), Settings().severity) == (finding,)
