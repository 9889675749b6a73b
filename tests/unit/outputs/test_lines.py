from hypothesis import given
from hypothesis import strategies as st

from admit.outputs.lines import index_lines

LINES = st.lists(st.text(st.sampled_from("abAB İß\r"), max_size=8), max_size=12)


@given(LINES, st.text(st.sampled_from("ab ß"), min_size=1, max_size=3))
def test_a_word_is_found_in_each_line_that_holds_it_once_and_in_order(lines, word):
    index = index_lines(lines)
    lowered = ["".join(low if len(low := one.lower()) == 1 else one for one in line) for line in lines]
    assert list(index.holding(word)) == [k for k, line in enumerate(lowered) if word in line]


@given(LINES)
def test_the_lowered_text_is_as_long_as_the_text_whatever_grows_when_lowered(lines):
    index = index_lines(lines)
    assert len(index.lowered) == len(index.joined)
    assert index.joined == "\n".join(lines)
    assert [index.joined[a : b - 1] for a, b in zip(index.starts, index.starts[1:], strict=False)] == lines


def test_a_word_does_not_reach_over_a_line_end():
    assert list(index_lines(["ab", "cd"]).holding("bc")) == []
