"""Intervals: known values, and their own coverage by simulation."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.report import stats
from admit.report.stats import Estimate, clustered_mean, wilson


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (8, 43, 0.0974, 0.3262), (30, 30, 0.8865, 1.0)],
)
def test_wilsons_interval_has_its_published_values(hits, n, low, high):
    estimate = wilson(hits, n)
    assert estimate.value == hits / n and estimate.n == n
    assert estimate.low == pytest.approx(low, abs=5e-5) and estimate.high == pytest.approx(high, abs=5e-5)


def test_of_nothing_nothing_can_be_said():
    assert wilson(0, 0) == clustered_mean([], []) == Estimate(None, None, None, 0)


def test_a_few_clusters_have_a_mean_and_no_interval():
    assert clustered_mean([1.0, 0.0] * 4, ["a", "b", "c", "d"] * 2) == Estimate(0.5, None, None, 8)


def test_clusters_are_drawn_whole():
    values = [1.0] * 50 + [0.0] * 50
    spread = clustered_mean(values, [str(n // 10) for n in range(100)])
    assert spread.low is not None and spread.high is not None and spread.high - spread.low >= 0.5
    apart = clustered_mean(values, [str(n) for n in range(100)])
    assert apart.low is not None and apart.high is not None and apart.low > 0.39 and apart.high < 0.61


def test_the_interval_covers_the_truth_about_as_often_as_it_says(monkeypatch):
    monkeypatch.setattr(stats, "DRAWS", 400)
    draw, covered = random.Random(1), 0
    for _ in range(200):
        values = [draw.gauss(0.3, 1.0) for _ in range(40)]
        estimate = clustered_mean(values, [str(i) for i in range(40)])
        assert estimate.low is not None and estimate.high is not None
        covered += estimate.low <= 0.3 <= estimate.high
    assert 0.88 <= covered / 200 <= 0.98


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.sampled_from("abcdefg")), min_size=1, max_size=12), st.randoms()
)
def test_the_order_of_the_values_changes_nothing_that_is_shown(pairs, draw):
    shuffled = list(pairs)
    draw.shuffle(shuffled)
    one = clustered_mean(*zip(*pairs, strict=True))
    other = clustered_mean(*zip(*shuffled, strict=True))
    assert other.value == pytest.approx(one.value, abs=1e-9) and other.n == one.n
    if one.low is not None and one.high is not None:
        assert other.low == pytest.approx(one.low, abs=1e-9) and other.high == pytest.approx(
            one.high, abs=1e-9
        )
        assert one.low - 1e-9 <= (one.value or 0.0) <= one.high + 1e-9
