from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.outputs.excerpt import Looked
from admit.outputs.model import OutputConfig
from admit.outputs.render import compose, kept_ranges
from admit.outputs.select import Judged, Selection, reserved_end, select
from admit.outputs.spend import line_cost

from .cases import CONFIG, UNHURRIED, long_bytes, looked_at, short_bytes, steps, text_of

B = 6_000


def selected(looked: Looked, budget: int = B, config: OutputConfig = CONFIG, judged=None) -> Selection:
    return select(looked.view, looked.weighed, config, budget, judged)


def kept_by(found: Selection, *rules: str) -> list[int]:
    return [line for line in found.lines if found.rules[line] in rules]


def spent_on(looked: Looked, lines: list[int]) -> int:
    """Characters of these lines with their ends."""
    return sum(line_cost(looked.view.texts[line]) for line in lines)


def rendered_chars(looked: Looked, found: Selection) -> int:
    """Characters of the rendered lines and markers; a carriage return at a line end counts as part of it."""
    view = looked.view
    kept = tuple(kept_ranges(view, found.lines, found.rules, looked.weighed.smoothed))
    return len(compose(view.data, kept, "0" * 8).text.replace("\r\n", "\n"))


# --- the budget -------------------------------------------------------------------------------------------


@st.composite
def outputs(draw):
    data = draw(short_bytes | long_bytes) * draw(st.integers(1, 30))
    task = draw(st.sampled_from(["", "why does it fail", "the word"]))
    return looked_at(data, exit_code=draw(st.sampled_from([0, 1, None])), task=task)


@st.composite
def verdicts(draw, lines: int):
    """What a judge may say of some passages of so many lines."""
    edges = sorted({0, lines, *draw(st.lists(st.integers(0, max(0, lines)), max_size=4))})
    factors = [1.0] * lines
    passages = []
    for low, high in pairwise(edges):
        factor = draw(st.sampled_from([0.0, 1.0, 2.5, 4.0]))
        factors[low:high] = [factor] * (high - low)
        if factor > 1:
            passages.append(range(low, high))
    return Judged(factors, passages, draw(st.booleans()))


@UNHURRIED
@given(outputs(), st.integers(100, 4_000), st.data())
def test_kept_lines_and_markers_never_exceed_the_budget_whatever_a_judge_says(looked, budget, data):
    judged = data.draw(st.none() | verdicts(len(looked.view.texts)))
    found = selected(looked, budget, judged=judged)
    assert rendered_chars(looked, found) <= budget
    assert found.lines == sorted(set(found.lines)) == sorted(found.rules)


@UNHURRIED
@given(outputs(), st.integers(100, 4_000))
def test_the_same_output_gives_the_same_lines(looked, budget):
    assert selected(looked, budget) == selected(looked, budget)


@UNHURRIED
@given(outputs(), st.integers(1_000, 4_000), st.data())
def test_the_end_is_kept_whatever_a_judge_says(looked, budget, data):
    judged = data.draw(st.none() | verdicts(len(looked.view.texts)))
    end = reserved_end(looked.view, CONFIG, budget)
    assert set(end) <= set(selected(looked, budget, judged=judged).lines)


@pytest.mark.parametrize("exit_code", [0, 1])
def test_most_of_the_budget_is_spent_where_there_is_enough_to_spend_it_on(exit_code):
    looked = looked_at(text_of(steps(0, 900), "error: it broke", steps(900, 905)), exit_code=exit_code)
    assert 0.95 * B <= rendered_chars(looked, selected(looked)) <= B


def test_spending_stops_at_98_percent():
    looked = looked_at(text_of(steps(0, 900, "ok")), exit_code=0)
    flat = looked._replace(weighed=looked.weighed._replace(smoothed=[1.0] * 900))
    assert 0.975 * B < rendered_chars(flat, selected(flat)) < 0.98 * B + 12


def test_an_output_that_fits_is_kept_whole():
    looked = looked_at(text_of(steps(0, 100)), exit_code=0)
    assert selected(looked).lines == list(range(100))


