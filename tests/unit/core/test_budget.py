"""The only counter there is: prefixes under stop, greedy under skip, every unit binding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.admission import plan
from admit.core.candidate import UNBOUNDED, Budget, Candidate, Tally, fit
from admit.core.order import as_given, forest
from admit.core.policy import Policy, count

from .core_cases import budgets, forests, ids, root


def spent(candidates, unit):
    return sum(one.size(unit) for one in candidates if not one.exempt)


@given(forests(), budgets())
def test_what_is_within_never_exceeds_a_limit_and_everyone_is_on_one_side(candidates, budget):
    within, over = fit(candidates, budget)
    for unit, limit in budget.limits.items():
        assert spent(within, unit) <= limit
    assert sorted(ids(within) + ids(over)) == sorted(ids(candidates))
    assert not any(one.exempt for one in over)


@given(forests(), budgets())
def test_both_sides_keep_the_order_given(candidates, budget):
    place = {one.id: k for k, one in enumerate(candidates)}
    for side in fit(candidates, budget):
        places = [place[one.id] for one in side]
        assert places == sorted(places)


@given(forests(), budgets())
def test_stop_gives_a_prefix_and_the_first_one_over_would_not_have_fitted(candidates, budget):
    within, over = fit(candidates, budget._replace(misfit="stop"))
    offered = [one for one in candidates if not one.exempt]
    taken = [one for one in within if not one.exempt]
    assert offered[: len(taken)] == taken
    if over:
        units = budget.limits.items()
        assert any(spent(taken, unit) + over[0].size(unit) > limit for unit, limit in units)


@given(forests(), budgets())
def test_skip_takes_everyone_that_fits_when_its_turn_comes(candidates, budget):
    within, _ = fit(candidates, budget._replace(misfit="skip"))
    taken = []
    for one in candidates:
        fits = all(spent(taken, unit) + one.size(unit) <= limit for unit, limit in budget.limits.items())
        assert (one in within) == (one.exempt or fits)
        if fits and not one.exempt:
            taken.append(one)


@given(forests(), budgets())
def test_skip_takes_whatever_stop_takes(candidates, budget):
    stopped, _ = fit(candidates, budget._replace(misfit="stop"))
    skipped, _ = fit(candidates, budget._replace(misfit="skip"))
    assert set(ids(stopped)) <= set(ids(skipped))


@given(forests(), st.integers(0, 14))
def test_the_plan_at_n_is_a_prefix_of_the_plan_at_n_plus_one(candidates, n):
    ordered = forest(candidates)
    less, more = (plan(ordered, Policy(cap=count(k))) for k in (n, n + 1))
    assert more.asked[: len(less.asked)] == less.asked
    assert len(less.asked) == min(n, len([one for one in candidates if not one.exempt]))


@given(forests(), st.integers(0, 30))
def test_a_plan_by_size_is_a_prefix_of_the_plan_with_one_unit_more(candidates, n):
    ordered = as_given(candidates)
    less, more = (plan(ordered, Policy(cap=Budget({"chars": k}))) for k in (n, n + 1))
    assert more.asked[: len(less.asked)] == less.asked


@given(forests(), budgets())
def test_exempt_candidates_change_nothing_for_the_others(candidates, budget):
    offered = [one for one in candidates if not one.exempt]
    with_them, without_them = fit(candidates, budget), fit(offered, budget)
    assert [one for one in with_them[0] if not one.exempt] == list(without_them[0])
    assert with_them[1] == without_them[1]


def test_a_budget_without_limits_takes_all():
    everyone = tuple(root(f"n{k}", sizes={"chars": 10**9}) for k in range(5))
    assert fit(everyone, UNBOUNDED) == (everyone, ())


def test_a_candidate_counts_as_one_and_takes_nothing_of_a_unit_it_does_not_name():
    plain = Candidate("a")
    assert (plain.size("count"), plain.size("chars")) == (1, 0)
    assert Candidate("b", sizes={"count": 3, "chars": 7}).size("count") == 3


def test_a_limit_is_reached_exactly_and_not_passed():
    eight = [root(f"n{k}") for k in range(9)]
    within, over = fit(eight, count(8))
    assert (len(within), ids(over)) == (8, ["n8"])


@pytest.mark.parametrize("misfit, expected", [("stop", ["a"]), ("skip", ["a", "c"])])
def test_a_misfit_ends_admission_or_is_passed_over(misfit, expected):
    row = [root("a", sizes={"chars": 4}), root("b", sizes={"chars": 9}), root("c", sizes={"chars": 4})]
    assert ids(fit(row, Budget({"chars": 8}, misfit))[0]) == expected


def test_a_charge_is_taken_without_asking_and_leaves_no_room():
    tally = Tally(count(2))
    for k in range(3):
        tally.charge(root(f"exempt{k}"))
    assert not tally.take(root("other"))


def test_a_candidate_of_no_size_does_not_fit_where_the_limit_is_passed():
    tally = Tally(Budget({"tokens": 5}, "skip"))
    tally.charge(root("exempt", sizes={"tokens": 6}))
    assert not tally.take(root("free"))
