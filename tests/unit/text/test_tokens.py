"""Token estimates: one to read, one for limits."""

from hypothesis import given
from hypothesis import strategies as st

from admit.text.tokens import COUNTER, LIMIT_COUNTER, estimate_tokens, limit_tokens


def test_four_ascii_characters_or_one_other_are_a_token():
    assert [estimate_tokens(text) for text in ("", "a", "abcd", "abcde", "中文", "ab中")] == [
        0,
        1,
        1,
        2,
        2,
        2,
    ]


def test_against_limits_three_bytes_are_a_token():
    assert [limit_tokens(text) for text in ("", "a", "abc", "abcd", "中文", "é")] == [0, 1, 1, 2, 2, 1]


def test_each_figure_has_a_counter_of_its_own():
    assert COUNTER != LIMIT_COUNTER


def test_half_characters_are_counted_too():
    assert limit_tokens("\ud83d") == 1
    assert estimate_tokens("\ud83d") == 1


@given(st.text())
def test_ascii_is_counted_upwards_for_limits(text):
    plain = text.encode("ascii", "ignore").decode()
    assert estimate_tokens(plain) <= limit_tokens(plain)


@given(st.text(), st.text())
def test_estimates_grow_with_the_text_and_two_halves_are_off_by_one_at_most(first, second):
    for count in (estimate_tokens, limit_tokens):
        assert count(first) <= count(first + second)
        assert 0 <= count(first) + count(second) - count(first + second) <= 1
