from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.outputs.model import OutputConfig, Task
from admit.outputs.weigh import FAILURE, KERNEL, SPREAD, smooth

from .cases import looked_at

FILLER = [f"nothing of note stands in entry {k}" for k in range(100)]
ONLY_DIAGNOSTICS = OutputConfig(weights_spread=(0, 1, 0), weights_failure=(0, 1, 0))


def weighed(lines, *, exit_code=0, task="", config=ONLY_DIAGNOSTICS):
    return looked_at("\n".join(lines) + "\n", exit_code=exit_code, task=Task(task), config=config).weighed


@pytest.mark.parametrize("exit_code", [1, 2, 137, -9])
def test_an_exit_code_other_than_0_asks_for_the_failure(exit_code):
    assert weighed(FILLER, exit_code=exit_code).mode == FAILURE


@pytest.mark.parametrize(
    "task",
    ["the tests fail", "what failed?", "explain the error", "the build is broken", "it crashes",
     "a traceback", "find the regression"],
)  # fmt: skip
def test_a_failure_word_in_the_task_asks_for_the_failure_whatever_the_exit_code(task):
    lines = ["fatal: it broke", *FILLER]
    assert weighed(lines, task=task).mode == weighed(lines, task=task, exit_code=None).mode == FAILURE


@pytest.mark.parametrize(
    "task", ["why is it slow", "fix the layout", "which port is used", "run with fail-fast"]
)
def test_why_and_fix_alone_do_not(task):
    assert weighed(FILLER, task=task).mode == weighed(FILLER, task=task, exit_code=None).mode == SPREAD


def test_with_neither_exit_code_nor_task_a_strong_line_in_the_last_2000_characters_asks_for_the_failure():
    tail = ["x" * 99] * 19
    assert weighed([*FILLER, "fatal: it broke", *tail], exit_code=None).mode == FAILURE
    assert weighed([*FILLER, "fatal: it broke", *tail, "x" * 99], exit_code=None).mode == SPREAD
    assert weighed([*FILLER, "fatal: it broke"], exit_code=None, task="which port").mode == SPREAD
    assert weighed([*FILLER, "fatal: it broke"], exit_code=0).mode == SPREAD
    assert weighed([*FILLER, "warning: slow"], exit_code=None).mode == SPREAD


@pytest.mark.parametrize(
    "line",
    [
        "TypeError: x is not a function",
        "3 errors found",
        "thread 'main' panicked at src/main.rs:1:1",
        "not ok 3 - adds numbers",
        "✖ 2 problems",
        "main.c: undefined reference to `f'",
        "api-7d  0/1  CrashLoopBackOff  5",
        "npm ERR! code E404",
    ],
)
def test_case_7_lines_that_report_trouble_in_many_ways_are_failure_lines(line):
    """case 7"""
    found = weighed([*FILLER, line, *FILLER])
    assert found.failing == [100]
    assert found.weights[100] >= 1.0


@pytest.mark.parametrize(
    "line", ["0 errors", "no warnings", "failures: 0", "gcc -Werror x.c", "see errors.py"]
)
def test_what_only_looks_like_trouble_weighs_nothing(line):
    found = weighed([*FILLER, line])
    assert found.failing == [] and found.weights[100] == 0


def test_a_weak_line_weighs_less_and_is_no_failure_line():
    found = weighed([*FILLER, "warning: this is old"])
    assert found.failing == [] and found.weights[100] == 0.4


def test_the_weight_of_trouble_is_divided_by_the_root_of_how_often_its_shape_stands():
    found = weighed([*FILLER, *(f"error in part {k}" for k in range(16))])
    assert found.weights[-1] == pytest.approx(1 / sqrt(16))


PYTEST = [
    "============================= test session starts ==============================",
    *(f"tests/test_{name}.py ....." for name in ("one", "two", "three")),
    "=================================== FAILURES ===================================",
    "____________________________________ test_a ____________________________________",
    ">       assert f(1) == 2",
    "E       assert 1 == 2",
    "=========================== short test summary info ============================",
    "FAILED tests/test_one.py::test_a - assert 1 == 2",
    "========================= 1 failed, 14 passed in 0.31s =========================",
]


def test_what_a_parser_says_of_a_line_replaces_what_its_words_say():
    found = weighed(PYTEST)
    by_kind = {mark.kind: found.weights[mark.line] for mark in found.report.marks if mark.line > 4}
    assert by_kind == {"structure": 0.3, "detail": 0.8, "failure": 1.5, "summary": 1.2}
    assert found.parsers == ("pytest",) and found.marked == {7, 9}


