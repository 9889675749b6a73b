"""The failure table of the doors: what each shows when its judge fails, in every way a judge can fail."""

import pytest

from admit.core.admission import decide, plan
from admit.core.candidate import UNBOUNDED, Budget, Candidate
from admit.core.order import as_given, by_rank, forest
from admit.core.policy import DOORS, Policy, count
from admit.core.question import Reply, fallback
from admit.core.reasons import DEFECTS, REASONS

from .core_cases import ids, reply_to, root

ORDERS = {"guidance": forest, "tools": by_rank, "outputs": by_rank, "evidence": as_given}
OVER_CAP = 30  # more than any door asks about


def offered(n=OVER_CAP):
    """n candidates in falling rank, each of 100 tokens and one artifact."""
    return [root(f"c{k:02d}", (n - k,), sizes={"tokens": 100, "artifacts": 1}) for k in range(n)]


def planned_at(door, n=OVER_CAP):
    return plan(ORDERS[door](offered(n)), DOORS[door])


def kind_of(door):
    return "score" if door == "outputs" else "noul"


def without_a_judge(door, n=OVER_CAP):
    """What each door shows without a judge."""
    everyone = ids(offered(n))
    return tuple({"tools": everyone[:8], "evidence": []}.get(door, everyone))


def test_the_doors_are_these_four_with_these_numbers():
    assert dict(DOORS) == {
        "guidance": Policy(
            cap=Budget({"count": 8}), show=UNBOUNDED, threshold=0.3, overflow="pass", failure="pass",
            unjudged="pass", none_admitted="hide", reorder="admission", fill="admission", mode="enforce",
        ),
        "tools": Policy(
            cap=Budget({"count": 24}), show=Budget({"count": 8, "tokens": 1000}, "skip"), threshold=0.3,
            overflow="block", failure="pass", unjudged="pass", none_admitted="hide", reorder="by_p",
            fill="admission", mode="enforce",
        ),
        "outputs": Policy(
            cap=Budget({"count": 24}), show=UNBOUNDED, threshold=1.5, overflow="pass", failure="pass",
            unjudged="pass", none_admitted="fail", reorder="admission", fill="admission", mode="enforce",
        ),
        "evidence": Policy(
            cap=Budget({"artifacts": 16}), show=UNBOUNDED, threshold=None, overflow="block",
            failure="withhold", unjudged="reject", none_admitted="hide", reorder="admission",
            fill="admission", mode="enforce",
        ),
    }  # fmt: skip


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize("door", DOORS)
def test_every_failure_shows_what_would_have_been_shown_without_a_judge(door, reason):
    planned = planned_at(door)
    decision = decide(planned, fallback(reason), DOORS[door])
    assert (decision.status, decision.reason) == ("fallback", reason)
    assert {(one.verdict, one.reason) for one in decision.rulings} == {("unjudged", f"fallback:{reason}")}
    assert decision.shown == without_a_judge(door)
    assert decision.coverage.judged == 0


@pytest.mark.parametrize("door", DOORS)
def test_a_judge_that_was_not_asked_is_a_failure_of_its_own(door):
    decision = decide(planned_at(door), None, DOORS[door])
    assert (decision.status, decision.reason, decision.shown) == (
        "fallback",
        "not_asked",
        without_a_judge(door),
    )


@pytest.mark.parametrize("defect", DEFECTS)
@pytest.mark.parametrize("door", ["guidance", "outputs"])
def test_a_spoiled_answer_leaves_its_candidate_unjudged_and_it_passes_while_the_others_stand(door, defect):
    planned = planned_at(door, 3)
    decision = decide(
        planned,
        reply_to(
            planned, {"c00": defect, "c01": 0.1, "c02": 1.0 if door == "guidance" else 3.0}, kind_of(door)
        ),
        DOORS[door],
    )
    assert [(one.verdict, one.reason) for one in decision.rulings] == [
        ("unjudged", f"defect:{defect}"),
        ("blocked", "judge"),
        ("admitted", "judge"),
    ]
    assert (decision.status, decision.reason, decision.shown) == ("partial", "answer_defects", ("c00", "c02"))