# --- the end ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exit_code", [0, 1, None])
def test_case_5_the_last_thousand_characters_are_always_there(exit_code):
    """case 5"""
    looked = looked_at(text_of(steps(0, 900), "error: early", steps(900, 2_000)), exit_code=exit_code)
    found = selected(looked)
    end = kept_by(found, "end")
    assert end == list(range(end[0], 2_001))
    assert 1_000 <= spent_on(looked, end) < 1_040


def test_tail_chars_says_how_much_of_the_end_is_kept_but_never_over_half_of_the_budget():
    looked = looked_at(text_of(steps(0, 900)), exit_code=0)
    config = CONFIG._replace(tail_chars=200)
    assert len(kept_by(selected(looked, config=config), "end")) == 7
    assert len(kept_by(selected(looked, config=CONFIG._replace(tail_chars=9_000)), "end")) == 3_000 // 32
    assert kept_by(selected(looked, config=CONFIG._replace(tail_chars=0)), "end") == []


def test_a_last_line_over_half_of_the_budget_is_not_taken_as_the_end():
    looked = looked_at(text_of(steps(0, 900), "x " * 700), exit_code=0)
    assert kept_by(selected(looked, 2_000), "end") == []
    assert kept_by(selected(looked, 4_000), "end") == [900]


def test_the_reserved_end_is_told_as_a_range_of_lines():
    looked = looked_at(text_of(steps(0, 900)), exit_code=0)
    end = reserved_end(looked.view, CONFIG, B)
    assert list(end) == kept_by(selected(looked), "end")
    assert end.stop == 900


# --- the anchored run -------------------------------------------------------------------------------------


def failing(*after, before: int = 900) -> Looked:
    return looked_at(text_of(steps(0, before), "fatal: it broke", *after), exit_code=1)


def test_a_failure_is_shown_with_the_lines_right_before_it_and_three_after():
    found = selected(failing(steps(900, 1_800)))
    run = kept_by(found, "run")
    assert run == list(range(run[0], 904))
    assert 0.98 * 4_500 <= spent_on(failing(steps(900, 1_800)), run) <= 4_500


def test_run_share_and_run_after_size_the_run():
    looked = failing(steps(900, 1_800))
    run = kept_by(selected(looked, config=CONFIG._replace(run_share=0.25, run_after=7)), "run")
    assert run[-1] == 907 and 0.97 * 1_500 <= spent_on(looked, run) <= 1_500


def test_lines_that_only_pass_on_an_exit_code_are_no_anchor():
    looked = failing(steps(900, 1_800), "make: *** [all] Error 2", steps(1_800, 1_900))
    assert max(kept_by(selected(looked), "run")) == 903
    looked = failing(steps(900, 1_800), "error: a second one", steps(1_800, 1_900))
    assert max(kept_by(selected(looked), "run")) == 1_804


def test_without_a_failure_line_the_run_ends_at_the_last_line():
    looked = looked_at(text_of(steps(0, 2_000)), exit_code=1)
    found = selected(looked)
    both = kept_by(found, "run", "end")
    assert both == list(range(both[0], 2_000))
    # What the end holds of the run counts for the run's share.
    assert 0.98 * 4_500 <= spent_on(looked, both) <= 4_500


def test_in_spread_mode_there_is_no_run():
    looked = looked_at(text_of(steps(0, 900), "fatal: it broke", steps(900, 1_800)), exit_code=0)
    assert kept_by(selected(looked), "run") == []


def test_a_stretch_of_lines_that_stand_in_the_run_already_is_left_out_of_it():
    frames = ["  at f (a.js:1)", "  at g (b.js:2)"] * 200
    looked = looked_at(
        text_of(steps(0, 900), "TypeError: cause", frames, "fatal: it broke", steps(900, 950)), exit_code=1
    )
    run = kept_by(selected(looked), "run")
    texts = [looked.view.texts[line] for line in run]
    assert texts.count("  at f (a.js:1)") == texts.count("  at g (b.js:2)") == 1
    assert "TypeError: cause" in texts and "step 899 of the build went well" in texts
    assert 0.95 * 4_500 <= spent_on(looked, run) + 48 <= 4_500


