"""What all parsers keep to, and how their answers are put together."""

import itertools
import random
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admit.outputs.model import Block, Mark, Parsed
from admit.outputs.parsers import PARSERS, merge, parse_all
from admit.outputs.parsers.sheet import RANK, Sheet, disjoint

INPUTS = sorted((Path(__file__).parent / "inputs").glob("*.txt"))
REAL_LINES = sorted({line for path in INPUTS for line in path.read_text().split("\n")})


def parser(name="fake", answer=None, hints=()):
    """A parser that gives a prepared answer."""

    def parse(lines, text):
        if isinstance(answer, Exception):
            raise answer
        return answer

    return SimpleNamespace(NAME=name, HINTS=hints, parse=parse)


def parsed(name, *marks, blocks=(), note=""):
    return Parsed(name, tuple(Mark(line, kind, f"{name}.x") for line, kind in marks), blocks, note)


def kinds(report):
    return [(mark.line, mark.kind) for mark in report.marks]


# Merging


def test_the_strongest_mark_of_a_line_wins():
    order = ["failure", "summary", "detail", "structure", "noise"]
    for strong, weak in itertools.combinations(order, 2):
        report = merge([parsed("a", (3, weak)), parsed("b", (3, strong))], 10)
        assert kinds(report) == [(3, strong)]


def test_between_equal_kinds_the_first_rule_by_name_is_named():
    report = merge([parsed("b", (0, "failure")), parsed("a", (0, "failure"))], 10)
    assert [mark.rule for mark in report.marks] == ["a.x"]


def test_a_region_runs_from_a_parsers_first_to_its_last_mark():
    report = merge([parsed("b", (2, "failure"), (7, "summary")), parsed("a", (0, "detail"))], 10)
    assert [tuple(region)[:4] for region in report.regions] == [("a", 0, 0, False), ("b", 2, 7, True)]


def test_an_output_is_parsed_by_a_failure_or_a_summary_and_nothing_less():
    assert merge([parsed("a", (0, "failure"))], 10).parsed
    assert merge([parsed("a", (0, "summary"))], 10).parsed
    assert not merge([parsed("a", (0, "structure"), (1, "detail"), (2, "noise"))], 10).parsed
    assert not merge([], 10).parsed


def test_a_parser_that_calls_most_lines_a_failure_singles_out_none():
    many = parsed("a", *[(i, "failure") for i in range(7)], (9, "summary"))
    report = merge([many, parsed("b", (0, "failure"))], 10)
    assert kinds(report) == [(0, "failure"), *[(i, "detail") for i in range(1, 7)], (9, "summary")]
    assert report.parsed
    assert kinds(merge([parsed("a", *[(i, "failure") for i in range(6)])], 10))[0] == (0, "failure")


def test_two_stages_one_after_the_other_are_composite_and_one_inside_the_other_is_not():
    first = parsed("a", (0, "failure"), (3, "summary"))
    assert merge([first, parsed("b", (4, "summary"))], 10).composite
    assert not merge([first, parsed("b", (2, "summary"), (6, "failure"))], 10).composite
    assert not merge([first, parsed("b", (5, "failure"))], 10).composite


def test_notes_come_by_parser_name():
    report = merge([parsed("b", (0, "detail"), note="second"), parsed("a", (0, "detail"), note="first")], 3)
    assert report.notes == ("first", "second")


def test_whole_blocks_win_over_others_and_none_overlap():
    blocks = [Block(0, 9), Block(2, 4, True), Block(3, 6, True), Block(5, 8), Block(7, 8)]
    assert disjoint(blocks) == (Block(2, 4, True), Block(5, 8))


@given(
    st.lists(
        st.builds(
            lambda a, b, whole: Block(min(a, b), max(a, b), whole), *[st.integers(0, 30)] * 2, st.booleans()
        )
    )
)
def test_blocks_never_overlap_and_every_block_left_out_met_another(blocks):
    kept = disjoint(blocks)
    assert all(a.last < b.first for a, b in itertools.pairwise(kept))
    for block in blocks:
        assert any(block.first <= other.last and other.first <= block.last for other in kept)


def test_a_line_may_carry_several_kinds_and_keeps_the_first_rule_of_each():
    sheet = Sheet("a")
    for kind, rule in (("summary", "one"), ("failure", "two"), ("summary", "three")):
        sheet.mark(4, kind, rule)
    answer = sheet.parsed()
    assert answer is not None
    assert [(mark.kind, mark.rule) for mark in answer.marks] == [("failure", "a.two"), ("summary", "a.one")]
    assert Sheet("a").parsed() is None


# Asking


def test_a_parser_that_throws_is_named_and_costs_only_its_own_marks():
    good = parser("good", parsed("good", (0, "failure")))
    report = parse_all(["x"] * 3, "x\nx\nx", [parser("bad", ValueError("no")), good])
    assert report.faults == ("bad",)
    assert kinds(report) == [(0, "failure")]


