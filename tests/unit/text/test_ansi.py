"""ANSI sequences go, everything else stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.text.ansi import has_ansi, strip

TORN = st.text(st.sampled_from("\x1b[]PX^_()0123;?= mHKAz\x07\\\n\ré中"), max_size=60)


@pytest.mark.parametrize(
    "raw, clean",
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[1;38;5;196mbold\x1b[m", "bold"),
        ("\x1b[?25lhidden\x1b[?25h", "hidden"),
        ("\x1b[2K\x1b[1Aagain", "again"),
        ("\x1b[0 qcursor", "cursor"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1$r0m\x1b\\text", "text"),
        ("\x1b(Bplain\x1b=\x1b>\x1b7\x1b8\x1bM", "plain"),
        ("a\x1b[31", "a"),
        ("a\x1b[", "a"),
        ("a\x1b", "a"),
        ("a\x1b[31\nb", "a\nb"),
        ("a\x1b[31é", "aé"),
        ("no escapes: [31m stays", "no escapes: [31m stays"),
    ],
)
def test_sequences_are_removed_and_text_stays(raw, clean):
    assert strip(raw) == clean


def test_an_unterminated_string_sequence_swallows_no_text():
    assert strip("\x1b]0;title and the error: boom\nnext") == "0;title and the error: boom\nnext"


def test_a_string_sequence_ends_at_its_line_or_at_the_next_escape():
    assert strip("\x1b]0;a\nb\x07c") == "0;a\nb\x07c"
    assert strip("\x1b]0;a\x1b[31mb\x07") == "0;ab\x07"


def test_text_without_escapes_is_the_same_object():
    text = "plain\ttext\r\n"
    assert strip(text) is text


def test_a_million_openings_without_an_end_are_one_pass():
    assert strip("\x1b]" * 500_000) == ""
    assert strip("\x1b[" + "1;" * 500_000) == ""


@given(TORN)
def test_nothing_is_left_to_strip(text):
    assert not has_ansi(strip(text))
    assert strip(strip(text)) == strip(text)


@given(TORN)
def test_what_stays_is_a_subsequence_and_line_breaks_all_stay(text):
    rest = iter(text)
    assert all(character in rest for character in strip(text))
    assert strip(text).count("\n") == text.count("\n")


@given(TORN, TORN)
def test_a_line_break_ends_every_sequence(first, second):
    assert strip(first + "\n" + second) == strip(first) + "\n" + strip(second)