def test_the_end_counts_for_a_run_though_a_stretch_before_it_is_left_out():
    same = "the same line again and again"
    looked = looked_at(text_of(steps(0, 900), [same] * 40, same, steps(900, 930)), exit_code=1)
    found = selected(looked)
    both = kept_by(found, "run", "end")
    assert 899 in both and 905 not in both and 940 in both
    assert 0.97 * 4_500 <= spent_on(looked, both) + 48 <= 4_500


def test_noise_is_left_out_of_a_run():
    downloads = [f"Downloading part{k}-1.2.3-py3-none-any.whl (16 kB)" for k in range(60)]
    looked = looked_at(
        text_of("Collecting parts", steps(0, 300), downloads, "ERROR: Could not install", steps(300, 350)),
        exit_code=1,
    )
    texts = {looked.view.texts[line] for line in kept_by(selected(looked), "run")}
    assert not texts & set(downloads) and "step 299 of the build went well" in texts


def test_a_few_lines_that_stand_in_the_run_already_stay_and_are_paid():
    lines = []
    for k in range(300):
        lines += [f"step {k} of the build went well", "", "--"]
    looked = looked_at(text_of(lines, "fatal: it broke", steps(300, 350)), exit_code=1)
    run = kept_by(selected(looked), "run")
    assert run == list(range(run[0], run[-1] + 1))
    assert 0.98 * 4_500 <= spent_on(looked, run) <= 4_500


def test_a_run_ends_where_a_line_does_not_fit_any_more():
    lines = [*steps(0, 900), "x " * 950, *steps(900, 1_015), "fatal: it broke", *steps(1_015, 1_100)]
    config = CONFIG._replace(run_share=1.0)
    looked = looked_at(text_of(lines), exit_code=1)
    run = kept_by(selected(looked, config=config), "run")
    assert min(run) == 901 and spent_on(looked, [*run, 900]) < B


def test_a_run_among_indented_lines_goes_on_to_the_line_they_stand_under():
    trace = [f"    at frame{k} in a file of some length" for k in range(60)]
    looked = looked_at(text_of(steps(0, 900), "Caused by: it broke", trace, steps(900, 903)), exit_code=1)
    config = CONFIG._replace(run_share=0.3)
    assert "Caused by: it broke" in {
        looked.view.texts[k] for k in kept_by(selected(looked, config=config), "run")
    }


def test_a_failure_line_is_kept_before_the_long_lines_that_follow_it():
    after = [letter * 1_400 for letter in "abc"]
    looked = looked_at(text_of(steps(0, 900), "error: " + "y " * 940, *after, "done"), exit_code=1)
    assert 900 in selected(looked).lines


# --- guards and shares ------------------------------------------------------------------------------------


def test_what_the_run_leaves_of_its_share_goes_to_the_other_lines():
    looked = looked_at(text_of("fatal: it broke", steps(0, 2_000)), exit_code=1)
    found = selected(looked)
    assert max(kept_by(found, "run")) == 3
    assert rendered_chars(looked, found) >= 0.95 * B


def pytest_run(name: str, failed: int) -> list[str]:
    return [
        "============================= test session starts ==============================",
        *(f"tests/{name}/test_{k:03}.py::test_with_a_name PASSED" for k in range(80)),
        *(f"FAILED tests/{name}/test_x{k}.py::test_y - assert 1 == 2" for k in range(failed)),
        f"========================= {failed} failed, 80 passed in 0.31s =========================",
    ]


