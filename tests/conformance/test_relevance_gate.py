"""The relevance gate: a judge reads at most eight candidates, and everything it does not judge passes."""

from random import Random

import pytest

from admit.config.keys import PROFILES
from admit.core.admission import decide, plan
from admit.core.candidate import Candidate
from admit.core.order import forest
from admit.core.policy import DOORS, count
from admit.core.question import Ask, RequestLimits, fallback
from admit.core.reasons import REASONS
from admit.judges.batches import batches
from admit.judges.profiles import DoorProfile, Line, Profile, deadline_warning, profile
from admit.judges.scripted import FaultyJudge

from .gate_cases import gate, hits, no, noul, verdicts, yes

GATE = DOORS["guidance"]


def subjects(gated):
    return [question.subject for question in gated.asks[0].questions]


def test_R1_a_request_carries_at_most_eight_candidates():
    gated = gate(hits(15), GATE, yes)
    assert subjects(gated) == [f"w{k:02d}" for k in range(8)]


@pytest.mark.parametrize("cap", [1, 5, 12])
def test_R1_a_profile_may_carry_another_number(cap):
    gated = gate(hits(15), GATE._replace(cap=count(cap)), yes)
    assert len(subjects(gated)) == cap


@pytest.mark.parametrize("name", PROFILES)
def test_R1_every_shipped_profile_carries_eight_and_a_user_may_say_otherwise(name):
    own = f"judge.profiles.{name}"
    named = {f"{own}.model": "m", f"{own}.destination": "http://127.0.0.1:1", f"{own}.argv": ("judge",)}
    assert profile(name, named).doors["guidance"].max_candidates == 8
    mine = {**named, f"{own}.guidance.max_candidates": 12}
    assert profile(name, mine).doors["guidance"].max_candidates == 12


@pytest.mark.parametrize("offered", [9, 33, 60])
def test_R2_with_the_cap_at_or_above_the_offer_all_are_judged_in_one_request(offered):
    for cap in (offered, offered + 1):
        gated = gate(hits(offered), GATE._replace(cap=count(cap)), yes)
        assert len(gated.asks) == 1 and len(subjects(gated)) == offered
        assert gated.plan.overflow == () and gated.decision.coverage.overflow == 0
        assert {one.reason for one in gated.decision.rulings} == {"judge"}


MIXED = [
    # An explicit trigger's specificity stands second in its rank; a scored hit's probability does.
    Candidate("files", (1, 3)),
    Candidate("commands", (1, 2)),
    Candidate("keyword", (1, 1)),
    Candidate("files/child", (0, 0.2), "files"),
    Candidate("files/child/deep", (0, 0.95), "files/child"),
    Candidate("scored", (0, 0.99)),
    Candidate("weak", (0, 0.1)),
    Candidate("weak/strong", (0, 0.98), "weak"),
    Candidate("weak/middling", (0, 0.5), "weak"),
    Candidate("quiet", (0, 0.05)),
    Candidate("quiet/keyword", (1, 0.5), "quiet"),
]
IN_ORDER = [
    "files",
    "files/child",
    "files/child/deep",
    "commands",
    "keyword",
    "quiet",
    "quiet/keyword",
    "scored",
    "weak",
    "weak/strong",
    "weak/middling",
]


def test_R3_the_first_are_taken_explicit_before_scored_trees_whole_parents_first_siblings_by_best_score():
    gated = gate(MIXED, GATE, yes)
    assert subjects(gated) == IN_ORDER[:8]
    assert [one.id for one in gated.plan.overflow] == IN_ORDER[8:]


def test_R3_the_order_does_not_depend_on_arrival():
    random, arrival = Random(5), list(MIXED)
    for _ in range(500):
        random.shuffle(arrival)
        assert [one.id for one in forest(arrival)] == IN_ORDER


