"""Values in words: what is printed about a setting is short, plain and true."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.config.check import nearest, range_of, shown, visible
from admit.config.keys import KEYS


@given(st.booleans() | st.integers(-(10**14), 10**14) | st.floats(-1e6, 1e6))
def test_a_number_is_shown_as_toml_reads_it_back(value):
    assert tomllib.loads(f"v = {shown(value)}")["v"] == pytest.approx(value, rel=1e-12)


@given(st.lists(st.integers(0, 10**6) | st.text(alphabet="ab c", max_size=5), max_size=8))
def test_a_short_list_is_shown_as_toml_reads_it_back(value):
    assert tomllib.loads(f"v = {shown(value)}")["v"] == value


@given(st.text(), st.integers(1, 90))
def test_text_from_a_file_prints_on_one_line_and_stays_short(text, most):
    seen = visible(text, most)
    assert seen.isprintable() and len(seen) <= most * 10


def test_a_long_value_of_any_kind_is_cut():
    for value in ("x" * 10_000, ["x" * 10_000] * 10_000, 10**4000, {"a": 1}):
        assert len(shown(value)) < 250


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("outputs.mode", "enforce, shadow or off"),
        ("outputs.max_kept_chars", "2,000 to 20,000"),
        ("outputs.weights.spread", "3 numbers, each 0 to 10"),
        ("outputs.mask", "true or false"),
        ("outputs.skip_tools", "a list of texts"),
        ("ledger.path", "text"),
    ],
)
def test_a_range_reads_as_a_sentence_would_have_it(key, words):
    assert range_of(KEYS[key]) == words


@pytest.mark.parametrize(
    ("word", "known"),
    [("outputs.max_kept_char", "outputs.max_kept_chars"), ("ledger.txt", "ledger.text"), ("zzz", "")],
)
def test_the_nearest_key_is_named_and_a_far_one_is_not(word, known):
    assert nearest(word, KEYS) == known


def test_a_word_of_any_length_is_compared_in_its_beginning_only():
    assert nearest("outputs.mode" + "e" * 1_000_000, KEYS) == ""
