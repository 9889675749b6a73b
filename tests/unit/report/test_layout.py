"""Other people's text on a terminal: nothing hides, nothing moves the cursor."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.report.layout import one_line, percent, points, share, visible
from admit.report.stats import Estimate, wilson
from admit.text.table import table


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 错误 😀\tx\n", "plain é 错误 😀\tx\n"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("a\u202eb\u2066", "a\\u202eb\\u2066"),
        ("a\u200bb\ufeff", "a\\u200bb\\ufeff"),
        ("\U000e0041tag", "\\U000e0041tag"),
        ("half \ud83d", "half \\ud83d"),
        ("a\rb\u2028c\xa0d", "a\\x0db\\u2028c\\xa0d"),
    ],
)
def test_what_does_not_show_itself_is_written_as_its_escape(text, shown):
    assert visible(text) == shown


@given(st.text())
def test_any_text_can_be_printed(text):
    shown = visible(text)
    shown.encode()
    assert all(one.isprintable() or one in " \t\n\u3000" for one in shown)


@given(st.text(max_size=200), st.integers(1, 40))
def test_one_line_is_one_line_of_at_most_its_length(text, most):
    line = one_line(text, most)
    assert len(line) <= most and "\n" not in line


def test_columns_are_aligned():
    assert table([("a", "1"), ("bcd", "22")], ("name", "n"), right=(1,)) == "name   n\na      1\nbcd   22"


def test_shares_and_differences_carry_their_unit_and_interval():
    assert percent(wilson(8, 43)) == "19 % (10 to 33)"
    assert points(Estimate(0.21, 0.08, 0.33, 20)) == "+21 points (8 to 33)"
    assert points(Estimate(-0.05, None, None, 3)) == "-5 points (no interval: under 5 sessions)"
    assert percent(wilson(0, 0)) == share(1, 0) == "-" and share(1, 8) == "12 %"
