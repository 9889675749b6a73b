import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from admit.outputs.model import Gap
from admit.outputs.nonce import header_id
from admit.outputs.render import HEADER_CHARS, compose, header, kept_ranges, line_count
from admit.outputs.view import View, clean

from .cases import UNHURRIED, long_bytes, short_bytes, view_of

NONCE = "0123abcd"
MARKER = re.compile(rf"\[admit {NONCE}: [^\]\n]*\]")


def rendered(view: View, lines, rules=None):
    lines = sorted(lines)
    kept = tuple(kept_ranges(view, lines, rules or dict.fromkeys(lines, "x"), [0.0] * len(view.texts)))
    return compose(view.data, kept, NONCE)


def chosen(view: View, data) -> list[int]:
    picked = data.draw(st.lists(st.booleans(), min_size=len(view.texts), max_size=len(view.texts)))
    return [line for line, take in enumerate(picked) if take]


def cuts_an_escape_sequence(view: View) -> bool:
    """Whether one too long to be kept together was cut in two; its halves show as text."""
    for line in range(1, len(view.texts)):
        if view.glued(line):
            both = view.data[view.starts[line - 1] : view.ends[line]].decode("utf-8", "replace")
            if clean(both) != view.texts[line - 1] + view.texts[line]:
                return True
    return False


plain_text = st.lists(st.sampled_from(["", "a", " b ", "错😀", "\tc\r"]), max_size=12).map("\n".join)


@given(plain_text, st.booleans(), st.data())
def test_kept_lines_stand_word_for_word_and_each_gap_is_one_marker(text, ends, data):
    view = view_of(text + "\n" * (ends and bool(text)))
    lines = set(chosen(view, data))
    expected, run = [], []
    for line, content in enumerate([*view.texts, None]):
        if content is not None and line not in lines:
            run.append(line + 1)
            continue
        if run:
            many = "s" if len(run) > 1 else ""
            where = f"{run[0]}" if len(run) == 1 else f"{run[0]}-{run[-1]}"
            expected.append(f"[admit {NONCE}: {len(run)} line{many} omitted, {where}]")
            run = []
        if content is not None:
            expected.append(content)
    end = "\n" if view.data.endswith(b"\n") or (view.texts and len(view.texts) - 1 not in lines) else ""
    assert rendered(view, lines).text == "\n".join(expected) + end * bool(expected)


@UNHURRIED
@given(short_bytes | long_bytes, st.data())
def test_without_its_markers_a_render_is_a_subsequence_of_the_view(data, draw):
    view = view_of(data)
    assume(not cuts_an_escape_sequence(view))
    lines = chosen(view, draw)
    composed = rendered(view, lines)
    pieces = [piece.strip("\n") for piece in MARKER.split(composed.text)]
    whole = "\n".join(clean(line) for line in view.data.decode("utf-8", "replace").split("\n"))
    at = 0
    for piece in pieces:
        for line in piece.split("\n"):
            found = whole.find(line, at)
            assert found >= 0
            at = found + len(line)


@UNHURRIED
@given(short_bytes | long_bytes, st.data())
def test_kept_characters_and_the_characters_of_the_gaps_are_all_there_are(data, draw):
    view = view_of(data.decode("utf-8", "ignore"))
    lines = chosen(view, draw)
    kept = tuple(kept_ranges(view, lines, dict.fromkeys(lines, "x"), [0.0] * len(view.texts)))
    gaps = compose(view.data, kept, NONCE).gaps
    parts = sum(len(view.data[one.start : one.end].decode()) for one in kept)
    missing = sum(gap.chars for gap in gaps)
    total = len(view.data.decode())
    # What is in neither is the line end between two kept ranges, or after the last one.
    assert 0 <= total - parts - missing <= len(kept)


@given(plain_text, st.data())
def test_kept_ranges_and_gaps_divide_the_lines_among_them(text, draw):
    view = view_of(text)
    lines = chosen(view, draw)
    kept = tuple(kept_ranges(view, lines, dict.fromkeys(lines, "x"), [0.0] * len(view.texts)))
    gaps = compose(view.data, kept, NONCE).gaps
    both = sorted([(one.first, one.last) for one in kept] + [(gap.first, gap.last) for gap in gaps])
    found = [line for first, last in both for line in range(first, last + 1)]
    assert found == list(range(1, line_count(view.data) + 1))


@given(short_bytes, st.data())
def test_the_text_is_the_same_whatever_rules_kept_the_lines(data, draw):
    view = view_of(data)
    lines = chosen(view, draw)
    rules = {line: draw.draw(st.sampled_from(["run", "end"])) for line in lines}
    assert rendered(view, lines, rules) == rendered(view, lines)


@given(short_bytes, st.data())
def test_the_bytes_are_the_raw_ones_where_the_view_took_nothing_out(data, draw):
    view = view_of(data)
    lines = chosen(view, draw)
    composed = rendered(view, lines)
    assert composed.data.decode("utf-8", "replace") == composed.text
    if b"\x1b" not in data and b"\r" not in data and len(lines) == len(view.texts):
        assert composed.data == view.data


def test_an_invalid_byte_of_a_kept_line_is_written_as_it_came():
    view = view_of(b"a\xff\r\nb\nc\xfe\r\n")
    assert rendered(view, [0, 2]).data == (b"a\xff\r\n[admit 0123abcd: 1 line omitted, 2]\nc\xfe\r\n")
    assert rendered(view, [0, 2]).text.startswith("a\ufffd\r\n")