def test_case_4_every_stage_of_a_composite_output_keeps_its_summary():
    """case 4"""
    cargo = [
        *(f"test name::{k} ... ok" for k in range(90)),
        "test result: ok. 90 passed; 0 failed; 0 ignored",
    ]
    looked = looked_at(
        text_of(pytest_run("one", 2), steps(0, 200), ["running 90 tests", *cargo], steps(200, 400)),
        exit_code=2,
    )
    assert looked.weighed.report.composite
    texts = [looked.view.texts[line] for line in selected(looked).lines]
    assert any("2 failed, 80 passed" in text for text in texts)
    assert any(text.startswith("test result: ok. 90 passed") for text in texts)


def test_in_a_composite_output_the_run_takes_at_most_half():
    parts = [
        pytest_run("one", 2),
        steps(0, 200),
        ["running 1 test", "test a ... FAILED", "test result: FAILED. 0 passed"],
    ]
    looked = looked_at(text_of(*parts, steps(200, 400), "fatal: stop", steps(400, 700)), exit_code=2)
    assert looked.weighed.report.composite
    found = selected(looked)
    assert 0.4 * B < spent_on(looked, kept_by(found, "run")) <= 0.5 * B


@pytest.mark.parametrize("mode", ["spread", "failure"])
@pytest.mark.parametrize("share", [0.02, 0.15, 0.35])
def test_guarded_lines_take_no_more_than_their_share_of_the_mode(mode, share):
    words = ["alpha", "beta", "gamma", "delta", "kappa", "sigma", "omega", "zeta"]
    errors = [f"error {a} {b} {c}" for a in words for b in words for c in words]
    looked = looked_at(text_of(errors, steps(0, 900), "fatal: stop"), exit_code=int(mode == "failure"))
    config = CONFIG._replace(guard_share_spread=0.0, guard_share_failure=0.0, run_share=0.2)
    config = config._replace(**{f"guard_share_{mode}": share})
    spent = spent_on(looked, kept_by(selected(looked, config=config), "failure"))
    assert 0.2 * share * B < spent <= share * B


# --- weights ----------------------------------------------------------------------------------------------


def test_case_8_one_changed_setting_among_3000_access_lines_is_kept():
    """case 8"""
    lines = [f'10.0.0.{k % 250} - - "GET /item/{k} HTTP/1.1" 200 {k % 900}' for k in range(3_000)]
    lines[1_234] = "config reloaded: max_connections 100 -> 5"
    looked = looked_at(text_of(lines), exit_code=0, task="why do users wait so long")
    assert looked.weighed.mode == "spread"
    assert 1_234 in selected(looked).lines


def test_case_6_four_hundred_early_warnings_do_not_crowd_out_the_late_error():
    """case 6"""
    warnings = [f"warning: deprecated call in file {k}" for k in range(400)]
    lines = [*warnings, *steps(0, 800), "ld: symbol lost: error", *steps(800, 1_200)]
    for exit_code in (0, 1):
        assert 1_200 in selected(looked_at(text_of(lines), exit_code=exit_code)).lines


