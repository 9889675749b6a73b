"""The output filter: passages that score at least 1.5 of 3 are kept; any failure keeps the excerpt."""

import pytest

from admit.core.candidate import Candidate
from admit.core.order import as_given
from admit.core.policy import DOORS
from admit.core.question import Score
from admit.core.reasons import REASONS
from admit.judges.scripted import FaultyJudge

from .gate_cases import LEVELS, gate, score, verdicts

FILTER = DOORS["outputs"]
PUBLISHED = FILTER._replace(unjudged="reject")
CHUNKS = [Candidate(f"c{k}", (1.0,), sizes={"chars": 2000}) for k in range(1, 7)]
SCORES = {"c1": 0.0, "c2": 3.0, "c3": 1.49, "c4": 1.5, "c5": 2.2, "c6": 1.0}


def filtered(answers, policy=FILTER, **how):
    return gate(CHUNKS, policy, answers, order=as_given, question=score, timeout_ms=4000, **how)


def test_F4_one_score_question_per_chunk_on_four_levels():
    asked = filtered(SCORES).asks
    assert len(asked) == 1
    assert [question.subject for question in asked[0].questions] == [one.id for one in CHUNKS]
    assert all(isinstance(one, Score) and one.levels == LEVELS for one in asked[0].questions)
    assert asked[0].deadline_ms == 4000


def test_F4_chunks_at_or_above_the_minimum_are_kept_in_their_order():
    decision = filtered(SCORES).decision
    assert decision.shown == ("c2", "c4", "c5")
    assert verdicts(decision)["c4"] == ("admitted", "judge")
    assert verdicts(decision)["c3"] == ("blocked", "judge")


def test_F4_the_minimum_is_held_against_the_expectation_over_the_levels():
    spread = {one.id: (0.0, 0.5, 0.5, 0.0) for one in CHUNKS} | {"c1": (0.0, 0.51, 0.49, 0.0)}
    decision = filtered(spread).decision
    assert decision.shown == ("c2", "c3", "c4", "c5", "c6")
    assert decision.rulings[1].value == 1.5


@pytest.mark.parametrize("fault", [*REASONS, "raises", "no_answers", "not_finite"])
@pytest.mark.parametrize("policy", [FILTER, PUBLISHED])
def test_F5_any_failure_keeps_what_stands_without_a_judge_with_the_reason(policy, fault):
    decision = filtered(FaultyJudge(fault), policy).decision
    words = {"raises": "internal", "no_answers": "answer_defects", "not_finite": "answer_defects"}
    assert (decision.status, decision.reason) == ("fallback", words.get(fault, fault))
    assert decision.shown == tuple(one.id for one in CHUNKS)


def test_F5_a_timeout_is_a_failure():
    decision = filtered(SCORES, delay_ms=4100).decision
    assert (decision.status, decision.reason) == ("fallback", "deadline")


def test_F5_no_chunk_passing_is_a_failure():
    decision = filtered(dict.fromkeys(SCORES, 1.4)).decision
    assert (decision.status, decision.reason) == ("fallback", "none_passed")
    assert decision.shown == tuple(one.id for one in CHUNKS)


def test_F5_one_failed_answer_is_a_failure_as_published_and_unjudged_by_default():
    scores = SCORES | {"c6": "batch_failed"}
    published, default = filtered(scores, PUBLISHED).decision, filtered(scores).decision
    assert (published.status, published.reason) == ("fallback", "answer_defects")
    assert published.shown == tuple(one.id for one in CHUNKS)
    assert (default.status, default.shown) == ("partial", ("c2", "c4", "c5", "c6"))
    assert verdicts(default)["c6"] == ("unjudged", "defect:batch_failed")
