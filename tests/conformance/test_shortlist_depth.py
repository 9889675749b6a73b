"""The depth of a shortlist: fixed controls, and gap rules that know no absolute score. Exposure only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.admission import decide, plan
from admit.core.candidate import UNBOUNDED, Candidate
from admit.core.depth import PUBLISHED, cut, gaps, published
from admit.core.order import by_rank
from admit.core.policy import DOORS, count
from admit.core.question import Answer, Reply
from admit.errors import UsageError

ADAPTIVE = [name for name in PUBLISHED if "GAP" in name]
LISTS = {
    "a knee after rank 4": [20, 19, 18, 17, 9, 8.5, 8, 7.5, 7, 0],
    "a knee after rank 8": [20, 19.8, 19.6, 19.4, 19.2, 19, 18.8, 18.6, 3, 0],
    "even": [10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
    "flat": [4.2] * 10,
    "few": [9, 8, 7, 6],
}
CUTS = {
    #                 3-fix 5-fix 10-fix 005 010 020 max
    "a knee after rank 4": [3, 5, 10, 3, 4, 4, 4],
    "a knee after rank 8": [3, 5, 10, 8, 8, 8, 8],
    "even": [3, 5, 10, 3, 3, 10, 3],
    "flat": [3, 5, 10, 10, 10, 10, 10],
    "few": [3, 5, 10, 3, 3, 4, 4],
}


def test_S2_no_rule_holds_a_score_against_an_absolute_threshold():
    for name in ADAPTIVE:
        for scores in LISTS.values():
            tiny = [score * 2**-12 for score in scores]
            assert cut(published(name), tiny) == cut(published(name), scores)


@given(
    st.lists(st.integers(-500, 500), min_size=10, max_size=12).map(lambda row: sorted(row, reverse=True)),
    st.sampled_from([2, 0.125, 1000]),
    st.integers(-100, 100),
)
def test_S2_the_signal_is_the_same_for_any_positive_scale_and_any_shift(scores, scale, shift):
    assert gaps([scale * score + shift for score in scores]) == pytest.approx(gaps(scores), abs=2e-9)


def test_S2_a_gap_is_the_fall_to_the_next_score_over_the_fall_of_the_top_ten():
    assert gaps(LISTS["a knee after rank 4"]) == pytest.approx(
        {3: 0.05, 4: 0.4, 5: 0.025, 6: 0.025, 7: 0.025, 8: 0.025, 9: 0.35}
    )


def test_S2_the_denominator_is_never_below_a_billionth():
    assert gaps([2e-9, 2e-9, 2e-9, *[0.0] * 7])[3] == 1.0
    assert set(gaps([1e-9, 1e-9, 1e-9, *[0.0] * 7]).values()) == {0.0}


@pytest.mark.parametrize("name", ADAPTIVE)
def test_S2_a_flat_top_ten_fails_closed_to_the_greatest_depth(name):
    assert cut(published(name), [3.3] * 25) == 10


def test_S3_there_are_three_controls_and_four_candidates():
    assert [(depth.id, depth.family) for depth in PUBLISHED.values()] == [
        ("FIXED-3", "control"),
        ("FIXED-5", "control"),
        ("FIXED-10", "control"),
        ("REL-GAP-005", "candidate"),
        ("REL-GAP-010", "candidate"),
        ("REL-GAP-020", "candidate"),
        ("MAX-GAP-010", "candidate"),
    ]


@pytest.mark.parametrize("what", LISTS)
def test_S3_each_rule_cuts_worked_lists_where_it_says(what):
    assert [cut(depth, LISTS[what]) for depth in PUBLISHED.values()] == CUTS[what]


@pytest.mark.parametrize("name", ["LEARNED-LOGISTIC", "learned", "COVER", "TOKENS-1000", "CONFORMAL-010"])
def test_S3_a_learned_policy_and_any_rule_outside_the_family_is_refused(name):
    with pytest.raises(UsageError):
        published(name)


@pytest.mark.parametrize("depth", PUBLISHED.values(), ids=PUBLISHED)
@pytest.mark.parametrize("reply", [None, Reply("judged", (Answer("q1", "noul", (0.9,)),))])
def test_S11_depth_changes_what_is_exposed_and_nothing_else(depth, reply):
    scores = LISTS["a knee after rank 8"]
    tools = by_rank(Candidate(f"t{k}", (score,), sizes={"tokens": 50}) for k, score in enumerate(scores))
    whole = DOORS["tools"]._replace(mode="shadow", show=UNBOUNDED)
    shallow = whole._replace(show=count(cut(depth, scores)))
    all_of_it, some_of_it = (decide(plan(tools, one), reply, one) for one in (whole, shallow))
    assert some_of_it.plan == all_of_it.plan
    assert some_of_it.rulings == all_of_it.rulings
    assert some_of_it.shown == all_of_it.shown[: cut(depth, scores)]
    assert {reason for _, reason in some_of_it.withheld} <= {"over_budget"}
