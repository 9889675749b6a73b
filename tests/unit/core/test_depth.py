"""Depth rules on worked score lists, and the properties that any list must keep."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.depth import PUBLISHED, Depth, cut, gaps, published
from admit.errors import UsageError

STEEP = [10, 9, 8, 7.4, 5, 4.9, 4.8, 4.7, 4.6, 0]
EVEN = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
WHOLE = st.lists(st.integers(0, 1000), max_size=14).map(lambda scores: sorted(scores, reverse=True))
TEN_OR_MORE = st.lists(st.integers(-500, 500), min_size=10, max_size=14).map(
    lambda scores: sorted(scores, reverse=True)
)
RULES = list(PUBLISHED.values())


@pytest.mark.parametrize(
    "name, scores, depth",
    [
        ("FIXED-3", STEEP, 3),
        ("FIXED-5", STEEP, 5),
        ("FIXED-10", STEEP, 10),
        ("REL-GAP-005", STEEP, 3),  # 0.06 after rank 3
        ("REL-GAP-010", STEEP, 4),  # 0.24 after rank 4
        ("REL-GAP-020", STEEP, 4),
        ("MAX-GAP-010", STEEP, 9),  # 0.46 after rank 9 is the largest
        ("REL-GAP-005", EVEN, 3),  # every gap is 1/9
        ("REL-GAP-010", EVEN, 3),
        ("REL-GAP-020", EVEN, 10),
        ("MAX-GAP-010", EVEN, 3),  # a tie goes to the smaller rank
        ("MAX-GAP-010", [100, 50, 9, 8, 7, 6, 5, 4, 3, 2], 10),  # the falls before rank 3 do not count
        ("REL-GAP-010", [1, 1, 1, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0], 3),  # 1 − 0.9 is 0.1
        ("REL-GAP-010", [9, 9, 9, 9, 9], 5),  # padded with 0: the fall after the last
        ("MAX-GAP-010", [9, 8.9], 10),  # the fall after rank 2 does not count
        ("REL-GAP-020", [], 10),
    ],
)
def test_worked_lists_are_cut_where_the_rule_says(name, scores, depth):
    assert cut(published(name), scores) == depth


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.rule != "fixed"])
@pytest.mark.parametrize("scores", [[], [0] * 10, [7.5] * 10, [1e-9, 1e-9, 1e-9, *[0.0] * 7], [3.0] * 40])
def test_a_flat_top_ten_fails_closed_to_ten(rule, scores):
    assert cut(rule, scores) == 10


def test_a_fall_just_over_flat_counts():
    scores = [2e-9, 2e-9, 2e-9, *[0.0] * 7]
    assert cut(published("REL-GAP-020"), scores) == 3


def test_gaps_stand_at_ranks_three_to_nine_only():
    assert list(gaps(EVEN)) == [3, 4, 5, 6, 7, 8, 9]
    assert gaps(STEEP)[5] == pytest.approx(0.01)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("where", [0, 5, 11])
@pytest.mark.parametrize("rule", RULES)
def test_a_score_that_is_not_finite_is_refused(rule, where, bad):
    scores = [float(20 - k) for k in range(12)]
    scores[where] = bad
    with pytest.raises(UsageError, match="finite"):
        cut(rule, scores)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("scores", [[1, 2], [*EVEN, 1.5], [5, 4, -1]])
def test_scores_that_increase_are_refused_also_past_rank_ten_and_into_the_padding(rule, scores):
    with pytest.raises(UsageError, match="increase"):
        cut(rule, scores)


def test_a_fixed_depth_of_your_own_is_outside_the_published_family():
    own = Depth("FIXED-7", "outside", "fixed", k=7)
    assert cut(own, EVEN) == 7
    assert own.id not in PUBLISHED


@pytest.mark.parametrize("name", ["LEARNED-1", "learned", "FIXED-4", "REL-GAP-015", "cover", "budget", ""])
def test_what_is_not_published_is_refused_by_name_and_the_error_lists_what_is(name):
    with pytest.raises(UsageError, match="REL-GAP-020"):
        published(name)


def test_names_are_known_in_either_case():
    assert published("rel-gap-005") is PUBLISHED["REL-GAP-005"]


@given(WHOLE, st.sampled_from(RULES))
def test_a_cut_is_between_three_and_ten(scores, rule):
    assert 3 <= cut(rule, scores) <= 10


@given(TEN_OR_MORE, st.sampled_from([1, 2, 3, 7, 0.25, 1000, 1 / 3]), st.integers(-5000, 5000))
def test_the_cut_is_the_same_for_any_positive_scale_and_shift(scores, scale, shift):
    moved = [scale * score + shift for score in scores]
    for rule in RULES:
        assert cut(rule, moved) == cut(rule, scores)


@given(WHOLE)
def test_gaps_are_the_formula_in_exact_arithmetic(scores):
    top = ([Fraction(score) for score in scores] + [Fraction(0)] * 10)[:10]
    spread = max(top[0] - top[9], Fraction(1, 10**9))
    for rank, gap in gaps(scores).items():
        assert gap == round(float((top[rank - 1] - top[rank]) / spread), 9)


@given(WHOLE, st.lists(st.just(0), max_size=5))
def test_what_stands_past_rank_ten_changes_no_cut(scores, more):
    for rule in RULES:
        assert cut(rule, scores[:10]) == cut(rule, scores + more)


@given(WHOLE)
def test_a_stricter_gap_never_cuts_earlier(scores):
    names = ("REL-GAP-005", "REL-GAP-010", "REL-GAP-020")
    depths = [cut(published(name), scores) for name in names]
    assert depths == sorted(depths)
