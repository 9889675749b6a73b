"""Source code is known by its declarations, and what it says of errors is no report of one."""

from __future__ import annotations

from pathlib import Path

import admit.core.admission
from admit.outputs.model import OutputConfig, RawOutput, Task
from admit.outputs.parsers import parse_all, source
from admit.outputs.taskwords import task_words
from admit.outputs.view import Span, build
from admit.outputs.weigh import weigh

PROGRAM = Path(admit.core.admission.__file__).read_text()
GO = 'package main\n\nimport (\n\t"errors"\n)\n\n' + "".join(
    f'func step{n}(x int) error {{\n\tif x < {n} {{\n\t\treturn errors.New("failed")\n\t}}\n}}\n\n'
    for n in range(8)
)


def weighed(text: str, exit_code: int | None = 0, task: str = ""):
    data = text.encode()
    view = build(data, [Span(0, len(data), 1)], long_line=2000)
    asked = Task(task)
    return view, weigh(view, RawOutput(data, exit_code), asked, task_words(asked), OutputConfig())


def test_every_function_of_a_program_is_structure():
    lines = PROGRAM.split("\n")
    report = parse_all(lines, PROGRAM)
    declared = {i for i, line in enumerate(lines) if line.startswith("def ")}
    assert declared <= {mark.line for mark in report.marks if mark.rule == "source.declaration"}
    assert not report.parsed


def test_line_numbers_before_the_code_do_not_hide_it():
    numbered = [f"{i:6}\t{line}" for i, line in enumerate(PROGRAM.split("\n"), 1)]
    plain = source.parse(PROGRAM.split("\n"), PROGRAM)
    counted = source.parse(numbered, "\n".join(numbered))
    assert plain is not None and counted is not None
    assert counted.marks == plain.marks


def test_words_of_failure_in_a_program_are_no_failure_lines():
    for text in (PROGRAM, GO):
        _, looked = weighed(text, task="why does it fail with an error")
        region = next(region for region in looked.report.regions if region.name == "source")
        assert not [line for line in looked.failing if region.first <= line <= region.last]


def test_a_task_that_speaks_of_a_failure_asks_for_a_place_in_a_program():
    _, looked = weighed(PROGRAM + "\n", task="fix the error in rule")
    assert looked.mode == "spread"


def test_words_count_again_when_another_parser_found_a_failure():
    text = GO + "--- FAIL: TestStep (0.00s)\n    main_test.go:9: step failed\nFAIL\nFAIL\texample\t0.1s\n"
    view, looked = weighed(text, exit_code=1)
    assert looked.report.parsed
    assert any('errors.New("failed")' in view.texts[line] for line in looked.failing)


def test_a_log_that_mentions_a_function_now_and_then_is_no_program():
    log = "".join(
        f"2031-04-11 10:00:{i % 60:02} served def handler{i}(request) in {i} ms\n" for i in range(200)
    )
    assert source.parse(log.split("\n"), log) is None
    prose = (
        "The build went well.\n" * 50 + "".join(f"def f{i}():\n" for i in range(6)) + "All was said.\n" * 50
    )
    mixed = "def a():\nWe then saw it. It was late!\nNothing else happened, and nobody came.\n" * 10
    assert source.parse(mixed.split("\n"), mixed) is None
    assert source.parse(prose.split("\n"), prose) is not None


def test_a_line_of_a_megabyte_is_not_searched():
    text = "def f():\n" * 5 + "x" * 1_000_000 + "\n" + "def g():\n" * 5
    parsed = source.parse(text.split("\n"), text)
    assert parsed is not None and sum(mark.rule == "source.declaration" for mark in parsed.marks) == 10
