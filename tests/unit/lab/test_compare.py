"""Two arms: a difference is one that chance and the repeat arm do not explain."""

import pytest

from admit.lab.compare import compare
from admit.lab.statistics import Resample


def arms(n, better, worse=0):
    """`other` passes what is left over; `arm` gains `better` cases and loses `worse`."""
    other = [0] * better + [1] * (n - better)
    arm = [1] * (n - worse) + [0] * worse
    return arm, other, [1] * n, Resample([f"{k:03}" for k in range(n)], draws=2000)


def test_twelve_cases_whose_repeat_arm_flips_one_in_five_show_no_difference():
    arm, other, under, draw = arms(12, 6)
    # Without the repeat arm the same figures would pass for a difference.
    assert compare(arm, other, under, draw, "share").verdict == "difference"
    found = compare(arm, other, under, draw, "share", repeat=[1, 0, 0, 0, 0])
    assert (found.flips, found.repeats) == (1, 5)
    assert found.noise > 0.5 and found.verdict == "not shown"


def test_an_effect_smaller_than_the_noise_of_the_repeat_arm_is_not_shown():
    n = 200
    draw = Resample([f"{k:03}" for k in range(n)], draws=2000)
    arm, other = [5.4] * n, [5.0] * n
    assert compare(arm, other, [1] * n, draw, "tools").verdict == "difference"
    found = compare(arm, other, [1] * n, draw, "tools", repeat=[1.0, -1.0, 0.0, 0.0])
    assert found.noise == 0.5 and found.delta.value == pytest.approx(0.4) and found.verdict == "not shown"


def test_what_the_exact_test_does_not_support_is_no_difference():
    arm, other, under, draw = arms(40, 5)
    found = compare(arm, other, under, draw, "share")
    assert found.p == pytest.approx(0.0625) and found.delta.low > 0
    assert found.verdict == "not shown"


def test_a_large_gain_without_noise_is_a_difference():
    arm, other, under, draw = arms(100, 20, 2)
    found = compare(arm, other, under, draw, "share", repeat=[0] * 10)
    assert found.delta.value == pytest.approx(0.18) and found.noise == 0.0
    assert found.verdict == "difference"


def test_cases_that_do_not_count_are_left_out():
    arm, other, _, draw = arms(10, 10)
    assert compare(arm, other, [0] * 10, draw, "share").delta.value is None
