"""Text without what cannot be seen."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.text.plain import one_line, plain


@pytest.mark.parametrize("unseen", ["\x1b", "\0", "\u200b", "\u202e", "\ufeff", "\U000e0041", "\ud800"])
def test_what_cannot_be_seen_is_left_out_and_line_ends_and_tabs_stay(unseen):
    assert plain(f"a{unseen}b\n\tc") == "ab\n\tc"
    assert one_line(f" a{unseen}b\n\tc{unseen}") == "ab c"


@pytest.mark.parametrize("space", [" ", "\t", "\n", "\r", "\r\n", "\v", "\f", "\x85", "\u2028", "\u3000"])
def test_white_space_of_any_kind_keeps_words_apart_on_one_line(space):
    assert one_line(f"{space}a{space}{space}b") == "a b"


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_one_line_without_anything_unseen_and_stays_so(text):
    line = one_line(text)
    assert line == one_line(line) == line.strip() and len(line.splitlines()) <= 1
    assert not {"Cc", "Cf", "Cs"} & {unicodedata.category(char) for char in line}
