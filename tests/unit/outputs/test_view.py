import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.outputs.view import Span, as_text, as_utf8, build, characters, clean, rebuild, view_chars

from .cases import UNHURRIED, long_bytes, short_bytes, view_of


def texts(data: bytes | str) -> list[str]:
    return view_of(data).texts


@UNHURRIED
@given(short_bytes | long_bytes)
def test_every_view_line_is_the_clean_text_of_its_byte_slice(data):
    view = view_of(data)
    for index, text in enumerate(view.texts):
        piece = view.data[view.starts[index] : view.ends[index]].decode("utf-8", "replace")
        assert text == clean(piece)
        assert "\n" not in piece


@UNHURRIED
@given(short_bytes | long_bytes)
def test_the_slices_stand_in_order_and_leave_out_nothing_but_line_feeds_and_redraw_lines(data):
    view = view_of(data)
    at, number = 0, 1
    for index in range(len(view.texts)):
        start, end = view.starts[index], view.ends[index]
        between = view.data[at:start]
        assert start >= at and end >= start
        number += between.count(b"\n")
        assert view.numbers[index] == number
        if not (between == b"\n" or between == b""):
            assert all(b"\x1b[1A" in line for line in between.strip(b"\n").split(b"\n"))
        at = end
    assert view.data[at:] in (b"", b"\n")


@UNHURRIED
@given(short_bytes | long_bytes)
def test_a_line_follows_the_one_before_it_exactly_where_nothing_but_a_line_feed_stands_between(data):
    view = view_of(data)
    for index in range(1, len(view.texts)):
        between = view.data[view.ends[index - 1] : view.starts[index]]
        assert view.follows(index) == (between in (b"", b"\n"))
        assert view.glued(index) == (between == b"")
    if view.texts:
        assert view.follows(0) and not view.glued(0)


@given(short_bytes)
def test_a_kept_slice_is_rebuilt_as_the_lines_it_was_cut_from(data):
    view = view_of(data)
    for first in range(len(view.texts)):
        last = first
        while last + 1 < len(view.texts) and view.follows(last + 1):
            last += 1
        assert rebuild(view.data, view.starts[first], view.ends[last]) == "\n".join(
            view.texts[first : last + 1]
        )


def test_a_line_feed_ends_a_line_and_what_stands_after_the_last_one_is_a_line():
    assert texts("a\n\nb\n") == ["a", "", "b"]
    assert texts("a\nb") == ["a", "b"]
    assert texts("\n") == [""]
    assert texts("") == []


def test_tabs_trailing_spaces_and_the_carriage_return_of_a_line_end_stay():
    assert texts("\ta  \r\nb \n") == ["\ta  \r", "b "]


def test_other_separators_of_lines_than_the_line_feed_separate_none():
    assert len(texts("a\x0bb\x0cc\x85d\u2028e\n")) == 1


def test_colours_titles_and_single_escapes_go():
    assert texts("\x1b[1;31merror\x1b[0m: \x1b]0;title\x07x\x1b(B\n") == ["error: x"]


def test_only_the_text_after_the_last_bare_carriage_return_stays():
    assert texts("10 %\r50 %\r100 % done\nnext\r\n") == ["100 % done", "next\r"]
    assert texts("10 %\r100 %\r\n") == ["100 %\r"]
    assert texts("100 %\r\x1b[K\n") == ["100 %\r"]


def test_of_a_run_of_lines_that_move_the_cursor_up_the_first_and_the_last_stay():
    frames = "".join(f"\x1b[1A\x1b[2Kstep {k}\n" for k in range(1, 6))
    view = view_of(f"begin\n{frames}end\n")
    assert view.texts == ["begin", "step 1", "step 5", "end"]
    assert view.numbers == [1, 2, 6, 7]
    assert [view.follows(k) for k in range(4)] == [True, True, False, True]
    slices = [view.data[a:b] for a, b in zip(view.starts, view.ends, strict=True)]
    assert slices == [b"begin", b"\x1b[1A\x1b[2Kstep 1", b"\x1b[1A\x1b[2Kstep 5", b"end"]


def test_two_redraw_lines_and_a_run_at_either_end_keep_their_ends():
    frame = "\x1b[2Fx\n"
    assert len(texts(frame * 2)) == 2
    assert len(texts(frame * 9)) == 2
    assert len(texts("a\n" + frame + "b\n" + frame + "c\n")) == 5


def test_a_colour_is_no_redraw():
    assert len(texts("\x1b[31ma\x1b[0m\n" * 5)) == 5


def test_invalid_bytes_show_as_one_replacement_character_for_each_broken_sequence():
    assert texts(b"a\xffb\xe2\x82\n") == ["a\ufffdb\ufffd"]


@pytest.mark.parametrize("mark", ["utf-16-le", "utf-16-be"])
def test_utf_16_with_a_byte_order_mark_is_read_as_text(mark):
    bom = codecs.BOM_UTF16_LE if mark.endswith("le") else codecs.BOM_UTF16_BE
    assert as_utf8(bom + "é\n😀".encode(mark)) == "é\n😀".encode()
    assert as_utf8(bom + "é".encode(mark) + b"\0") == "é\ufffd".encode()