def test_R3_only_what_would_be_judged_takes_a_seat():
    strict = [Candidate(f"strict{k}", (1, 9), exempt=True) for k in range(5)]
    gated = gate([*strict, *hits(9)], GATE, yes)
    assert subjects(gated) == [f"w{k:02d}" for k in range(8)]


def test_R4_strict_patterns_are_not_judged_and_do_not_count_against_the_cap():
    strict = [Candidate(f"strict{k}", (1, 9), exempt=True) for k in range(3)]
    gated = gate([*strict, *hits(8)], GATE, no)
    assert len(subjects(gated)) == 8 and gated.plan.overflow == ()
    assert gated.decision.shown == ("strict0", "strict1", "strict2")
    assert gated.decision.coverage == (8, 0, 0, 3)


def test_R5_what_is_past_the_cap_gets_no_verdict_and_passes():
    gated = gate(hits(15), GATE, no)
    past = [f"w{k:02d}" for k in range(8, 15)]
    assert list(gated.decision.shown) == past
    assert {verdicts(gated.decision)[one] for one in past} == {("unjudged", "overflow")}


def test_R5_except_under_an_ancestor_that_the_judge_blocked():
    tree = [
        Candidate("a/b", (0, 0.9)),
        Candidate("a/b/c", (0, 0.8), "a/b"),
        Candidate("a/b/c/d", (0, 0.7), "a/b/c"),
        Candidate("a/b-x", (0, 0.6)),
    ]
    blocked = gate(tree, GATE._replace(cap=count(1)), no).decision
    assert verdicts(blocked) == {
        "a/b": ("blocked", "judge"),
        "a/b/c": ("blocked", "ancestor"),
        "a/b/c/d": ("blocked", "ancestor"),
        "a/b-x": ("unjudged", "overflow"),
    }
    assert {one.ancestor for one in blocked.rulings if one.reason == "ancestor"} == {"a/b"}
    assert gate(tree, GATE._replace(cap=count(1)), yes).decision.shown == tuple(one.id for one in tree)


def test_R6_past_the_deadline_everything_passes_as_the_matcher_decided():
    late = gate(hits(15), GATE, no, delay_ms=2100).decision
    assert (late.status, late.reason) == ("fallback", "deadline")
    assert late.shown == tuple(f"w{k:02d}" for k in range(15))
    assert set(verdicts(late).values()) == {("unjudged", "fallback:deadline")}


def test_R6_within_the_deadline_verdicts_hold():
    assert gate(hits(5), GATE, no, delay_ms=1900).decision.shown == ()


@pytest.mark.parametrize("fault", [*REASONS, "raises", "no_answers"])
def test_R6_on_any_failure_everything_passes_and_the_reason_is_told(fault):
    gated = gate(hits(15), GATE, FaultyJudge(fault))
    reason = {"raises": "internal", "no_answers": "answer_defects"}.get(fault, fault)
    assert (gated.decision.status, gated.decision.reason) == ("fallback", reason)
    assert len(gated.decision.shown) == 15 and len(gated.asks) == 1
    assert not any(one.verdict == "blocked" for one in gated.decision.rulings)


def test_R6_the_deadline_of_the_gate_is_two_seconds_and_one_request_is_made_per_prompt():
    gated = gate(hits(60), GATE, yes)
    assert [ask.deadline_ms for ask in gated.asks] == [2000]


def test_R7_a_capped_request_tells_how_many_were_judged_how_many_were_not_and_which():
    decision = gate(hits(15), GATE, yes).decision
    unjudged = [one.id for one in decision.rulings if one.reason == "overflow"]
    assert (decision.coverage.judged, decision.coverage.unjudged, decision.coverage.overflow) == (8, 7, 7)
    assert unjudged == [f"w{k:02d}" for k in range(8, 15)]


def test_R7_verdicts_fallbacks_and_unjudged_are_counted_apart():
    judged, failed = gate(hits(15), GATE, yes).decision, gate(hits(15), GATE, FaultyJudge("busy")).decision
    assert (judged.status, judged.coverage) == ("judged", (8, 7, 7, 0))
    assert (failed.status, failed.reason, failed.coverage) == ("fallback", "busy", (0, 15, 7, 0))