def test_a_colour_or_an_overwritten_text_of_a_kept_line_is_not_written():
    view = view_of("\x1b[31ma\x1b[0m\n10 %\r100 %\nb\n")
    assert rendered(view, [0, 1, 2]).data == b"a\n100 %\nb\n"


def test_nothing_kept_is_one_gap_over_all_lines():
    assert rendered(view_of("a\nb\nc"), []).text == "[admit 0123abcd: 3 lines omitted, 1-3]\n"


def test_a_first_empty_line_is_kept_or_omitted_like_any_other():
    view = view_of("\na\n\nb\n")
    assert rendered(view, [0, 1, 2, 3]).text == "\na\n\nb\n"
    assert rendered(view, [1, 2, 3]).gaps == (Gap(1, 1, 1),)
    assert rendered(view, [0, 2, 3]).text == "\n[admit 0123abcd: 1 line omitted, 2]\n\nb\n"


def long_line_between(before: str, after: str) -> View:
    return view_of(f"{before}{'x' * 1800}{after}", long_line=700)


def test_a_gap_inside_a_long_line_counts_characters():
    view = long_line_between("a\n", "\nb\n")
    assert len(view.texts) == 5
    [gap] = rendered(view, [0, 1, 3, 4]).gaps
    assert gap == Gap(2, 2, 600, False)
    assert "x\n[admit 0123abcd: 600 chars omitted, line 2]\nx" in rendered(view, [0, 1, 3, 4]).text


def test_a_gap_that_begins_or_ends_inside_a_long_line_counts_characters_and_names_its_lines():
    view = long_line_between("a\nb\n", "\nc\nd\n")
    assert rendered(view, [0, 1, 2, 6]).gaps == (Gap(3, 4, 1_203, False),)
    assert rendered(view, [0, 4, 5, 6]).gaps == (Gap(2, 3, 1_203, False),)
    assert "1,203 chars omitted, lines 2-3]" in rendered(view, [0, 4, 5, 6]).text


def test_a_gap_that_begins_and_ends_with_whole_lines_counts_lines_though_some_are_long():
    view = long_line_between("a\n", "\nb\n")
    assert rendered(view, [0, 4]).gaps == (Gap(2, 2, 1_802),)


def test_pieces_of_a_long_line_kept_side_by_side_are_joined_without_a_line_end():
    view = long_line_between("", "\nb\n")
    for rules in ({0: "run", 1: "run", 2: "run"}, {0: "run", 1: "term", 2: "end"}):
        assert rendered(view, [0, 1, 2], rules).text.startswith("x" * 1800 + "\n[admit")


def test_redraw_lines_that_the_view_left_out_are_a_gap_between_kept_lines():
    view = view_of("a\n" + "".join(f"\x1b[1Astep {k}\n" for k in range(5)) + "b\n")
    assert rendered(view, range(len(view.texts))).text == (
        "a\nstep 0\n[admit 0123abcd: 3 lines omitted, 3-5]\nstep 4\nb\n"
    )


def test_a_kept_range_ends_where_a_line_is_missing_or_the_rule_changes_and_has_its_best_score():
    view = view_of("a\nb\nc\nd\ne\n")
    rules = {0: "run", 1: "run", 2: "end", 4: "end"}
    found = list(kept_ranges(view, [0, 1, 2, 4], rules, [0.25, 0.5, 0.12345678, 0, 1]))
    assert [one[:4] for one in found] == [(1, 2, "run", 0.5), (3, 3, "end", 0.1235), (5, 5, "end", 1)]
    assert [view.data[one.start : one.end] for one in found] == [b"a\nb", b"c", b"e"]


@pytest.mark.parametrize(("data", "lines"), [(b"", 0), (b"\n", 1), (b"a", 1), (b"a\nb", 2), (b"a\nb\n", 2)])
def test_lines_are_counted_as_line_feeds_and_what_stands_after_the_last(data, lines):
    assert line_count(data) == lines


SIZES = {"kept_chars": 5_870, "chars": 121_437, "kept_lines": 78, "lines": 1_502}


def test_the_header_says_what_is_kept_what_the_exit_code_was_and_where_the_whole_is():
    assert header(NONCE, **SIZES, exit_code=2, recall="admit recall o_3f9a1c2b7d10") == (
        "[admit 0123abcd] 5,870 of 121,437 chars (78 of 1,502 lines) kept for the task, verbatim; "
        "exit code 2. Gaps are marked. Whole output: admit recall o_3f9a1c2b7d10"
    )


def test_case_27_an_exit_code_that_is_not_known_is_said_to_be_unknown():
    """case 27"""
    assert "exit code unknown." in header(NONCE, **SIZES, exit_code=None)
    assert "exit code 0." in header(NONCE, **SIZES, exit_code=0)


def test_no_way_of_recall_is_named_where_there_is_none():
    assert "Whole output" not in header(NONCE, **SIZES, exit_code=0)


def test_notes_stand_in_the_header_in_order_as_far_as_500_characters_allow():
    recall = "admit recall o_3f9a1c2b7d10"
    notes = ["A first note.", "x" * 400, "Another."]
    line = header("f" * 64, **SIZES, exit_code=2, notes=notes, recall=recall)
    assert "marked. A first note. Another. Whole output" in line
    assert len(line) <= HEADER_CHARS
    assert header_id(line) == ("f" * 64, "o_3f9a1c2b7d10")


@given(st.lists(st.text("ab ", max_size=120), max_size=20))
def test_no_number_of_notes_makes_the_header_longer_than_500_characters(notes):
    assert len(header("f" * 64, **SIZES, exit_code=137, notes=notes, recall="x" * 60)) <= HEADER_CHARS
