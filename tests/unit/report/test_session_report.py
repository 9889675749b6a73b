"""The sums over a session's scans, and what another cap would have made of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.admission import decide, plan
from admit.core.candidate import Candidate
from admit.core.events import Event
from admit.core.order import forest
from admit.core.policy import DOORS, count
from admit.core.question import Answer, Reply, fallback
from admit.ledger.memory import MemoryLedger
from admit.ledger.port import DecisionView
from admit.ledger.record import from_decision, new_id
from admit.report.session_replay import Asked, replay, totals
from admit.report.session_report import nearest_rank, summary

GATE = DOORS["guidance"]


def view(candidates, answers, *, mode="enforce", fault=None, shadow=None, ms=100.0, **policy) -> DecisionView:
    """A recorded scan: `answers` by id, a number, a defect, or None."""
    held = GATE._replace(mode=mode, **policy)
    planned = plan(forest(candidates), held)
    given_ = []
    for k, one in enumerate(planned.asked, 1):
        said = answers.get(one.id)
        if isinstance(said, str):
            given_.append(Answer(f"q{k}", "noul", defect=said))
        elif said is not None:
            given_.append(Answer(f"q{k}", "noul", (said,)))
    status = "judged" if all(isinstance(answers.get(one.id), float) for one in planned.asked) else "partial"
    reply = (
        fallback(fault, elapsed_ms=ms)
        if fault
        else Reply(status, tuple(given_), elapsed_ms=ms, shadow=shadow)
    )
    reply = reply if planned.asked and mode != "off" else None
    decision = decide(planned, reply, held)
    events = []
    if planned.overflow and decision.status not in ("off", "idle"):
        body = {"judged": len(planned.asked), "unjudged": len(planned.overflow)}
        ids = [one.id for one in planned.overflow]
        events = [Event(new_id(), "guidance.gate_capped", 1, {"scan_id": "x", **body, "unjudged_ids": ids})]
    extra = {"policy": {"fill": held.fill, "overflow": held.overflow}, "lane": "prompt"}
    ledger = MemoryLedger()
    ledger.append(
        from_decision(
            decision, door="guidance", policy=held, reply=reply, events=events, extra=extra, session="s"
        )
    )
    [found] = ledger.query(door="guidance")
    return found


def flat(n):
    return [Candidate(f"w{k:02d}", (0, 1 - k / 1000)) for k in range(n)]


def said(n, **over):
    return {f"w{k:02d}": 0.9 for k in range(n)} | over


def now(found):
    return {one.id: (one.now, one.now_reason) for one in found.candidates}


def test_verdicts_what_was_not_judged_and_fallbacks_stand_apart():
    family = [Candidate("a", (0, 0.99)), *(Candidate(f"a/{k}", (0, 0.9), "a") for k in range(9))]
    views = [
        view(flat(10), said(10, w01=0.1)),
        view(flat(9), said(9, w00="bad_sum"), ms=300.0),
        view(family, {one.id: 0.0 if one.id == "a" else 0.9 for one in family}, ms=200.0),
        view(flat(12), {}, fault="busy", ms=0.0),
        view(flat(2), said(2, w00=0.1), mode="shadow", ms=50.0),
        view(flat(2), said(2, w00=0.1), shadow="unverified", ms=60.0),
        view([Candidate("x", (2, 0), exempt=True)], {}),
        view(flat(3), {}, mode="off"),
    ]
    found = summary(views)
    assert found.requests == 6
    assert (found.passed, found.blocked, found.would_block) == (7 + 7 + 7 + 2, 2, 2)
    assert found.judged == found.passed + found.blocked + found.would_block
    assert (found.capped_requests, found.unjudged) == (4, 2 + 1 + 2 + 4)
    assert (found.ancestor_blocked, found.defects, found.exempt) == (2, 1, 1)
    assert found.fallbacks == {"busy": 1} and found.blocked_ids == {"a": 1, "w01": 1}
    assert found.unjudged_ids["w09"] == 2 and next(iter(found.unjudged_ids)) in ("w08", "w09")
    assert (found.gate_ms_p50, found.gate_ms_p95) == (60.0, 300.0)


def test_no_scan_gives_zeros_and_unknown_times():
    found = summary([])
    assert (found.requests, found.judged, found.gate_ms_p50, dict(found.fallbacks)) == (0, 0, None, {})


@pytest.mark.parametrize(
    "n, share, place", [(1, 0.5, 0), (2, 0.5, 0), (3, 0.5, 1), (20, 0.95, 18), (100, 0.95, 94)]
)
def test_percentiles_are_the_nearest_rank(n, share, place):
    assert nearest_rank([float(k) for k in reversed(range(n))], share) == place


TREES = st.lists(
    st.tuples(st.sampled_from(["a", "a/b", "a/b/c", "d", "d/e", "f", "g", "h"]), st.integers(0, 9)),
    unique_by=lambda one: one[0],
)
ANSWERS = st.one_of(st.floats(0, 1).map(lambda p: round(p, 3)), st.sampled_from(["bad_sum", "missing"]))


def nearest_above(name, names):
    while "/" in name:
        name = name.rpartition("/")[0]
        if name in names:
            return name
    return None


@given(
    tree=TREES,
    answers=st.dictionaries(st.sampled_from(["a", "a/b", "a/b/c", "d", "d/e", "f", "g", "h"]), ANSWERS),
    cap=st.integers(1, 8),
    fill=st.sampled_from(["admission", "scored_first"]),
    overflow=st.sampled_from(["pass", "block"]),
    fault=st.sampled_from([None, "busy", "deadline"]),
    mode=st.sampled_from(["enforce", "shadow", "off"]),
)
def test_a_replay_of_the_policy_of_then_gives_what_was_given_then(
    tree, answers, cap, fill, overflow, fault, mode
):
    names = {name for name, _ in tree}
    given_ = [
        Candidate(name, (value % 3, value), nearest_above(name, names), exempt=value == 9)
        for name, value in tree
    ]
    found = replay(
        view(given_, answers, mode=mode, fault=fault, cap=count(cap), fill=fill, overflow=overflow), Asked()
    )
    for one in found.candidates:
        assert (one.was, one.was_reason) == (one.now, one.now_reason)


@given(cap=st.integers(1, 15), then=st.integers(1, 15), overflow=st.sampled_from(["pass", "block"]))
def test_a_replay_under_a_smaller_cap_is_what_that_cap_would_have_given(cap, then, overflow):
    answers = said(15, w02=0.1, w05=0.0)
    found = replay(view(flat(15), answers, cap=count(then)), Asked(min(cap, then), None, overflow))
    held = GATE._replace(cap=count(min(cap, then)), overflow=overflow)
    planned = plan(forest(flat(15)), held)
    replies = tuple(Answer(f"q{k}", "noul", (answers[one.id],)) for k, one in enumerate(planned.asked, 1))
    wanted = decide(planned, Reply("judged", replies), held)
    assert now(found) == {one.id: (one.verdict, one.reason) for one in wanted.rulings}


def test_a_candidate_that_was_never_judged_is_unknown_under_a_larger_cap_and_never_guessed():
    found = replay(view(flat(10), said(10)), Asked(9))
    assert (found.asked, found.past) == (9, 1)
    assert now(found)["w08"] == ("unknown", "") and now(found)["w09"] == ("unjudged", "overflow")
    assert totals([found])["now"] == {"admitted": 8, "blocked": 0, "unjudged": 1, "exempt": 0, "unknown": 1}


FAMILY = [
    Candidate("p", (0, 0.9)),
    Candidate("a", (0, 0.8)),
    *(Candidate(f"a/{k}", (0, 0.7), "a") for k in range(2)),
]


def test_what_lies_past_the_cap_under_an_unknown_one_is_unknown_unless_it_is_blocked_anyway():
    recorded = view(FAMILY, {"p": 0.9}, cap=count(1))
    assert now(replay(recorded, Asked(2))) == {
        "p": ("admitted", "judge"), "a": ("unknown", ""), "a/0": ("unknown", ""), "a/1": ("unknown", ""),
    }  # fmt: skip
    blocked = now(replay(recorded, Asked(2, None, "block")))
    assert (blocked["a"], blocked["a/0"][0]) == (("unknown", ""), "blocked")


def test_a_block_below_an_ancestor_is_computed_anew():
    recorded = view(FAMILY, {"p": 0.9, "a": 0.0, "a/0": 0.9, "a/1": 0.9})
    assert now(replay(recorded, Asked(2)))["a/1"] == ("blocked", "ancestor")
    assert now(replay(recorded, Asked(1)))["a/1"] == ("unjudged", "overflow")


def test_a_request_that_failed_stays_failed_as_it_was_and_is_unknown_as_another():
    recorded = view(flat(10), {}, fault="deadline")
    assert set(now(replay(recorded, Asked())).values()) == {("unjudged", "fallback:deadline")}
    assert set(now(replay(recorded, Asked(None, None, "block"))).values()) == {
        ("unjudged", "fallback:deadline")
    }
    smaller = now(replay(recorded, Asked(4)))
    assert [smaller[f"w{k:02d}"][0] for k in (0, 3, 4)] == ["unknown", "unknown", "unjudged"]


def test_the_seats_go_to_scored_hits_first_when_asked_so():
    explicit = [Candidate(f"e{k}", (1, 9 - k)) for k in range(2)]
    recorded = view([*explicit, *flat(2)], {"e0": 0.9, "e1": 0.9, **said(2)})
    got = now(replay(recorded, Asked(2, "scored_first")))
    assert got["e0"] == ("unjudged", "overflow") and got["w00"] == ("admitted", "judge")