def test_no_shape_takes_over_a_tenth_of_the_budget_before_each_eighth_of_the_log_had_its_best_line():
    # The warnings weigh more than everything else; without the rule they would take all that is left.
    lines = [f"warning: old call in file {k}" for k in range(400)]
    lines += [f"entry {k} ended" for k in range(2_800)]
    config = CONFIG._replace(guard_share_spread=0.0, weights_spread=(0.0, 1.0, 0.0))
    looked = looked_at(text_of(lines), exit_code=0, config=config)
    found = selected(looked, config=config)
    weighed = kept_by(found, "weight")
    assert {line * 8 // len(lines) for line in weighed} == set(range(8))
    # Then the heavier ones take the rest.
    early = [line for line in weighed if line < 400]
    assert spent_on(looked, early) > 2 * spent_on(looked, [line for line in weighed if line >= 400])


def test_equal_weights_are_taken_from_the_first_line_on():
    looked = looked_at(text_of([f"word{'abcdefghij'[k % 10]} " * 3 for k in range(900)]), exit_code=0)
    flat = looked._replace(weighed=looked.weighed._replace(smoothed=[1.0] * 900))
    taken = kept_by(selected(flat), "weight")
    first = [line for line in taken if line < 112]
    assert first == list(range(len(first))) and len(first) > 50


def test_a_line_that_does_not_fit_is_passed_over_and_named_and_never_cut():
    long = [f"alpha {letter * 1_900}" for letter in "abcd"]
    looked = looked_at(text_of(steps(0, 400), long, steps(400, 800)), exit_code=0, task="alpha")
    found = selected(looked)
    kept = {line for line in found.lines if 400 <= line < 404}
    assert len(kept) == 2
    assert set(found.passed_over[:2]) == {400, 401, 402, 403} - kept


def guards_only(lines: list[str]) -> Selection:
    """Failure lines without their neighbours, and the end."""
    looked = looked_at(text_of(lines, steps(0, 400)), exit_code=0)
    config = CONFIG._replace(guard_context=0)
    return selected(looked, config=config, judged=judged(len(looked.view.texts)))


def test_a_gap_of_one_line_shorter_than_its_marker_is_filled_with_the_line_itself_the_first_line_too():
    found = guards_only(["", "fatal: one", *steps(0, 400), "fatal: two", "x" * 47, "fatal: three is here"])
    assert kept_by(found, "fill") == [0, 403]


def test_a_gap_of_one_line_longer_than_its_marker_stays():
    found = guards_only(["fatal: one", "x" * 48, "fatal: two of them"])
    assert {0, 2} <= set(found.lines) and 1 not in found.lines


# --- blocks -----------------------------------------------------------------------------------------------


def rustc(k: int, lines: int) -> list[str]:
    body = [f'{n} | let x_{n}: u32 = make_{n}("text number {n}");' for n in range(lines)]
    return [
        f"error[E0308]: mismatched types {k}",
        f"  --> src/file{k}.rs:{k}:9",
        "   |",
        *body,
        "   = note: help",
        "",
    ]


def hunk(k: int, lines: int) -> list[str]:
    return [f"@@ -{k},{lines} +{k},{lines} @@", *(f"+added line {k} {n} with words" for n in range(lines))]


DIFF = ["diff --git a/x.py b/x.py", "index 1..2 100644", "--- a/x.py", "+++ b/x.py"]


def test_case_24_a_hunk_of_a_diff_is_kept_whole_or_not_at_all():
    """case 24"""
    hunks = [hunk(k * 100, 5 + 7 * (k % 5)) for k in range(1, 30)]
    looked = looked_at(text_of(DIFF, *hunks), exit_code=0)
    found = selected(looked)
    end = set(kept_by(found, "end"))
    whole = 0
    for block in looked.weighed.report.blocks:
        lines = set(range(block.first, block.last + 1))
        if block.whole and not lines & end:
            assert lines <= set(found.lines) or not lines & set(found.lines)
            whole += lines <= set(found.lines)
    assert whole > 3


def blocks_of(looked: Looked) -> list[range]:
    return [range(block.first, block.last + 1) for block in looked.weighed.report.blocks]


def test_a_block_that_fits_a_quarter_of_the_budget_is_taken_whole():
    parts = steps(0, 400), rustc(1, 12), steps(400, 900)
    looked = looked_at(text_of(*parts), exit_code=0, task="mismatched types")
    [block] = blocks_of(looked)
    assert set(block) <= set(selected(looked).lines)


def test_of_a_block_over_a_quarter_of_the_budget_the_best_lines_are_taken():
    parts = steps(0, 400), rustc(1, 12), steps(400, 900)
    looked = looked_at(text_of(*parts), exit_code=0, task="mismatched types")
    [block] = blocks_of(looked)
    kept = set(selected(looked, 1_200).lines) & set(block)
    assert spent_on(looked, list(block)) > 500 and 1 < len(kept) < len(block)


def test_a_whole_block_over_what_is_left_of_the_budget_is_not_taken_at_all():
    looked = looked_at(text_of(DIFF, hunk(1, 400), hunk(900, 9), hunk(2_000, 60)), exit_code=0)
    long, short, _ = blocks_of(looked)
    found = set(selected(looked).lines)
    assert not set(long) & found and set(short) <= found


# --- a judge's verdicts -----------------------------------------------------------------------------------


def judged(n: int, *qualifying: range, whole_only: bool = False) -> Judged:
    """A judge that gives 3 to these passages, the best first, and 0 to everything else."""
    factors = [0.0] * n
    for passage in qualifying:
        factors[passage.start : passage.stop] = [4.0] * len(passage)
    return Judged(factors, qualifying, whole_only)


def test_where_all_that_qualifies_fits_it_is_kept_whole_and_nothing_else_is_filled_in():
    looked = looked_at(text_of(steps(0, 900)), exit_code=0)
    found = selected(looked, judged=judged(900, range(100, 120), range(300, 310)))
    assert kept_by(found, "judged") == [*range(100, 120), *range(300, 310)]
    assert set(kept_by(found, "weight")) == set()
    assert len(found.lines) == 30 + len(reserved_end(looked.view, CONFIG, B))


def test_where_it_does_not_fit_lines_of_many_passages_are_kept_and_none_of_the_others():
    looked = looked_at(text_of(steps(0, 2_000)), exit_code=0)
    passages = [range(k, k + 60) for k in range(0, 1_800, 100)]
    found = selected(looked, judged=judged(2_000, *passages))
    weighed = set(kept_by(found, "weight"))
    assert all(line % 100 < 60 for line in weighed)
    assert len({line // 100 for line in weighed}) >= 8
    assert rendered_chars(looked, found) >= 0.9 * B


def test_lines_of_passages_that_do_not_qualify_are_no_filling():
    long = [letter * 1_900 for letter in "abc"]
    looked = looked_at(text_of(steps(0, 300), long, steps(300, 600)), exit_code=0)
    found = selected(looked, judged=judged(603, range(300, 303)))
    assert len(kept_by(found, "weight")) == 2 and set(kept_by(found, "weight")) <= {300, 301, 302}


def test_lines_of_one_shape_fill_the_budget_where_nothing_else_qualifies():
    looked = looked_at(text_of(steps(0, 2_000)), exit_code=0)
    found = selected(looked, judged=judged(2_000, range(400)))
    assert rendered_chars(looked, found) >= 0.9 * B


def test_whole_passages_only_are_taken_the_best_first_and_one_that_does_not_fit_is_skipped():
    looked = looked_at(text_of(steps(0, 2_000)), exit_code=0)
    passages = [range(500, 600), range(100, 180), range(900, 920)]
    found = selected(looked, judged=judged(2_000, *passages, whole_only=True))
    assert kept_by(found, "judged") == [*range(500, 600), *range(900, 920)]
    assert set(kept_by(found, "judged", "end")) == set(found.lines)


def test_a_judge_shrinks_the_run_to_two_fifths_and_whole_passages_end_it():
    looked = failing(steps(900, 1_800))
    n = len(looked.view.texts)
    run = kept_by(selected(looked, judged=judged(n, range(500))), "run")
    assert 0.37 * B < 31 * len(run) <= 0.40 * B
    assert kept_by(selected(looked, judged=judged(n, range(9), whole_only=True)), "run") == []
    config = CONFIG._replace(run_share=0.2)
    assert 31 * len(kept_by(selected(looked, config=config, judged=judged(n, range(500))), "run")) <= 0.2 * B


def test_case_9_a_failure_line_that_a_judge_scores_0_stays():
    """case 9"""
    lines = [*steps(0, 400), "E: assertion failed: 3 != 4", *steps(400, 900)]
    for exit_code in (0, 1):
        found = selected(looked_at(text_of(lines), exit_code=exit_code), judged=judged(901, range(20)))
        assert 400 in found.lines
