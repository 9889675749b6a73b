"""How labelled lines are counted, found and picked."""

from hypothesis import given
from hypothesis import strategies as st

from outputs_bench.baselines import BASELINES, MARKER, bm25, greedy, join, tail
from outputs_bench.case import Case, counted_recall, score
from outputs_bench.ci_logs import labelled_lines, parse_labels, redrawn_away, terminal_indexes
from outputs_bench.lines import last_redraw, reader_lines, terminal_lines, without_escapes
from outputs_bench.oracle import cheapest_choice, lines_holding, oracle


def lines_case(text, *wanted, at=()):
    return Case("c", "c", text, "why does it fail", 1, wanted, "lines", at)


def test_a_bare_carriage_return_ends_a_line_of_the_labels():
    assert reader_lines("one\rtwo\r\nthree\n\nfour") == ["one", "two", "three", "", "four"]
    assert reader_lines("one\n") == ["one"]


def test_escapes_of_colour_title_and_cursor_are_removed():
    assert without_escapes("\x1b[31mred\x1b[0m \x1b]0;title\x07x\x1b[2K\x1b(B"[:-3]) == "red x"


def test_a_terminal_keeps_what_stands_after_the_last_redraw_of_a_line():
    assert last_redraw(" 10%\r 50%\r100%") == "100%"
    assert last_redraw("windows line\r") == "windows line"
    assert terminal_lines("a\rb\r\nc\n") == ["b", "c"]


def test_a_label_file_holds_ranges_and_single_lines_of_two_kinds():
    labels = parse_labels("DEFAULT\nE 3-5\nC 7\nE 9\n\n")
    assert labels.error == ((3, 5), (9, 9)) and labels.context == ((7, 7),)


def test_overlapping_ranges_label_a_line_once_and_blank_lines_never():
    text = "one\ntwo  \n\nfour\n"
    assert labelled_lines(text, ((1, 3), (2, 4))) == {1: "one", 2: "two", 4: "four"}


def test_a_label_behind_a_redraw_belongs_to_its_terminal_line_and_is_counted_as_gone():
    text = "start\n10%\r100%\nBOOM\n"
    assert labelled_lines(text, ((2, 2), (4, 4))) == {2: "10%", 4: "BOOM"}
    assert terminal_indexes(text, [1, 2, 3, 4]) == (0, 1, 2)
    assert redrawn_away(text, ("10%", "BOOM")) == 1


def test_a_wanted_line_is_found_only_whole():
    case = lines_case("", "error: no such file")
    assert score(case, "x\nerror: no such file   \ny") == 1
    assert score(case, "the error: no such file") == 0
    assert score(case, "  error: no such file") == 0
    assert score(case, "  error: no such file", trimmed=True) == 1


def test_counted_recall_lets_a_shown_line_answer_for_one_of_several_equal_ones():
    case = lines_case("", "warning", "warning", "warning", "error")
    assert score(case, "warning") == 0.75
    assert counted_recall(case, "warning") == 0.25
    assert counted_recall(case, "warning\nwarning\nerror") == 0.75


def test_needles_are_found_through_colours_and_by_their_measure():
    case = Case("c", "c", "", "", None, ("pool 50", "to 5"), "all")
    shown = "\x1b[1mpool\x1b[0m 50"
    assert score(case, shown) == 0
    assert score(case._replace(measure="any"), shown) == 1
    assert score(case._replace(measure="share"), shown) == 0.5


def test_the_markers_of_a_selection_stand_where_lines_are_left_out():
    lines = [f"line {n}" for n in range(9)]
    assert join(lines, {0, 1, 5}).count("[...") == 2
    assert join(lines, set(range(9))) == "\n".join(lines)


@given(
    st.lists(st.text("ab \t", max_size=30), max_size=40).map("\n".join),
    st.integers(200, 1_000),
    st.sampled_from(sorted(BASELINES)),
)
def test_no_baseline_shows_more_than_its_budget(text, budget, name):
    assert len(BASELINES[name](lines_case(text, "a"), budget)) <= budget


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.data())
def test_a_greedy_choice_never_costs_more_than_its_budget(costs, data):
    lines = ["x" * (cost - 1) for cost in costs]
    budget = data.draw(st.integers(MARKER, 600))
    order = data.draw(st.permutations(range(len(lines))))
    assert len(join(lines, greedy(lines, budget, order))) <= budget


def test_bm25_prefers_the_line_with_the_rarer_word_of_the_task():
    filler = [f"order {n} stored in the usual place" for n in range(300)]
    text = "\n".join([*filler[:150], "voucher order rejected by rule 7", *filler[150:]])
    case = lines_case(text, "voucher order rejected by rule 7")._replace(
        task="why was the voucher of an order lost"
    )
    assert score(case, bm25(case, 1_000)) == 1
    assert score(case, tail(case, 1_000)) == 0


def brute_force(costs, wanted, budget):
    best = 0
    for choice in range(1 << len(costs)):
        kept = [bool(choice >> i & 1) for i in range(len(costs))]
        gaps = sum(not kept[i] and (i == 0 or kept[i - 1]) for i in range(len(costs)))
        cost = sum(c for c, keep in zip(costs, kept, strict=True) if keep) + gaps * MARKER
        if cost <= budget:
            best = max(best, sum(kept[i] for i in wanted))
    return best


@given(st.lists(st.integers(1, 90), min_size=1, max_size=9), st.data())
def test_the_oracle_holds_as_many_wanted_lines_as_any_choice_inside_the_budget(costs, data):
    wanted = data.draw(st.sets(st.integers(0, len(costs) - 1), min_size=1))
    budget = data.draw(st.integers(MARKER, 400))
    chosen = cheapest_choice(costs, wanted, budget)
    assert len(wanted & set(chosen)) == brute_force(costs, wanted, budget)


def test_the_oracle_keeps_a_short_line_between_two_wanted_ones_instead_of_a_marker():
    lines = ["filler " * 30] * 20
    lines[8:11] = ["error one", "note", "error two"]
    case = lines_case("\n".join(lines) + "\n", "error one", "error two", at=(8, 10))
    assert "error one\nnote\nerror two" in oracle(case, 300)


def test_a_needle_is_looked_for_in_its_shortest_line():
    assert lines_holding("a long line with KEY in it\nKEY\nnothing", ("KEY", "absent")) == (1,)
