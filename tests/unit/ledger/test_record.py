"""From a decision of the pipeline to its record."""

from __future__ import annotations

import pytest

from admit.core.admission import decide, plan
from admit.core.candidate import Budget, Candidate
from admit.core.events import undeclared
from admit.core.order import forest
from admit.core.policy import Policy, count
from admit.core.question import Answer, Call, Reply, fallback
from admit.ledger.record import from_decision, new_id

TREE = [
    Candidate("root", (1.0, 0.9), sizes={"chars": 10}),
    Candidate("child", (0.0, 0.8), parent="root", sizes={"chars": 20}),
    Candidate("other", (0.0, 0.3), sizes={"chars": 40}),
    Candidate("always", (2.0, 0.0), exempt=True),
]


def noul(k: int, p: float) -> Answer:
    return Answer(f"q{k}", "noul", (p,))


def recorded(policy: Policy, reply: Reply | None, **more):
    planned = plan(forest(TREE), policy)
    return from_decision(decide(planned, reply, policy), door="guidance", policy=policy, reply=reply, **more)


def test_counts_limits_and_status_are_those_of_the_decision():
    reply = Reply("judged", (noul(1, 0.9), noul(2, 0.1)), elapsed_ms=12.5)
    row = recorded(Policy(cap=count(2), threshold=0.3), reply, session="s", cap=7).decision
    assert (row.n_gathered, row.n_within, row.n_overflow, row.n_exempt) == (4, 2, 1, 1)
    assert (row.n_admitted, row.n_blocked, row.n_unjudged) == (1, 1, 1)
    assert (row.unit, row.cap, row.threshold, row.judge_ms, row.size_in) == ("count", 7, 0.3, 12.5, 70)
    assert (row.door, row.session, row.status, row.mode) == ("guidance", "s", "judged", "enforce")
    assert len(row.decision_id) == 32


def test_candidates_stand_in_admission_order_with_all_that_replay_needs():
    rec = recorded(Policy(cap=count(2), threshold=0.3), Reply("judged", (noul(1, 0.9), noul(2, 0.9))))
    assert [(row.ord, row.candidate_id) for row in rec.candidates] == [
        (1, "always"),
        (2, "root"),
        (3, "child"),
        (4, "other"),
    ]
    root, child, other = rec.candidates[1:]
    assert (root.parent_ord, child.parent_ord, other.within) == (None, 2, False)
    assert (root.rank_key, root.rank_tier, root.score, root.size) == ((1.0, 0.9), 1, 0.9, 10)


def test_a_verdict_names_its_reason_its_judge_and_the_ancestor_that_decided():
    call = Call("local", "minilm", total_ms=3.0)
    reply = Reply("judged", (noul(1, 0.1),), calls=(call,))
    rec = recorded(Policy(cap=count(1), threshold=0.3), reply, decision_id="d")
    verdicts = {row.ord: row for row in rec.verdicts}
    assert (verdicts[1].verdict, verdicts[1].reason) == ("exempt", "exempt")
    assert (verdicts[2].verdict, verdicts[2].p, verdicts[2].kind, verdicts[2].call_id) == (
        "blocked",
        (0.1,),
        "noul",
        "d.1",
    )
    assert (verdicts[3].verdict, verdicts[3].reason, verdicts[3].ancestor_ord) == ("blocked", "ancestor", 2)
    assert verdicts[4].verdict == "unjudged"
    assert [(row.call_id, row.model_asked, row.cost_usd) for row in rec.calls] == [("d.1", "minilm", None)]


def test_of_a_score_the_expectation_is_kept_of_a_noul_it_is_not():
    policy = Policy(cap=count(2), threshold=1.5)
    answers = (
        Answer("q1", "score", (0.0, 0.0, 0.5, 0.5), 2.5),
        Answer("q2", "score", (1.0, 0.0, 0.0, 0.0), 0.0),
    )
    rec = recorded(policy, Reply("judged", answers))
    assert [row.expectation for row in rec.verdicts] == [None, 2.5, 0.0, None]
    nouls = recorded(Policy(cap=count(2), threshold=0.3), Reply("judged", (noul(1, 0.9), noul(2, 0.9))))
    assert {row.expectation for row in nouls.verdicts} == {None}


