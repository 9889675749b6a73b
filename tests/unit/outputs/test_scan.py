from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admit.outputs.scan import AROUND, BYTES_PER_LINE, HEAD, TAIL, WINDOWS, _nth_line, _nth_line_back, scan

LINE = b"an ordinary line of a log that says nothing at all, with 72 characters.\n"
BIG = LINE * 70_000  # 5 MB
SMALLEST = 10_000


def analysed(spans):
    return sum(span.end - span.start for span in spans)


def holds(data: bytes, spans, word: bytes) -> bool:
    return any(word in data[span.start : span.end] for span in spans)


def planted(*at: int, word: bytes = b"needle", size: int = 70_000) -> bytes:
    lines = [LINE] * size
    for place in at:
        lines[place] = b"here is a " + word + b"\n"
    return b"".join(lines)


def test_up_to_scan_chars_everything_is_analysed():
    data = LINE * 100
    assert scan(data, (), scan_chars=len(data)).spans == ((0, len(data), 1),)
    assert scan(data, (), scan_chars=len(data)).unread == 0
    assert scan(data + LINE, ("x",), scan_chars=len(data)).unread > 0


def test_above_it_the_first_500_000_and_the_last_2_000_000_bytes_are_analysed():
    spans, unread = scan(BIG, ("needle",), scan_chars=4_000_000)
    assert len(spans) == 2
    assert spans[0].start == 0 and HEAD <= spans[0].end <= HEAD + AROUND
    assert spans[1].end == len(BIG) and TAIL <= len(BIG) - spans[1].start <= TAIL + AROUND
    assert unread == len(BIG) - analysed(spans) > 2_000_000


def test_2_000_bytes_to_each_side_of_a_word_between_them_are_analysed():
    data = planted(20_000)
    spans, _ = scan(data, ("needle",), scan_chars=4_000_000)
    at = data.index(b"needle")
    [window] = [span for span in spans if span.start <= at < span.end]
    assert window.start <= at - AROUND and window.end >= at + AROUND
    assert window.end - window.start <= 4 * AROUND


def test_the_first_and_the_last_hit_of_each_word_come_before_any_other():
    often = set(range(8_000, 40_000, 50))
    data = planted(*often)
    rare = planted(9_001, 25_000, 38_002, word=b"marker")
    lines = [a if b == LINE else b for a, b in zip(data.splitlines(True), rare.splitlines(True), strict=True)]
    both = b"".join(lines)
    # Room for four windows.
    spans, _ = scan(both, ("needle", "marker"), scan_chars=50_000)
    read = b"".join(both[span.start : span.end] for span in spans)
    for word in (b"needle", b"marker"):
        for at in (both.index(word), both.rindex(word)):
            assert any(span.start <= at < span.end for span in spans)
    assert read.count(b"marker") == 2


def test_what_room_is_left_goes_to_windows_spread_over_the_rest():
    data = planted(*range(8_000, 40_000, 50))
    spans, _ = scan(data, ("needle",), scan_chars=4_000_000)
    low, high = spans[0].end, spans[-1].start
    windows = list(spans[1:-1])
    assert WINDOWS * 0.9 <= analysed(windows) <= WINDOWS
    part = (high - low) / 4
    inside = [sum(low + part * k <= span.start < low + part * (k + 1) for span in windows) for k in range(4)]
    assert min(inside) > 0.5 * max(inside)


def test_words_are_found_whatever_their_case():
    data = planted(20_000, word=b"NeeDle")
    assert holds(data, scan(data, ("needle",), scan_chars=4_000_000).spans, b"NeeDle")


def test_a_word_that_stands_in_every_few_lines_points_nowhere():
    data = planted(*range(0, 70_000, 5))
    assert len(scan(data, ("needle",), scan_chars=4_000_000).spans) == 2


def test_many_hits_at_the_edge_of_the_head_do_not_use_up_the_room_of_the_others():
    lines = [LINE] * 70_000
    for k in range(7_000, 7_100):
        lines[k] = b"needle here\n"
    lines[30_000] = b"the needle that is alone\n"
    lines[35_000] = b"needle last\n"
    data = b"".join(lines)
    assert holds(data, scan(data, ("needle",), scan_chars=300_000).spans, b"that is alone")


