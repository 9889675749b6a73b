import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.outputs.nonce import marker_line
from admit.outputs.render import compose, kept_ranges
from admit.outputs.scan import Span
from admit.outputs.spend import LEAST_MARKER, Spender, line_cost, stretches
from admit.outputs.view import View, build

from .cases import UNHURRIED, short_bytes, view_of

TEN = "".join(f"line {k}\n" for k in range(10))


def recount(view: View, spender: Spender) -> int:
    """What is spent, counted on the rendered text: lines with their ends, and markers as estimated."""
    lines = sorted(spender.rules)
    kept = list(kept_ranges(view, lines, dict.fromkeys(lines, "x"), [0.0] * spender.n))
    gaps = compose(view.data, kept, "00000000").gaps
    return sum(line_cost(view.texts[line]) for line in lines) + spender.marker * len(gaps)


@st.composite
def windows(draw):
    """A view of one or two stretches of an output, the second of which reaches the end."""
    data = draw(short_bytes).replace(b"\x1b[1A", b"")
    cut = draw(st.integers(0, max(0, data.count(b"\n") - 1)))
    lines = data.splitlines(keepends=True) if b"\r" not in data else data.split(b"\n")
    if b"\r" in data or cut < 2 or len(lines) < 4:
        return view_of(data)
    head = len(lines[0])
    tail = sum(map(len, lines[:cut]))
    return build(data, (Span(0, head, 1), Span(tail, len(data), cut + 1)), long_line=2000)


@UNHURRIED
@given(windows() | short_bytes.map(view_of), st.data())
def test_what_is_spent_is_what_is_rendered_whatever_is_taken_in_whatever_order(view, data):
    spender = Spender(view, 10_000)
    for line in data.draw(st.permutations(range(spender.n))):
        expected = spender.spent + spender.cost(line)
        spender.take(line, "x")
        assert spender.spent == expected == recount(view, spender)


@UNHURRIED
@given(windows() | short_bytes.map(view_of), st.integers(0, 400), st.data())
def test_the_budget_is_never_exceeded_by_what_is_tried(view, budget, data):
    spender = Spender(view, budget)
    before = spender.spent
    for line in data.draw(st.permutations(range(spender.n))):
        taken = spender.try_take(line, "x")
        assert taken == (line in spender.rules)
    assert spender.spent <= max(budget, before)


@UNHURRIED
@given(windows(), st.data())
def test_the_cost_of_lines_in_a_row_is_never_less_than_what_taking_them_spends(view, data):
    spender = Spender(view, 10_000)
    if not spender.n:
        return
    for line in data.draw(st.lists(st.integers(0, spender.n - 1), max_size=3)):
        spender.take(line, "x")
    first = data.draw(st.integers(0, spender.n - 1))
    rows = range(first, data.draw(st.integers(first, spender.n - 1)) + 1)
    most, before = spender.cost_of(rows), spender.spent
    for line in rows:
        spender.take(line, "x")
    assert spender.spent - before <= most


def test_an_untouched_output_costs_one_marker_and_an_empty_one_nothing():
    assert Spender(view_of(TEN), 100).spent == LEAST_MARKER
    assert Spender(view_of(""), 100).spent == 0


def test_a_line_inside_a_gap_pays_for_a_second_marker_and_one_at_its_edge_does_not():
    spender = Spender(view_of(TEN), 1_000)
    assert spender.cost(5) == 7 + LEAST_MARKER
    assert spender.cost(0) == spender.cost(9) == 7
    spender.take(5, "x")
    assert spender.cost(4) == spender.cost(6) == 7


def test_the_last_line_of_a_gap_gives_its_marker_back():
    spender = Spender(view_of(TEN), 1_000)
    for line in (0, 2):
        spender.take(line, "x")
    assert spender.cost(1) == 7 - LEAST_MARKER
    for line in (1, *range(3, 10)):
        spender.take(line, "x")
    assert spender.spent == len(TEN)


def test_what_was_not_read_between_two_lines_stays_a_gap_when_both_are_kept():
    view = build(b"one\ntwo\nthree\nfour\n", (Span(0, 4, 1), Span(8, 19, 3)), long_line=2000)
    spender = Spender(view, 1_000)
    assert spender.cost(0) == 4 and spender.cost(1) == 6 + LEAST_MARKER and spender.cost(2) == 5
    spender.take(0, "x")
    spender.take(2, "x")
    assert spender.cost(1) == 6
    spender.take(1, "x")
    assert spender.spent == 4 + 6 + 5 + LEAST_MARKER == recount(view, spender)
    tail = build(b"one\ntwo\nthree\n", (Span(4, 14, 2),), long_line=2000)
    assert Spender(tail, 1_000).cost(0) == 4 + LEAST_MARKER


def test_a_line_taken_twice_is_paid_once_and_keeps_its_first_rule():
    spender = Spender(view_of(TEN), 1_000)
    spender.take(3, "end")
    before = spender.spent
    spender.take(3, "run")
    assert spender.rules == {3: "end"} and spender.spent == before and spender.cost(3) == 0


def test_a_line_over_the_room_or_over_the_limit_is_not_taken():
    spender = Spender(view_of(TEN), LEAST_MARKER + 7)
    assert not spender.try_take(9, "x", limit=6)
    assert spender.try_take(9, "x", limit=7)
    assert spender.room == 0
    assert not spender.try_take(8, "x")


def test_case_16_a_carriage_return_before_the_line_feed_costs_nothing():
    """case 16"""
    assert line_cost("abc\r") == line_cost("abc") == 4


@pytest.mark.parametrize("lines", [9, 99, 1_234, 123_456])
def test_no_marker_of_whole_lines_is_wider_than_its_estimate(lines):
    view = view_of("x\n" * lines)
    widest = marker_line("0" * 8, f"{lines:,} lines omitted, {lines}-{lines}") + "\n"
    assert len(widest) <= Spender(view, 0).marker <= max(LEAST_MARKER, len(widest))


@pytest.mark.parametrize("lines", [1, 99, 1_234])
def test_no_marker_inside_a_long_line_is_wider_than_its_estimate(lines):
    data = "x\n" * lines + "word " * 200_000
    widest = marker_line("0" * 8, f"{len(data):,} chars omitted, lines {lines}-{lines}") + "\n"
    assert len(widest) <= Spender(view_of(data), 0).marker <= len(widest) + 2


@given(st.integers(0, 100))
def test_stretches_cover_all_lines_and_differ_by_at_most_one_line(n):
    found = stretches(n)
    assert [line for low, high in found for line in range(low, high)] == list(range(n))
    sizes = [high - low for low, high in found]
    assert len(found) == min(8, n) and max(sizes, default=0) - min(sizes, default=0) <= 1
