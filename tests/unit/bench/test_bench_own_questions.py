"""Our own questions hold what their page says of them."""

import re
from collections import Counter

import pytest

from outputs_bench import own
from outputs_bench.generate.failures import FAILURES

DIAGNOSTIC = re.compile(
    "error|exception|fail|fatal|panic|traceback|assert|abort|unresolved|killed|oom|denied|mismatch|invalid|"
    "unexpected|expected|conflict|corrupt|refused|rejected|warn|deprecat|timeout|retry|missing|skipp|unsupported|"
    "undefined reference|exit code|could not|cannot|not found|no such|timed out|slow|leak"
)
COMMON = frozenset(
    re.findall(
        r"\w+",
        "a an and are be by did do does for from has have in is it of on or our the this to was we with",
    )
)


@pytest.fixture(scope="module")
def cases():
    return {case.id: case for which in ("dev", "test") for case in own.load(which)}


@pytest.fixture(scope="module")
def rows():
    return {f"{row['kind']}/{row['index']}": row for row in own.load_rows()}


def test_the_halves_are_equal_and_hold_every_kind(cases):
    halves = Counter(own.half(int(name.rpartition("/")[2])) for name in cases)
    assert halves["dev"] == halves["test"] == 60
    assert {name.rpartition("/")[0] for name in cases} == set(own.KINDS)


def test_every_answer_stands_exactly_once_in_its_output(cases):
    assert [
        name for name, case in cases.items() for needle in case.wanted if case.text.count(needle) != 1
    ] == []


def test_no_line_with_an_answer_holds_a_diagnostic_word(cases):
    for name, case in cases.items():
        for line in case.text.split("\n"):
            if any(needle in line for needle in case.wanted):
                assert not DIAGNOSTIC.search(line.lower()), name


def test_no_task_quotes_its_answer(cases):
    assert [
        name for name, case in cases.items() for needle in case.wanted if needle.lower() in case.task.lower()
    ] == []


def test_a_question_marked_rare_shares_no_word_with_the_line_that_answers_it(cases, rows):
    for name, row in rows.items():
        if row["link"] != "rare":
            continue
        asked = set(re.findall(r"[a-z0-9]+", row["task"].lower())) - COMMON
        for line in cases[name].text.split("\n"):
            if any(needle in line for needle in row["needles"]):
                assert not asked & set(re.findall(r"[a-z0-9]+", line.lower())), name


def test_outputs_are_between_12_and_210_thousand_characters_and_the_same_each_time(cases):
    assert all(12_000 <= len(case.text) <= 210_000 for case in cases.values())
    assert own.load("dev")[0].text == cases["commit-log/0"].text


def test_a_quarter_of_the_questions_in_each_half_has_only_rarity_to_go_by(rows):
    links = Counter((own.half(row["index"]), row["link"]) for row in rows.values())
    for half in ("dev", "test"):
        assert links[half, "rare"] >= 15
        assert links[half, "identifier"] >= 12
        assert links[half, "words"] >= 20


def test_the_failures_carry_their_labelled_lines_and_an_exit_code():
    cases = own.load_failures()
    assert len(cases) == len(FAILURES) >= 12
    for case in cases:
        lines = case.text.split("\n")
        assert tuple(lines[index].rstrip() for index in case.at) == case.wanted
        assert case.exit_code and len(case.text) > 12_000 and "\x00" not in case.text
