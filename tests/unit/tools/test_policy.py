import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.depth import PUBLISHED
from admit.errors import UsageError
from admit.tools.model import Ranked
from admit.tools.policy import ToolPolicy, checked, core_policy, cover_cut, family, published_cut


def ranked(*scores):
    return [Ranked(f"s/{k}", k, score) for k, score in enumerate(scores, 1)]


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_ids_are_depths_and_keep_their_family(name):
    assert checked(name) == name.lower() and family(name) in ("control", "candidate")


@pytest.mark.parametrize("name", ["budget", "judge", "cover", "fixed-7"])
def test_every_other_depth_is_outside_the_published_family(name):
    assert checked(name) == name and family(name) == "outside"


@pytest.mark.parametrize("name", ["", "learned", "fixed-0", "fixed-x", "absolute-0.5", "rel-gap-030"])
def test_what_is_no_depth_is_refused_with_those_there_are(name):
    with pytest.raises(UsageError, match="budget, judge, cover"):
        checked(name)


@pytest.mark.parametrize(
    ("depth", "scores", "count"),
    [
        ("fixed-3", [9, 8, 7, 6], 3),
        ("fixed-7", [9, 8], 7),
        ("rel-gap-010", [10, 9, 8, 2, 2, 2, 2, 2, 2, 2], 3),
        ("max-gap-010", [10, 9, 8, 8, 1, 1, 1, 1, 1, 1], 4),
        ("rel-gap-005", [5] * 10, 10),
    ],
)
def test_a_published_depth_cuts_by_the_scores_alone(depth, scores, count):
    assert published_cut(depth, ranked(*scores)) == count


@given(
    st.lists(st.floats(0, 100), min_size=10, max_size=14),
    st.floats(0.1, 50),
    st.sampled_from(["rel-gap-005", "rel-gap-010", "rel-gap-020", "max-gap-010"]),
)
def test_a_gap_depth_is_between_three_and_ten(scores, factor, depth):
    ordered = sorted(scores, reverse=True)
    assert 3 <= published_cut(depth, ranked(*ordered)) <= 10


@pytest.mark.parametrize(
    ("weights", "kept"),
    [
        ([{"a": 0.5, "b": 0.3}, {"c": 0.2}, {"a": 0.5}], 2),
        ([{"a": 0.2}], 0),
        ([{"a": 0.6}, {"a": 0.6}, {"b": 0.4}], 1),
        ([], 0),
    ],
)
def test_cover_keeps_what_explains_more_of_the_request(weights, kept):
    scores = [float(9 - k) for k in range(len(weights))]
    assert cover_cut(ranked(*scores), weights, ToolPolicy()) == kept


def test_cover_keeps_what_stands_level_with_the_last_one():
    level = [Ranked("s/a", 1, 5.0, matched=("x",)), Ranked("s/b", 2, 5.0, matched=("x",))]
    assert cover_cut(level, [{"x": 0.9}, {"x": 0.9}], ToolPolicy()) == 2


def test_without_a_judge_nothing_is_asked_and_the_budget_is_the_agents():
    policy = core_policy(ToolPolicy(max_tools=4), asks=False, depth_count=None)
    assert policy.mode == "off" and dict(policy.show.limits) == {"count": 4, "tokens": 1000}
    assert dict(core_policy(ToolPolicy(), asks=True, depth_count=3).show.limits) == {"count": 3}