def test_a_line_that_a_parser_calls_noise_weighs_nothing_and_is_no_failure_line():
    downloads = [f"Downloading exceptiongroup-1.2.{k}-py3-none-any.whl (16 kB)" for k in range(9)]
    lines = [
        "Collecting exceptiongroup",
        *FILLER,
        *downloads,
        *FILLER,
        "Successfully installed exceptiongroup",
    ]
    found = weighed(lines, config=OutputConfig())
    noise = [mark.line for mark in found.report.marks if mark.kind == "noise"]
    assert len(noise) >= 9
    assert not any(found.weights[line] for line in noise)
    assert not set(noise) & set(found.failing)


SOURCE = [
    line
    for k in range(40)
    for line in (
        f"def part_{k}(value):",
        "    if not value:",
        '        raise ValueError("cannot be empty")',
        "",
    )
]


def test_words_of_trouble_in_source_code_report_none_unless_a_parser_found_a_failure_beside_it():
    quiet = weighed(["import errors", *SOURCE])
    assert any(region.quiet for region in quiet.report.regions)
    assert quiet.failing == [] and max(quiet.weights[1:]) < 0.1
    loud = weighed(["import errors", *SOURCE, *PYTEST])
    assert len(loud.failing) > 40


def test_each_source_counts_with_its_own_weight_of_the_mode():
    lines = [*FILLER, "error: the pool is full"]
    parts = {}
    for name, weights in {"task": (1, 0, 0), "words": (0, 1, 0), "rare": (0, 0, 1), "all": (2, 3, 4)}.items():
        config = OutputConfig(weights_spread=weights, weights_failure=(0, 0, 0))
        parts[name] = weighed(lines, task="the pool", config=config).weights[100]
    assert min(parts.values()) > 0
    assert parts["all"] == pytest.approx(2 * parts["task"] + 3 * parts["words"] + 4 * parts["rare"])
    config = OutputConfig(weights_spread=(0, 0, 0), weights_failure=(0, 1, 0))
    assert not any(weighed(lines, config=config).weights)
    assert any(weighed(lines, config=config, exit_code=1).weights)


def test_in_failure_mode_a_line_weighs_up_to_four_times_as_much_towards_the_end():
    lines = ["fatal one", *FILLER[:49], "fatal two", *FILLER[:48], "fatal three"]
    found = weighed(lines, exit_code=1).weights
    assert found[0] == 1
    assert found[50] == pytest.approx(1 + 3 * 0.5**2)
    assert found[99] == pytest.approx(1 + 3 * 0.99**2)
    assert weighed(lines).weights[99] == 1


def test_the_users_own_words_count_beside_the_built_in_ones():
    config = ONLY_DIAGNOSTICS._replace(
        words_strong=("kaputt",), words_weak=("hmm",), words_negated=("expected trouble",)
    )
    lines = [*FILLER, "alles KAPUTT", "hmm, well", "expected trouble", "fatal"]
    found = weighed(lines, config=config)
    assert found.weights[100:] == [1, 0.4, 0, 1]
    assert found.failing == [100, 103]
    assert weighed(lines).failing == [102, 103]


def test_a_line_gives_of_its_weight_to_its_four_neighbours_on_each_side():
    assert smooth([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]) == [
        0, 0.15, 0.25, 0.4, 0.6, 1, 0.6, 0.4, 0.25, 0.15, 0,
    ]  # fmt: skip
    assert smooth([2, 0, 0]) == [2, 1.2, 0.8]
    assert smooth([]) == []


@given(st.lists(st.floats(0, 10), max_size=30))
def test_smoothing_adds_up_the_shares_of_all_lines_near(weights):
    found = smooth(weights)
    for i, value in enumerate(found):
        near = sum(KERNEL[abs(i - j)] * w for j, w in enumerate(weights) if abs(i - j) < len(KERNEL))
        assert value == pytest.approx(near)


def test_the_smoothed_weights_are_those_of_the_lines():
    found = weighed([*FILLER, "error: full", *FILLER], config=OutputConfig())
    assert found.smoothed == smooth(found.weights)


def test_an_output_without_lines_is_weighed_too():
    found = looked_at("").weighed
    assert found.weights == found.smoothed == found.failing == []


def test_case_16_carriage_returns_at_line_ends_change_nothing():
    """case 16"""
    lines = [*FILLER, *PYTEST, "error: the pool is full", *FILLER]
    for exit_code, task in ((0, "the pool"), (1, ""), (None, "")):
        config = OutputConfig()
        lf = weighed(lines, exit_code=exit_code, task=task, config=config)
        crlf = weighed([line + "\r" for line in lines], exit_code=exit_code, task=task, config=config)
        assert crlf[:5] == lf[:5] and crlf.shapes == lf.shapes and crlf.report == lf.report
