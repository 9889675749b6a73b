"""Intervals, tests and powers, against values worked out by hand or by scipy."""

import math

import numpy as np
import pytest

from admit.lab.statistics import Estimate, Resample, clusters_needed, mcnemar, share


def test_a_ratio_is_of_sums_and_not_a_mean_of_ratios():
    draw = Resample(list("abcdef"), draws=1000)
    found = draw.ratio([2, 0, 1, 1, 1, 1], [2, 4, 1, 1, 1, 1], "share")
    assert found.value == 0.6 and found.n == 10
    assert found.low is not None and found.high is not None and found.low < 0.6 < found.high


def test_the_same_seed_gives_the_same_interval_and_cases_may_come_in_any_order():
    one = Resample(list("abcdef"), draws=1000).ratio([1, 0, 1, 0, 1, 1], [1] * 6, "share")
    other = Resample(list("fedcba"), draws=1000).ratio([1, 1, 0, 1, 0, 1], [1] * 6, "share")
    assert one == other


def test_cases_of_one_cluster_are_drawn_together():
    wide = Resample(list("aaaabbbbccccddddeeee"), draws=2000)
    narrow = Resample([str(k) for k in range(20)], draws=2000)
    values = [1] * 4 + [0] * 4 + [1] * 4 + [0] * 4 + [1] * 4
    one, other = wide.ratio(values, [1] * 20, "share"), narrow.ratio(values, [1] * 20, "share")
    assert one.high - one.low > 1.5 * (other.high - other.low)


def test_fewer_than_five_clusters_give_no_interval_and_nothing_gives_no_value():
    draw = Resample(list("abcd"), draws=1000)
    assert draw.ratio([1, 0, 1, 0], [1] * 4, "share") == Estimate(0.5, None, None, 4, "share")
    assert draw.ratio([0] * 4, [0] * 4, "share") == Estimate(None, None, None, 0, "share")


def test_a_share_without_a_miss_is_not_certain():
    found = Resample([str(k) for k in range(30)], draws=1000).ratio([1] * 30, [1] * 30, "share")
    assert found.value == 1.0 and found.low == pytest.approx(0.8865, abs=1e-4) and found.high == 1.0


def test_an_interval_of_95_percent_covers_the_truth_in_94_to_96_of_100_cases():
    n, simulations = 300, 4000
    rng = np.random.default_rng(5)
    draw = Resample([str(k) for k in range(n)], draws=2000)
    values = rng.normal(3.0, 1.0, size=(n, simulations))
    order = [sorted(map(str, range(n))).index(str(k)) for k in range(n)]
    placed = np.empty_like(values)
    placed[order] = values
    means = draw._weights @ placed / n
    low, high = np.percentile(means, (2.5, 97.5), axis=0)
    assert 0.94 <= np.mean((low <= 3.0) & (high >= 3.0)) <= 0.96


def test_the_quantile_is_the_least_value_that_the_share_does_not_exceed():
    draw = Resample([str(k) for k in range(20)], draws=1000)
    assert draw.quantile(list(range(1, 21)), 0.95, "tools").value == 19
    assert draw.quantile([3] * 19 + [10], 0.95, "tools").value == 3
    assert draw.quantile([3] * 18 + [10] * 2, 0.95, "tools").value == 10


@pytest.mark.parametrize("first, second, p", [(0, 0, 1.0), (5, 0, 0.0625), (1, 9, 22 / 1024), (6, 6, 1.0)])
def test_mcnemar_is_exact(first, second, p):
    assert mcnemar(first, second) == pytest.approx(p)
    assert mcnemar(second, first) == mcnemar(first, second)


def test_mcnemar_and_the_share_agree_with_scipy():
    stats = pytest.importorskip("scipy.stats")
    for only_first, only_second in ((3, 11), (0, 7), (20, 31)):
        known = stats.binomtest(only_first, only_first + only_second).pvalue
        assert mcnemar(only_first, only_second) == pytest.approx(known)
    known = stats.binomtest(171, 180).proportion_ci(method="wilson")
    found = share(171, 180)
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=1e-6)


def test_a_smaller_margin_takes_more_cases():
    assert clusters_needed(0.02, 0.10, 0.80) == 1963
    assert clusters_needed(0.02, 0.10, 0.90) > 1963
    assert clusters_needed(0.04, 0.10, 0.80) == math.ceil(1962.2 / 4)