def test_a_parser_is_asked_only_where_one_of_its_hints_stands():
    calls = []
    asked = SimpleNamespace(
        NAME="a", HINTS=(r"\n=== ", "× "), parse=lambda lines, text: calls.append(text) or None
    )
    for text in ("=== at the start", "one\n=== later", "sign × here", "not === at a start", "= = ="):
        parse_all(text.split("\n"), text, [asked])
    assert calls == ["=== at the start", "one\n=== later", "sign × here"]


def test_plain_text_is_claimed_by_nobody():
    for text in (
        "",
        "\n\n\n",
        "Hello there.\nThis is prose, with nothing of a tool in it.\n\n- a list\n- of two\n",
    ):
        report = parse_all(text.split("\n"), text)
        assert report.marks == () and report.regions == () and not report.parsed


def test_an_access_log_is_claimed_by_nobody():
    lines = [
        f"10.0.0.{i % 250} - - [05/Mar/2024:10:11:{i % 60:02}] GET /v1/items/{i} 200 {i * 7}"
        for i in range(3000)
    ]
    lines[1700] = "pool_size 50 -> 5"
    assert parse_all(lines, "\n".join(lines)).marks == ()


# Properties of every parser

_ODD = (
    "", " ", "\r", "\t", "@@", "@@ -", "@@ -1,9999999999 +1 @@", "=", "===", "E", "_", "+ ", "$ ", "# ", "{",
    "[", "]", "commit ", "* commit " + "a" * 40, "\ud800", "make[", "[ERROR] ", "--> ", "a:1:1: error: ",
    "✖ ",
)  # fmt: skip
_LINE = (
    st.sampled_from(REAL_LINES)
    | st.sampled_from(_ODD)
    | st.text(st.characters(exclude_characters="\n"), max_size=30)
)
_LINES = st.lists(_LINE, max_size=40)


@settings(deadline=None)
@given(_LINES)
def test_any_text_gives_marks_in_range_and_in_order(lines):
    report = parse_all(lines, "\n".join(lines))
    assert report.faults == ()
    spots = [mark.line for mark in report.marks]
    assert spots == sorted(set(spots)) and all(0 <= spot < len(lines) for spot in spots)
    assert all(mark.kind in RANK for mark in report.marks)
    assert all(0 <= region.first <= region.last < len(lines) for region in report.regions)
    assert all(0 <= block.first <= block.last < len(lines) for block in report.blocks)
    assert all(a.last < b.first for a, b in itertools.pairwise(report.blocks))


@settings(deadline=None)
@given(_LINES, st.randoms(use_true_random=False))
def test_the_order_of_the_parsers_changes_nothing(lines, shuffler: random.Random):
    order = list(PARSERS)
    shuffler.shuffle(order)
    assert parse_all(lines, "\n".join(lines), order) == parse_all(lines, "\n".join(lines))


@settings(deadline=None)
@given(st.lists(st.sampled_from(INPUTS), max_size=4))
def test_outputs_one_after_the_other_never_break_a_parser(paths):
    lines = [line for path in paths for line in path.read_text().split("\n")]
    report = parse_all(lines, "\n".join(lines))
    assert report.faults == ()
    assert report.parsed == any(
        mark.kind in ("failure", "summary", "detail")
        and mark.rule.split(".")[0] not in ("git_log", "git_diff", "json")
        for mark in report.marks
    )


class Counted(list):
    """Lines that count how often one of them is read."""

    reads = 0

    def __getitem__(self, key):
        found = super().__getitem__(key)
        self.reads += len(found) if isinstance(key, slice) else 1
        return found

    def __iter__(self):
        for line in super().__iter__():
            self.reads += 1
            yield line


@pytest.mark.parametrize("one", PARSERS, ids=lambda one: one.NAME)
def test_the_work_of_a_parser_grows_with_the_lines(one):
    for path in INPUTS:
        lines = path.read_text().split("\n")

        def reads(times, lines=lines):
            counted = Counted(lines * times)
            one.parse(counted, "\n".join(lines * times))
            return counted.reads

        assert reads(40) <= 4.2 * reads(10) + 200, path.stem
        assert reads(40) <= 80 * 40 * len(lines), path.stem


HOSTILE = (
    "x",
    " ",
    "\t",
    "=",
    "_",
    "#",
    "E ",
    "1:",
    "a:1:",
    "[",
    "{",
    '"',
    "\\",
    "error: ",
    "- ",
    ".go:1:1: ",
    "*|",
)


@pytest.mark.parametrize("one", PARSERS, ids=lambda one: one.NAME)
def test_a_line_of_a_million_characters_is_no_trouble(one):
    for piece in HOSTILE:
        line = piece * (1_000_000 // len(piece))
        for lines in ([line], ["error: x", "  " + line, line], ["[" + line, '"' + line + "]"]):
            answer = one.parse(lines, "\n".join(lines))
            assert answer is None or answer.name == one.NAME