def test_in_shadow_mode_would_says_what_enforcing_had_ruled():
    policy = Policy(cap=count(2), threshold=0.3, mode="shadow")
    rec = recorded(policy, Reply("judged", (noul(1, 0.1), noul(2, 0.9))))
    assert [(row.source, row.verdict, row.would) for row in rec.verdicts][1:3] == [
        ("shadow", "unjudged", "blocked"),
        ("shadow", "unjudged", "admitted"),
    ]


def test_a_reply_that_may_not_act_makes_it_a_shadow_decision_that_says_why():
    reply = Reply("judged", (noul(1, 0.1), noul(2, 0.9)), shadow="unverified")
    rec = recorded(Policy(cap=count(2), threshold=0.3), reply)
    assert (rec.decision.mode, rec.decision.status, rec.decision.extra["shadow"]) == (
        "shadow",
        "judged",
        "unverified",
    )
    assert {(row.source, row.would) for row in rec.verdicts[1:3]} == {
        ("shadow", "blocked"),
        ("shadow", "admitted"),
    }


def test_a_fallback_and_what_happened_on_the_way_are_events_of_the_decision():
    notes = (("judge.cooldown", {"destination": "https://a:443", "until_s": 9, "cause": "connect"}),)
    call = Call("https://a:443", "m", questions=2, sent="no", outcome="fallback", reason="connect")
    reply = fallback("connect", elapsed_ms=7.5, calls=(call,))._replace(notes=notes)
    rec = recorded(Policy(cap=count(2), threshold=0.3), reply, deadline_ms=2_000, session="s")
    assert [(one.type, one.session) for one in rec.events] == [
        ("judge.fallback", "s"),
        ("judge.cooldown", "s"),
    ]
    assert rec.events[0].body == {
        "reason": "connect",
        "elapsed_ms": 7.5,
        "deadline_ms": 2_000,
        "questions": 2,
    }
    assert [odd for one in rec.events for odd in undeclared(one.type, one.body)] == []
    assert len({one.event_id for one in rec.events}) == 2
    assert [(row.reason, row.sent, row.cost_usd) for row in rec.calls] == [("connect", "no", None)]
    assert [row.reason for row in rec.verdicts[1:]] == ["fallback:connect"] * 3


def test_quirks_and_spoiled_answers_stand_in_the_doors_own_fields():
    spoiled = Answer("q2", "noul", defect="out_of_range")
    reply = Reply("partial", (noul(1, 0.9), spoiled), "answer_defects", quirks=("no_usage",))
    extra = recorded(Policy(cap=count(2), threshold=0.3), reply).decision.extra
    assert extra == {"quirks": ["no_usage"], "defects": {"out_of_range": 1}}


def test_what_a_budget_withheld_and_another_display_order_are_kept_by_place():
    show = Budget({"chars": 45}, "skip")
    policy = Policy(cap=count(8), show=show, threshold=0.3, reorder="by_p")
    rec = recorded(policy, Reply("judged", (noul(1, 0.5), noul(2, 0.9), noul(3, 0.8))), extra={"mine": 1})
    assert rec.decision.extra == {"mine": 1, "shown": [1, 3, 2], "withheld": [[4, "over_budget"]]}


def test_kinds_hashes_and_spans_go_to_their_candidates():
    rec = recorded(
        Policy(cap=count(8)),
        None,
        kind={"root": "way"},
        text_hashes={"root": "hmac:x"},
        spans={"other": [3, 4]},
    )
    rows = {row.candidate_id: row for row in rec.candidates}
    assert (rows["root"].kind, rows["root"].text_hash, rows["other"].span, rows["other"].kind) == (
        "way",
        "hmac:x",
        [3, 4],
        None,
    )


def test_a_column_that_there_is_not_is_refused():
    with pytest.raises(TypeError, match="colour"):
        recorded(Policy(), None, colour="red")


def test_ids_are_128_random_bits():
    assert len({new_id() for _ in range(100)}) == 100
    assert all(len(new_id()) == 32 for _ in range(10))