@pytest.mark.parametrize("scan_chars", [SMALLEST, 100_000, 1_000_000, 4_000_000])
def test_what_is_analysed_is_bounded_by_scan_chars_in_bytes_and_in_lines(scan_chars):
    often = planted(*range(0, 70_000, 20))
    for data in (often, b"\n" * 5_000_000, b"needle\n" * 150_000, b"x" * 5_000_000):
        spans, unread = scan(data, ("needle",), scan_chars=scan_chars)
        assert analysed(spans) <= scan_chars + 4 * AROUND
        assert unread == len(data) - analysed(spans)
        lines = sum(data.count(b"\n", span.start, span.end) for span in spans)
        assert lines <= scan_chars // BYTES_PER_LINE + 2


@pytest.mark.parametrize("scan_chars", [SMALLEST, 100_000, 1_000_000])
def test_case_5_the_last_thousand_characters_are_analysed_whatever_the_bound(scan_chars):
    """case 5"""
    spans, _ = scan(BIG, ("ordinary",), scan_chars=scan_chars)
    assert spans[-1].end == len(BIG) and len(BIG) - spans[-1].start > 1_000


def test_an_output_of_very_many_short_lines_is_bounded_by_their_number():
    data = b"a\n" * 1_000_000
    spans, unread = scan(data, ("needle",), scan_chars=4_000_000)
    lines = sum(data.count(b"\n", span.start, span.end) for span in spans)
    assert unread > 0 and 60_000 <= lines <= 100_000


LOGS = st.lists(
    st.tuples(
        st.sampled_from([LINE, b"\n", b"needle\n", b"x" * 5_000, "😀".encode() * 700, "é".encode() + b"\n"]),
        st.integers(1, 60),
    ),
    max_size=8,
).map(lambda runs: b"".join(text * times for text, times in runs))


def test_windows_that_meet_are_one_and_every_span_has_its_own_line_number():
    data = planted(9_000, 9_050, 15_000, 22_000, 30_000)
    spans = scan(data, ("needle",), scan_chars=400_000).spans
    assert len(spans) == 6
    assert [span.number for span in spans] == [data.count(b"\n", 0, span.start) + 1 for span in spans]
    assert all(one.end < other.start for one, other in pairwise(spans))


def test_windows_in_very_short_lines_are_bounded_by_their_number():
    data = (b"a\n" * 60 + b"needle\n") * 10_000
    spans, _ = scan(data, ("needle",), scan_chars=4_000_000)
    lines = [data.count(b"\n", span.start, span.end) for span in spans]
    assert len(spans) > 3 and 90_000 < sum(lines) <= 101_000


def test_a_word_is_found_beside_bytes_that_are_no_text():
    data = planted(20_000, word=b"\xff\xfe needle \xff")
    assert holds(data, scan(data, ("needle",), scan_chars=4_000_000).spans, b"needle")


@settings(deadline=None, max_examples=60)
@given(LOGS, st.integers(SMALLEST, 60_000))
def test_spans_stand_apart_in_order_with_the_right_line_numbers_and_between_characters(data, scan_chars):
    spans, unread = scan(data, ("needle",), scan_chars=scan_chars)
    assert unread == len(data) - analysed(spans)
    for span in spans:
        assert span.start < span.end or not data
        assert span.number == data.count(b"\n", 0, span.start) + 1
        data[span.start : span.end].decode()
    assert all(one.end < other.start for one, other in pairwise(spans))
    if data:
        assert spans[0].start == 0 and spans[-1].end == len(data)


@pytest.mark.parametrize("n", [0, 1, 2, 700_000, 999_999, 1_000_000])
def test_the_nth_line_is_found_across_blocks_from_either_end(n):
    data = b"a\n" * 1_000_000
    assert _nth_line(data, n) == 2 * n
    assert _nth_line_back(data, n) == len(data) - 2 * n
    assert _nth_line(data, 1_000_001) == len(data) and _nth_line_back(data, 1_000_001) == 0


def test_spans_begin_and_end_with_whole_lines_where_lines_are_short():
    data = planted(15_000, 30_000)
    for span in scan(data, ("needle",), scan_chars=4_000_000).spans:
        assert span.start == 0 or data[span.start - 1 : span.start] == b"\n"
        assert data[span.end - 1 : span.end] == b"\n"


def test_text_with_emoji_is_analysed_half_as_far_for_its_characters_are_four_times_as_wide():
    plain = scan(b"one line of a log\n" * 300_000, (), scan_chars=4_000_000)
    emoji = scan("one line of a 🚀 log\n".encode() * 250_000, (), scan_chars=4_000_000)
    analysed = [sum(span.end - span.start for span in found.spans) for found in (plain, emoji)]
    assert analysed[1] <= 2_000_000 + 4_000
    assert analysed[0] > 1.2 * analysed[1]
