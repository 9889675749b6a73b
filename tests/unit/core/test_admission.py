"""The pipeline against its rules written out by hand, for any forest, policy and reply."""

import os
import subprocess
import sys
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.admission import decide, plan, rule, show
from admit.core.candidate import UNBOUNDED, Budget, Candidate
from admit.core.order import forest
from admit.core.policy import DOORS, Policy, count
from admit.core.question import Answer, Reply, fallback

from .core_cases import Counted, budgets, chain, forests, ids, reply_to, root, steps

POLICIES = st.builds(
    Policy,
    cap=budgets(),
    show=budgets(),
    threshold=st.sampled_from([0.5, None]),
    mode=st.sampled_from(["enforce", "shadow", "off"]),
    fill=st.sampled_from(["admission", "scored_first"]),
    overflow=st.sampled_from(["pass", "block"]),
    failure=st.sampled_from(["pass", "withhold"]),
    unjudged=st.sampled_from(["pass", "withhold", "reject"]),
    none_admitted=st.sampled_from(["hide", "fail"]),
    reorder=st.sampled_from(["admission", "by_p"]),
)
VALUES = st.one_of(st.none(), st.just("out_of_range"), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
OPEN = Policy(threshold=0.5)


@st.composite
def cases(draw, policies=POLICIES, cycles=False):
    """A plan, a reply to it (or none, or a fallback), and the policy of both."""
    policy = draw(policies)
    planned = plan(forest(draw(forests(cycles=cycles))), policy)
    values = {one.id: draw(VALUES) for one in planned.asked}
    replies = [None, fallback("deadline"), reply_to(planned, values), reply_to(planned, values)]
    return planned, draw(st.sampled_from(replies)), policy


def known(planned):
    return {one.id: one for one in planned.ordered}


def ancestry(candidate, planned):
    above, found = known(planned), []
    while candidate.parent in above and candidate.parent not in found:
        found.append(candidate.parent)
        candidate = above[candidate.parent]
    return found


def verdicts(rulings):
    return {ruling.id: ruling.verdict for ruling in rulings}


# ---------------------------------------------------------------- plan


@given(forests(), POLICIES)
def test_everyone_is_asked_overflow_or_exempt_each_in_admission_order(candidates, policy):
    ordered = forest(candidates)
    planned = plan(ordered, policy)
    assert planned.ordered == ordered
    assert sorted(ids(planned.asked + planned.overflow + planned.exempt)) == sorted(ids(ordered))
    assert planned.exempt == tuple(one for one in ordered if one.exempt)
    for part in planned:
        assert list(part) == [one for one in ordered if one in part]


@given(forests(), st.integers(0, 12))
def test_scored_first_seats_the_lowest_tier_first_each_in_admission_order(candidates, n):
    planned = plan(forest(candidates), Policy(cap=count(n), fill="scored_first"))
    offered = [one for one in planned.ordered if not one.exempt]
    by_tier = [one for tier in (0, 1, 2) for one in offered if one.rank[0] == tier]
    assert sorted(ids(planned.asked)) == sorted(ids(by_tier[:n]))


def test_scored_first_with_eight_explicit_and_four_scored_seats_four_of_each():
    explicit = [root(f"e{k}", (1, 9 - k)) for k in range(8)]
    scored = [root(f"s{k}", (0, 0.9 - k / 10)) for k in range(4)]
    planned = plan(forest(explicit + scored), Policy(cap=count(8), fill="scored_first"))
    assert ids(planned.asked) == ["e0", "e1", "e2", "e3", "s0", "s1", "s2", "s3"]


# ---------------------------------------------------------------- rule


@given(cases())
def test_there_is_one_ruling_per_candidate_in_admission_order(case):
    planned, reply, policy = case
    assert [ruling.id for ruling in rule(planned, reply, policy)] == ids(planned.ordered)


@given(cases())
def test_exempt_stays_exempt_whatever_happens(case):
    planned, reply, policy = case
    exempt = {one.id for one in planned.exempt}
    for ruling in rule(planned, reply, policy):
        assert (ruling.verdict == "exempt") == (ruling.id in exempt)
        assert ruling.id not in exempt or ruling.would is None


@given(cases())
def test_nothing_is_blocked_when_the_judge_failed(case):
    planned, reply, policy = case
    decision = decide(planned, reply, policy)
    if decision.status in ("fallback", "off"):
        words = {"off": "off", "fallback": f"fallback:{decision.reason}"}
        for ruling in decision.rulings:
            if ruling.verdict != "exempt":
                assert (ruling.verdict, ruling.reason) == ("unjudged", words[decision.status])
                assert (ruling.value, ruling.p, ruling.ancestor) == (None, (), None)


@given(cases(cycles=True))
def test_each_ruling_is_what_the_rules_say(case):
    planned, reply, policy = case
    decision = decide(planned, reply, policy)
    if decision.status in ("fallback", "off") or policy.mode != "enforce":
        return
    given_answers = {answer.id: answer for answer in reply.answers} if reply else {}
    answers = {one.id: given_answers.get(f"q{k}") for k, one in enumerate(planned.asked, 1)}
    blocked = set()
    by_id = {ruling.id: ruling for ruling in decision.rulings}
    for one in planned.asked:
        ruling, answer = by_id[one.id], answers[one.id]
        if policy.threshold is None:
            assert (ruling.verdict, ruling.reason) == ("admitted", "within")
        elif answer is None or answer.defect:
            assert ruling.verdict == "unjudged"
            assert ruling.reason == f"defect:{answer.defect if answer else 'missing'}"
        else:
            admitted = answer.p[0] >= policy.threshold
            assert (ruling.verdict, ruling.reason) == ("admitted" if admitted else "blocked", "judge")
            assert (ruling.value, ruling.p) == (answer.p[0], answer.p)
            blocked |= set() if admitted else {one.id}
    for one in planned.overflow:
        ruling = by_id[one.id]
        above = [other for other in ancestry(one, planned) if other in blocked]
        if above:
            assert (ruling.verdict, ruling.reason, ruling.ancestor) == ("blocked", "ancestor", above[0])
        else:
            assert (ruling.reason, ruling.ancestor) == ("overflow", None)
            assert ruling.verdict == ("blocked" if policy.overflow == "block" else "unjudged")


def test_the_value_at_the_threshold_is_admitted_and_the_one_below_is_not():
    planned = plan((root("a"), root("b")), OPEN)
    assert verdicts(rule(planned, reply_to(planned, {"a": 0.5, "b": 0.4999}), OPEN)) == {
        "a": "admitted",
        "b": "blocked",
    }


def test_a_score_is_held_against_the_threshold_by_its_expectation():
    policy = Policy(threshold=1.5)
    planned = plan((root("a"), root("b")), policy)
    reply = reply_to(planned, {"a": 1.5, "b": 1.25}, kind="score")
    rulings = rule(planned, reply, policy)
    assert [(one.verdict, one.value) for one in rulings] == [("admitted", 1.5), ("blocked", 1.25)]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_an_answer_that_is_no_finite_number_is_unjudged_never_blocked(number):
    planned = plan((root("a"), root("b")), OPEN)
    reply = Reply("judged", (Answer("q1", "noul", (number,)), Answer("q2", "noul", (0.9,))))
    decision = decide(planned, reply, OPEN)
    assert decision.rulings[0].verdict == "unjudged"
    assert decision.rulings[0].reason == "defect:out_of_range"
    assert (decision.status, decision.reason) == ("partial", "answer_defects")


def test_answers_to_ids_that_were_not_asked_are_nothing():
    planned = plan((root("a"),), OPEN)
    strangers = (Answer("q2", "noul", (0.0,)), Answer("a", "noul", (0.0,)), Answer("q1", "noul", (0.9,)))
    assert verdicts(rule(planned, Reply("judged", strangers), OPEN)) == {"a": "admitted"}


def test_overflow_under_a_blocked_ancestor_names_the_nearest_one():
    policy = Policy(cap=count(2), threshold=0.5)
    planned = plan(forest(chain(4)), policy)
    rulings = rule(planned, reply_to(planned, 0.1), policy)
    assert [one.ancestor for one in rulings] == [None, None, "n000001", "n000001"]


def test_a_name_that_only_begins_alike_is_no_descendant():
    tree = [Candidate("a/b", (0, 0.9)), Candidate("a/b/c", (0, 0.8), "a/b"), Candidate("a/b-x", (0, 0.7))]
    policy = Policy(cap=count(1), threshold=0.5)
    planned = plan(forest(tree), policy)
    decision = decide(planned, reply_to(planned, 0.1), policy)
    assert verdicts(decision.rulings) == {"a/b": "blocked", "a/b/c": "blocked", "a/b-x": "unjudged"}
    assert decision.shown == ("a/b-x",)


def test_a_judged_child_keeps_its_own_verdict_under_a_blocked_parent():
    planned = plan(forest(chain(2)), OPEN)
    decision = decide(planned, reply_to(planned, {"n000000": 0.1, "n000001": 0.9}), OPEN)
    assert decision.shown == ("n000001",)


def test_overflow_under_a_parent_blocked_by_overflow_is_blocked_for_itself():
    policy = Policy(cap=count(1), threshold=0.5, overflow="block")
    planned = plan(forest(chain(3)), policy)
    rulings = rule(planned, reply_to(planned, 0.9), policy)
    assert [(one.verdict, one.reason) for one in rulings[1:]] == [("blocked", "overflow")] * 2


def test_a_parent_that_was_judged_in_lets_its_overflow_child_pass():
    policy = Policy(cap=count(1), threshold=0.5)
    planned = plan(forest(chain(2)), policy)
    assert decide(planned, reply_to(planned, 0.9), policy).shown == ("n000000", "n000001")


# ---------------------------------------------------------------- status


@pytest.mark.parametrize(
    "policy, reply, status, reason",
    [
        (OPEN, None, "fallback", "not_asked"),
        (OPEN, fallback("busy"), "fallback", "busy"),
        (OPEN, Reply("fallback"), "fallback", "internal"),
        (OPEN, Reply("judged"), "fallback", "answer_defects"),
        (OPEN, Reply("partial", (), "transport"), "fallback", "transport"),
        (OPEN, Reply("judged", (Answer("q1", "noul", (1.0,)),)), "partial", "answer_defects"),
        (OPEN, Reply("partial", (Answer("q1", "noul", (1.0,)),), "dns"), "partial", "dns"),
        (
            OPEN,
            Reply("judged", (Answer("q1", "noul", (1.0,)), Answer("q2", "noul", (0.0,)))),
            "judged",
            None,
        ),
        (
            OPEN,
            Reply("partial", (Answer("q1", "noul", (1.0,)), Answer("q2", "noul", (0.0,)))),
            "partial",
            "answer_defects",
        ),
        (
            OPEN._replace(unjudged="reject"),
            Reply("judged", (Answer("q1", "noul", (1.0,)),)),
            "fallback",
            "partial",
        ),
        (
            OPEN._replace(unjudged="reject"),
            Reply("partial", (Answer("q1", "noul", (1.0,)),), "dns"),
            "fallback",
            "dns",
        ),
        (
            OPEN._replace(none_admitted="fail"),
            Reply("judged", (Answer("q1", "noul", (0.1,)), Answer("q2", "noul", (0.2,)))),
            "fallback",
            "none_passed",
        ),
        (
            OPEN._replace(none_admitted="fail"),
            Reply("judged", (Answer("q1", "noul", (0.1,)), Answer("q2", "noul", (0.5,)))),
            "judged",
            None,
        ),
        (OPEN._replace(none_admitted="fail"), fallback("busy"), "fallback", "busy"),
        (OPEN._replace(mode="off"), None, "off", None),
        (OPEN._replace(mode="shadow"), fallback("busy"), "fallback", "busy"),
        (OPEN._replace(threshold=None), Reply("judged"), "judged", None),
        (OPEN._replace(threshold=None), Reply("partial", (), "dns"), "partial", "dns"),
        (OPEN._replace(threshold=None, unjudged="reject"), Reply("partial", (), "dns"), "fallback", "dns"),
        (OPEN._replace(threshold=None, unjudged="reject"), Reply("partial"), "fallback", "partial"),
    ],
)
def test_the_status_and_its_reason_follow_from_the_reply(policy, reply, status, reason):
    planned = plan((root("a"), root("b")), policy)
    decision = decide(planned, reply, policy)
    assert (decision.status, decision.reason) == (status, reason)


@pytest.mark.parametrize("reply", [None, Reply("judged"), fallback("busy")])
def test_with_nothing_offered_the_status_is_idle_and_the_exempt_are_shown(reply):
    planned = plan((root("strict", exempt=True),), OPEN)
    decision = decide(planned, reply, OPEN)
    assert (decision.status, decision.reason, decision.shown) == ("idle", None, ("strict",))


def test_off_is_off_even_with_nothing_offered():
    off = OPEN._replace(mode="off")
    assert decide(plan((), off), None, off).status == "off"


@given(cases())
def test_counts_add_up_to_the_candidates(case):
    planned, reply, policy = case
    decision = decide(planned, reply, policy)
    coverage = decision.coverage
    assert coverage.judged + coverage.unjudged + coverage.exempt == len(planned.ordered)
    assert coverage.overflow == len(planned.overflow) and coverage.exempt == len(planned.exempt)
    assert coverage.judged == sum(one.reason in ("judge", "within") for one in decision.rulings)
    assert coverage.judged == 0 or decision.status in ("judged", "partial")


# ---------------------------------------------------------------- show


def passing(planned, decision, policy):
    """Who passes, by the words of the policy."""
    asked = {one.id for one in planned.asked}
    as_without_a_judge = policy.mode != "enforce" or decision.status in ("fallback", "off")
    for ruling in decision.rulings:
        if as_without_a_judge:
            passes = policy.failure == "pass"
        elif ruling.verdict == "unjudged":
            passes = ruling.id not in asked or policy.unjudged != "withhold"
        else:
            passes = ruling.verdict == "admitted"
        if passes or ruling.verdict == "exempt":
            yield ruling.id


@given(cases())
def test_everyone_that_passes_is_shown_or_withheld_with_a_reason_and_nobody_else(case):
    planned, reply, policy = case
    decision = decide(planned, reply, policy)
    withheld = [identity for identity, _ in decision.withheld]
    assert sorted([*decision.shown, *withheld]) == sorted(passing(planned, decision, policy))


@given(cases(), st.data())
def test_no_child_is_shown_without_a_parent_that_is_left_out(case, data):
    planned, reply, policy = case
    left_out = data.draw(st.sets(st.sampled_from(ids(planned.ordered) or ["x"])))
    decision = decide(planned, reply, policy, left_out)
    reasons = dict(decision.withheld)
    out = left_out | reasons.keys()
    for identity in decision.shown:
        assert identity not in left_out
        assert not out & set(ancestry(known(planned)[identity], planned))
    for identity, reason in decision.withheld:
        over = {one for one in out if reasons.get(one, "over_budget") == "over_budget"}
        if reason == "parent_withheld":
            assert over & set(ancestry(known(planned)[identity], planned))
        else:
            assert reason == "over_budget"


@given(cases(), st.data())
def test_what_is_left_out_may_come_in_any_order(case, data):
    planned, reply, policy = case
    left_out = data.draw(st.lists(st.sampled_from(ids(planned.ordered) or ["x"]), unique=True))
    rulings = rule(planned, reply, policy)
    assert show(planned, rulings, policy, left_out) == show(planned, rulings, policy, left_out[::-1])
    assert show(planned, rulings, policy, left_out) == show(planned, rulings, policy, set(left_out))


@given(cases())
def test_the_second_cap_holds_save_for_what_is_exempt(case):
    planned, reply, policy = case
    decision = decide(planned, reply, policy)
    shown = [known(planned)[identity] for identity in decision.shown]
    for unit, limit in policy.show.limits.items():
        exempt = sum(one.size(unit) for one in shown if one.exempt)
        assert sum(one.size(unit) for one in shown) <= max(limit, exempt)


@given(cases(POLICIES.filter(lambda policy: policy.reorder == "admission")))
def test_shown_and_withheld_stand_in_admission_order(case):
    planned, reply, policy = case
    decision = decide(planned, reply, policy)
    place = {one.id: k for k, one in enumerate(planned.ordered)}
    for row in (decision.shown, [identity for identity, _ in decision.withheld]):
        assert [place[one] for one in row] == sorted(place[one] for one in row)


@given(cases(POLICIES.map(lambda policy: policy._replace(reorder="by_p", show=UNBOUNDED))))
def test_by_probability_the_exempt_come_first_then_the_admitted_then_the_rest(case):
    planned, reply, policy = case
    decision = decide(planned, reply, policy)
    ruled = {ruling.id: ruling for ruling in decision.rulings}
    place = {one.id: k for k, one in enumerate(planned.ordered)}

    def key(identity):
        ruling = ruled[identity]
        if ruling.verdict == "exempt":
            return (0, 0, place[identity])
        if ruling.verdict == "admitted":
            return (1, -(ruling.value if ruling.value is not None else 0), place[identity])
        return (2, 0, place[identity])

    assert list(decision.shown) == sorted(decision.shown, key=key)


def test_a_parent_left_out_takes_its_child_with_it_even_where_the_child_would_fit():
    policy = Policy(show=Budget({"chars": 5}, "skip"), threshold=0.5)
    tree = [
        Candidate("parent", (0, 2), None, {"chars": 9}),
        Candidate("child", (0, 1), "parent", {"chars": 1}),
        Candidate("other", (0, 0), None, {"chars": 5}),
    ]
    planned = plan(forest(tree), policy)
    decision = decide(planned, reply_to(planned, 0.9), policy)
    assert decision.shown == ("other",)
    assert decision.withheld == (("parent", "over_budget"), ("child", "parent_withheld"))


def test_a_child_that_is_more_probable_than_its_parent_leaves_with_it_all_the_same():
    policy = Policy(show=count(1), threshold=0.5, reorder="by_p")
    planned = plan(forest(chain(2)), policy)
    decision = decide(planned, reply_to(planned, {"n000000": 0.6, "n000001": 0.9}), policy)
    assert decision.shown == ()
    assert decision.withheld == (("n000001", "parent_withheld"), ("n000000", "over_budget"))


def test_a_door_may_leave_an_exempt_one_out_and_then_it_takes_no_room():
    policy = Policy(show=count(1), threshold=0.5)
    planned = plan((root("strict", exempt=True), root("a")), policy)
    decision = decide(planned, reply_to(planned, 0.9), policy, ["strict"])
    assert decision.shown == ("a",)
    assert decision.withheld == (("strict", "over_budget"),)


def test_exempt_ones_stay_beyond_the_second_cap_and_nothing_is_added_to_them():
    policy = Policy(show=count(2), threshold=0.5)
    exact = [root(f"exact{k}", exempt=True) for k in range(3)]
    planned = plan((root("a"), *exact), policy)
    decision = decide(planned, reply_to(planned, 0.9), policy)
    assert decision.shown == ("exact0", "exact1", "exact2")


# ---------------------------------------------------------------- shadow


@given(cases(POLICIES.map(lambda policy: policy._replace(mode="enforce"))))
def test_shadow_rules_as_enforcing_does_and_shows_what_no_judge_would_have_shown(case):
    planned, reply, enforce = case
    shadow, off = enforce._replace(mode="shadow"), enforce._replace(mode="off")
    acted, watched = decide(planned, reply, enforce), decide(planned, reply, shadow)
    unasked = decide(planned, None, off)
    for real, would in zip(acted.rulings, watched.rulings, strict=True):
        if real.verdict == "exempt":
            assert would == real
        else:
            assert would == real._replace(verdict="unjudged", would=real.verdict)
    assert (watched.shown, watched.withheld) == (unasked.shown, unasked.withheld)
    assert watched.coverage == acted.coverage
    assert (watched.status, watched.reason) == (acted.status, acted.reason)


@given(cases(POLICIES.map(lambda policy: policy._replace(mode="enforce"))))
def test_a_failed_judge_shows_what_no_judge_would_have_shown(case):
    planned, _, enforce = case
    failed = decide(planned, fallback("deadline"), enforce)
    unasked = decide(planned, None, enforce._replace(mode="off"))
    assert (failed.shown, failed.withheld) == (unasked.shown, unasked.withheld)


# ---------------------------------------------------------------- size and determinism


def test_ten_thousand_links_in_overflow_under_a_blocked_root_are_all_blocked_by_it():
    policy = Policy(cap=count(1), threshold=0.5)
    planned = plan(forest(chain(10_000)), policy)
    decision = decide(planned, reply_to(planned, 0.1), policy)
    assert {one.ancestor for one in decision.rulings[1:]} == {"n000000"}
    assert decision.shown == ()


def test_ten_thousand_links_under_a_root_that_is_left_out_are_all_withheld():
    planned = plan(forest(chain(10_000)), OPEN)
    decision = decide(planned, reply_to(planned, 0.9), OPEN, ["n000000"])
    assert len(decision.withheld) == 10_000 and decision.shown == ()


def pipeline(candidates, policy, value):
    planned = plan(forest(candidates), policy)
    return decide(planned, reply_to(planned, value), policy)


@pytest.mark.parametrize("value", [0.1, 0.9])
@pytest.mark.parametrize("show_most", [4, 10**6])
@pytest.mark.parametrize("parent", [lambda k: k - 1, lambda k: 0, lambda k: k // 2, lambda k: None])
def test_the_pipeline_takes_about_twice_the_steps_for_twice_the_candidates(parent, show_most, value):
    policy = Policy(cap=count(8), show=count(show_most), threshold=0.5)

    def work(n):
        names = [Counted(f"n{k:06d}") for k in range(n)]
        above = [parent(k) for k in range(n)]
        candidates = [
            Candidate(name, (0, 1), names[p] if p is not None and 0 <= p < k else None)
            for k, (name, p) in enumerate(zip(names, above, strict=True))
        ]
        return steps(lambda: pipeline(candidates, policy, value))

    assert work(4_000) <= 2.4 * work(2_000)


def test_a_hundred_thousand_candidates_go_through():
    candidates = [root(f"n{k}", (0, k % 97)) for k in range(100_000)]
    decision = pipeline(candidates, DOORS["guidance"], 0.9)
    assert decision.coverage == (8, 99_992, 99_992, 0)
    assert len(decision.shown) == 100_000


SCRIPT = """
from random import Random
from admit.core.admission import decide, plan
from admit.core.candidate import Candidate
from admit.core.order import forest
from admit.core.policy import DOORS, count
from admit.core.question import Answer, Reply

random = Random(11)
names = [f"w{k}" for k in range(40)]
candidates = [
    Candidate(
        name,
        (random.choice([0, 1]), random.choice([0.0, 0.5, 1.0])),
        random.choice([None, *names]),
        {"tokens": 90},
        random.random() < 0.1,
    )
    for name in names
]
for door, policy in DOORS.items():
    policy = policy._replace(cap=count(8))
    planned = plan(forest(candidates), policy)
    p = [Answer(f"q{k}", "noul", (random.random(),)) for k in range(1, 8)]
    print(door, decide(planned, Reply("partial", tuple(p)), policy, {"w1", "w2", "w3", "w4"}))
"""


def test_a_decision_is_the_same_bytes_under_any_hash_seed():
    def run(seed):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, check=True
        ).stdout

    printed = [run(seed) for seed in ("0", "1", "4242")]
    assert printed[0] == printed[1] == printed[2]
    assert printed[0].count(b"Ruling(") == 160


def test_a_decision_does_not_depend_on_arrival_order():
    random = Random(3)
    names = [f"w{k}" for k in range(30)]
    everyone = [
        Candidate(name, (0, random.choice([0.0, 0.5])), random.choice([None, *names])) for name in names
    ]
    policy = Policy(cap=count(8), threshold=0.5)
    values = {name: random.choice([0.1, 0.9, None]) for name in names}
    expected = repr(pipeline(everyone, policy, values))
    for _ in range(200):
        random.shuffle(everyone)
        assert repr(pipeline(everyone, policy, values)) == expected