def test_a_utf_8_byte_order_mark_goes_and_anything_else_stays_as_it_is():
    assert as_utf8(codecs.BOM_UTF8 + b"a") == b"a"
    assert as_utf8(b"\xff\xfa") == b"\xff\xfa"


def test_a_line_over_long_line_becomes_virtual_lines_of_one_number():
    long = "word " * 1000
    view = view_of(f"a\n{long}\nb\n")
    assert view.texts[0] == "a" and view.texts[-1] == "b"
    assert "".join(view.texts[1:-1]) == long
    assert set(view.numbers[1:-1]) == {2} and view.numbers[-1] == 3
    assert not view.glued(1) and all(view.glued(k) for k in range(2, len(view.texts) - 1))


def test_a_line_of_exactly_long_line_characters_is_left_alone_with_either_line_end():
    for end in ("\n", "\r\n"):
        assert len(texts("x" * 2000 + end)) == 1
        assert len(texts("x" * 2001 + end)) == 4


def test_a_long_line_of_nothing_but_carriage_returns_is_one_line():
    assert len(texts("a\n" + "\r" * 3_000 + "\nb\n")) == 3


def test_the_length_of_a_line_is_counted_without_its_colours():
    assert len(texts("\x1b[31mx\x1b[0m" * 1000 + "\n")) == 1


def test_a_long_line_with_carriage_returns_and_escapes_keeps_all_that_stays_visible():
    seen = "word " * 600
    redrawn = "over and over " * 200 + "\r"
    for overwritten, ending in ((redrawn, ""), ("", "\r\x1b[K"), ("\xff\r", "\r"), (redrawn, "\r\x1b[K\r")):
        view = view_of(f"{overwritten}{seen}{ending}\nnext\n".encode("latin-1"))
        assert "".join(view.texts[:-1]).rstrip("\r") == seen
        assert view.starts[0] == 0 and all(view.follows(k) for k in range(len(view.texts)))


@UNHURRIED
@given(st.lists(st.sampled_from([b"a", b"\xe2\x82", b"\xf0\x9f\x98", b"\xff", "😀".encode()]), min_size=1))
def test_virtual_lines_of_invalid_bytes_hold_every_byte_once(tokens):
    line = b"".join(tokens) * (3000 // len(tokens) + 1)
    view = view_of(line)
    assert "".join(view.texts) == line.decode("utf-8", "replace")
    assert b"".join(line[a:b] for a, b in zip(view.starts, view.ends, strict=True)) == line


@given(short_bytes)
def test_crlf_gives_the_lines_of_lf_with_a_carriage_return(data):
    plain = data.replace(b"\r", b"")
    crlf = plain.replace(b"\n", b"\r\n")
    assert [line.removesuffix("\r") for line in view_of(crlf).texts] == view_of(plain).texts


def test_spans_give_their_lines_the_numbers_of_the_whole():
    data = b"one\ntwo\nthree\nfour\n"
    view = build(data, (Span(0, 4, 1), Span(14, 19, 4)), long_line=2000)
    assert view.texts == ["one", "four"] and view.numbers == [1, 4]
    assert view.starts == [0, 14] and view.ends == [3, 18]
    assert not view.follows(1)


def test_a_first_line_that_does_not_begin_the_output_follows_nothing():
    view = build(b"one\ntwo\n", (Span(4, 8, 2),), long_line=2000)
    assert not view.follows(0)


@given(st.text())
def test_characters_are_counted_without_decoding(text):
    data = text.encode("utf-8", "surrogatepass")
    assert characters(data) == len(text)
    assert characters(data * 3) == 3 * len(text)


def test_raw_bytes_as_text_are_without_byte_order_mark_and_with_broken_sequences_replaced():
    assert as_text(codecs.BOM_UTF8 + b"a\xff") == "a\ufffd"
    assert as_text(codecs.BOM_UTF16_LE + "é".encode("utf-16-le")) == "é"


def test_the_characters_of_the_view_are_counted_without_what_it_takes_out():
    assert view_chars(b"\x1b[31mab\x1b[0m\n10 %\rcd\r\n") == len("ab\ncd\r\n")
    assert view_chars("é\n".encode()) == 2
    assert view_chars(b"") == 0
    # A huge one is over every gate, and is counted with its escapes.
    assert view_chars(b"\x1b[31m" + b"a" * 1_000_000) == 1_000_005


def test_characters_are_counted_across_blocks():
    assert characters("é".encode() * 1_100_000) == 1_100_000


def test_the_last_piece_of_broken_bytes_ends_with_the_bytes():
    for size in (2_405, 2_406, 2_407):
        data = b"a" * 577 + b"word " * 259 + b"\xff" * (size - 577 - 5 * 259)
        view = build(data, [Span(0, len(data), 1)], long_line=2_000)
        assert view.ends[-1] == len(data)