def test_R8_an_older_reader_fails_open_and_says_so_on_every_request():
    judge = FaultyJudge("agent_error")
    for _ in range(3):
        decision = gate(hits(15), GATE, judge).decision
        assert (decision.status, decision.reason) == ("fallback", "agent_error")
        assert len(decision.shown) == 15
    assert len(judge.asks) == 3


def test_R8_the_cap_is_applied_before_the_judge_is_asked():
    gated = gate(hits(33), GATE, yes)
    assert [question.id for question in gated.asks[0].questions] == [f"q{k}" for k in range(1, 9)]


def chat_profile(most, timeout_ms=2000):
    return Profile("x", "chat", "some-model", {"guidance": DoorProfile(most, 0.3, timeout_ms)})


def test_R9_a_cap_that_cannot_be_judged_in_time_is_warned_of():
    assert deadline_warning(chat_profile(40), "guidance") == (
        "x.guidance: 40 candidates take about 4.6 s (0.6 s + 0.1 s × 40, assumed), "
        "timeout_ms is 2,000: requests will fall back"
    )


@pytest.mark.parametrize("most, timeout_ms, warned", [(8, 2000, False), (14, 2000, False), (15, 2000, True)])
def test_R9_the_warning_begins_where_the_cap_passes_the_deadline(most, timeout_ms, warned):
    assert (deadline_warning(chat_profile(most, timeout_ms), "guidance") is not None) == warned


def test_R9_raising_the_deadline_with_the_cap_ends_the_warning():
    assert deadline_warning(chat_profile(40, 4600), "guidance") is None
    assert deadline_warning(chat_profile(40, 4599), "guidance") is not None


def test_R9_a_fitted_line_takes_the_place_of_the_assumed_one():
    slow = deadline_warning(chat_profile(8), "guidance", Line(900, 200, "fitted, 42 calls"))
    assert slow is not None and "(0.9 s + 0.2 s × 8, fitted, 42 calls)" in slow


def test_R10_overflow_passes_or_is_blocked_by_a_switch():
    assert gate(hits(10), GATE, yes).decision.shown == tuple(f"w{k:02d}" for k in range(10))
    blocking = gate(hits(10), GATE._replace(overflow="block"), yes).decision
    assert blocking.shown == tuple(f"w{k:02d}" for k in range(8))
    assert verdicts(blocking)["w09"] == ("blocked", "overflow")


def test_R10_the_seats_go_to_explicit_or_to_scored_candidates_first_by_a_switch():
    explicit = [Candidate(f"e{k}", (1, 9 - k)) for k in range(8)]
    gated = {
        fill: gate([*explicit, *hits(4)], GATE._replace(fill=fill), yes)
        for fill in ("admission", "scored_first")
    }
    assert subjects(gated["admission"]) == [f"e{k}" for k in range(8)]
    assert subjects(gated["scored_first"]) == ["e0", "e1", "e2", "e3", "w00", "w01", "w02", "w03"]
    assert len({one.decision.shown for one in gated.values()}) == 1


def test_R11_the_deadline_does_not_grow_with_the_count():
    for offered in (1, 8, 60):
        gated = gate(hits(offered), GATE._replace(cap=count(60)), yes)
        assert [ask.deadline_ms for ask in gated.asks] == [2000]


def test_R11_candidates_are_never_split_over_requests():
    questions = tuple(noul(k, one) for k, one in enumerate(hits(60), 1))
    tight = RequestLimits(batch_questions=32, batch_bytes=1000)
    assert len(batches(Ask("guidance", "fix", (), questions, None, 2000, "r1"), tight)) == 1


def test_a_request_that_was_not_made_shows_what_a_failed_one_shows():
    planned = plan(forest(MIXED), GATE)
    assert decide(planned, None, GATE).shown == decide(planned, fallback("busy"), GATE).shown
