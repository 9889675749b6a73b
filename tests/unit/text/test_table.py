"""Tables of text."""

from admit.text.table import table


def test_columns_are_aligned_and_lines_carry_no_trailing_space():
    text = table([["guidance", "8"], ["x", "1,000"]], ["door", "n"], right=[1])
    assert text == "door          n\nguidance      8\nx         1,000"