@pytest.mark.parametrize("defect", DEFECTS)
def test_at_the_tools_door_an_unjudged_tool_follows_the_admitted_while_there_is_room(defect):
    planned = planned_at("tools", 10)
    values = {"c00": defect, **{f"c{k:02d}": 0.3 + k / 100 for k in range(1, 8)}, "c08": 0.1, "c09": 0.2}
    decision = decide(planned, reply_to(planned, values), DOORS["tools"])
    assert decision.shown == ("c07", "c06", "c05", "c04", "c03", "c02", "c01", "c00")


def test_at_the_tools_door_unjudged_tools_leave_when_the_admitted_fill_it():
    planned = planned_at("tools", 10)
    decision = decide(
        planned,
        reply_to(planned, {"c00": "missing", **dict.fromkeys(ids(planned.asked)[1:], 0.9)}),
        DOORS["tools"],
    )
    assert decision.shown == tuple(f"c{k:02d}" for k in range(1, 9))
    assert decision.withheld == (("c09", "over_budget"), ("c00", "over_budget"))


@pytest.mark.parametrize("door", ["guidance", "outputs", "tools"])
def test_a_reply_of_nothing_but_spoiled_answers_is_a_failure(door):
    planned = planned_at(door)
    decision = decide(planned, reply_to(planned, "bad_sum", kind_of(door)), DOORS[door])
    assert (decision.status, decision.reason) == ("fallback", "answer_defects")
    assert decision.shown == without_a_judge(door)


@pytest.mark.parametrize("reason", ["batch", None])
def test_at_the_evidence_door_a_partial_reply_is_none(reason):
    planned = planned_at("evidence")
    decision = decide(planned, Reply("partial", (), reason), DOORS["evidence"])
    assert (decision.status, decision.reason, decision.shown) == ("fallback", reason or "partial", ())


def test_at_the_evidence_door_a_whole_reply_admits_what_is_within_and_blocks_the_rest():
    planned = planned_at("evidence")
    decision = decide(planned, Reply("judged"), DOORS["evidence"])
    assert decision.shown == tuple(f"c{k:02d}" for k in range(16))
    assert [one.verdict for one in decision.rulings] == ["admitted"] * 16 + ["blocked"] * 14


def test_nothing_reaching_the_threshold_is_an_answer_for_tools_and_guidance_and_a_failure_for_outputs():
    shown = {}
    for door in ("guidance", "tools", "outputs"):
        planned = planned_at(door, 6)
        decision = decide(planned, reply_to(planned, 0.1, kind_of(door)), DOORS[door])
        shown[door] = (decision.status, decision.reason, decision.shown)
    nothing = ("judged", None, ())
    assert shown == {
        "guidance": nothing,
        "tools": nothing,
        "outputs": ("fallback", "none_passed", without_a_judge("outputs", 6)),
    }


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("reply", [None, fallback("deadline"), Reply("judged")])
def test_exempt_candidates_are_shown_at_every_door_whatever_the_judge_does(door, reply):
    everyone = [*offered(), Candidate("exempt", (0,), None, {"tokens": 100, "artifacts": 1}, True)]
    planned = plan(ORDERS[door](everyone), DOORS[door])
    assert "exempt" in decide(planned, reply, DOORS[door]).shown


@pytest.mark.parametrize("door", DOORS)
def test_overflow_passes_unjudged_or_is_blocked_as_the_door_says(door):
    planned = planned_at(door)
    decision = decide(
        planned, reply_to(planned, 1.0 if kind_of(door) == "noul" else 3.0, kind_of(door)), DOORS[door]
    )
    over = [one for one in decision.rulings if one.id in ids(planned.overflow)]
    expected = "blocked" if door in ("tools", "evidence") else "unjudged"
    assert over and {(one.verdict, one.reason) for one in over} == {(expected, "overflow")}


def test_a_count_is_a_budget_of_candidates():
    assert count(8) == Budget({"count": 8}, "stop")


def test_the_table_cannot_be_changed_by_accident():
    with pytest.raises(TypeError):
        DOORS["guidance"] = DOORS["tools"]  # type: ignore[index]
