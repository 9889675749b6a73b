"""Intervals of the benchmark against figures worked out by hand or by their definition."""

import math

from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from outputs_bench.stats import bootstrap, paired, percentile, wilson


def test_wilson_gives_the_published_bounds_of_58_of_60_and_30_of_30():
    assert wilson(58, 60).low == approx(0.8864, abs=5e-4)
    assert wilson(30, 30).low == approx(0.8865, abs=5e-4)
    assert wilson(30, 30).high == 1.0


def test_wilson_of_no_trials_is_not_a_number():
    assert all(math.isnan(value) for value in wilson(0, 0))


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_and_stays_inside_0_and_1(counts):
    successes, trials = counts
    interval = wilson(successes, trials)
    assert 0 <= interval.low <= interval.mean + 1e-12 and interval.mean <= interval.high + 1e-12 <= 1 + 1e-9


def test_the_same_values_give_the_same_interval_twice():
    values = [0.0, 0.25, 0.5, 1.0, 1.0]
    assert bootstrap(values) == bootstrap(values)


def test_equal_values_have_no_spread():
    assert bootstrap([0.5] * 8) == (0.5, 0.5, 0.5)


def test_the_bootstrap_interval_of_a_wide_sample_is_near_two_standard_errors():
    values = [index / 99 for index in range(100)]
    error = math.sqrt(sum((value - 0.5) ** 2 for value in values) / 100 / 100)
    interval = bootstrap(values)
    assert interval.low == approx(0.5 - 1.96 * error, abs=0.005)
    assert interval.high == approx(0.5 + 1.96 * error, abs=0.005)


def test_drawing_whole_runs_widens_the_interval_of_outputs_that_agree_within_a_run():
    values = [0.0] * 10 + [1.0] * 10
    runs = ["a"] * 5 + ["b"] * 5 + ["c"] * 5 + ["d"] * 5
    single, by_run = bootstrap(values), bootstrap(values, runs)
    assert by_run.mean == single.mean == 0.5
    assert by_run.high - by_run.low > single.high - single.low


def test_one_cluster_has_a_mean_and_no_interval():
    interval = bootstrap([0.0, 1.0], ["a", "a"])
    assert interval.mean == 0.5 and math.isnan(interval.low) and math.isnan(interval.high)


def test_a_paired_difference_ignores_how_hard_the_cases_are():
    easy_and_hard = [0.1, 0.9, 0.2, 0.8]
    better = [value + 0.1 for value in easy_and_hard]
    interval = paired(better, easy_and_hard)
    assert interval.low == approx(0.1) and interval.high == approx(0.1)


def test_percentiles_between_two_values_are_linear():
    assert percentile([0.0, 10.0], 0.25) == 2.5
    assert percentile([3.0], 0.975) == 3.0
