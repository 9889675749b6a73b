import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.outputs.lines import AT_ONCE, index_lines, joined

LINES = st.lists(st.text(st.sampled_from("abAB İß\r😀"), max_size=8), max_size=12)


def index(lines):
    return index_lines(lines, joined(lines))


def lower(text: str) -> str:
    """Each character in lower case, as far as that is one character."""
    return "".join(low if len(low := one.lower()) == 1 else one for one in text)


@given(LINES, st.text(st.sampled_from("ab ß😀"), min_size=1, max_size=3))
def test_a_word_is_found_in_each_line_that_holds_it_once_and_in_order(lines, word):
    assert list(index(lines).holding(word)) == [k for k, line in enumerate(lines) if word in lower(line)]


@given(LINES)
def test_the_lowered_text_has_every_character_in_its_place_whatever_grows_when_lowered(lines):
    found = index(lines)
    pieces = [found.lowered[a : b - 1] for a, b in zip(found.starts, found.starts[1:], strict=False)]
    assert pieces == [lower(line).replace("😀", "\ufffd") for line in lines]


def test_a_word_does_not_reach_over_a_line_end():
    assert list(index(["ab", "cd"]).holding("bc")) == []


@pytest.mark.parametrize("count", [AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE])
def test_lines_are_joined_in_parts_as_they_would_be_at_once(count):
    lines = [f"line {k}" for k in range(count)]
    assert joined(lines) == "\n".join(lines)


def test_one_character_beyond_the_basic_plane_does_not_widen_the_whole_text():
    lines = ["é" * 1_000] * AT_ONCE + ["😀"]
    assert joined(lines).__sizeof__() < 3 * sum(map(len, lines))
