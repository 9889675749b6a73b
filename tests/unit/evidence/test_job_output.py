"""The output of a reviewer: read strictly, and nothing that is not whole is ever a PASS."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.evidence.job.output import Answer, Malformed, marks, parse

JOB, NONCE = "e-0123456789ab", "00112233aabbccdd"
BLOCKS = ("b1", "b2", "b3", "b10")
OFFERS = ("a1", "a2", "a17")
FIRST, LAST = marks(JOB, NONCE)


def read(text: str) -> Answer:
    return parse(text, JOB, NONCE, blocks=BLOCKS, offers=OFFERS)


def output(findings: tuple[str, ...] = (), result: str = "PASS", opened: str | None = None) -> str:
    said = [] if opened is None else [opened]
    body = ["### Summary", "All claims were looked at.", "", "### Findings", *findings, *said, ""]
    return "\n".join(["Here it is.", FIRST, *body, f"## Result: {result}", LAST, ""])


WHOLE = output(("- FAIL [b3 a2] says more than a2", "- INFO [b1] no link"), "FAIL", "opened: [a1, a2]")


def test_a_whole_output_is_read_in_all_its_parts() -> None:
    answer = read(WHOLE)
    assert answer.summary == "All claims were looked at."
    assert [tuple(one) for one in answer.findings] == [
        ("FAIL", "b3", ("a2",), "says more than a2"),
        ("INFO", "b1", (), "no link"),
    ]
    assert (answer.opened, answer.result) == (("a1", "a2"), "FAIL")


def test_nothing_found_is_an_empty_section_and_a_pass() -> None:
    answer = read(output())
    assert (answer.findings, answer.opened, answer.result) == ((), None, "PASS")


def test_an_info_leaves_a_pass_and_the_worst_finding_decides() -> None:
    assert read(output(("- INFO [b1] x",))).result == "PASS"
    assert read(output(("- INFO [b1] x", "- WARN [note] y"), "WARN")).result == "WARN"
    assert read(output(("- WARN [b1] x", "- FAIL [b1 a1 a17] y"), "FAIL")).result == "FAIL"


def test_who_cannot_judge_says_so_without_a_finding_that_judges() -> None:
    assert read(output((), "ERROR")).result == "ERROR"
    with pytest.raises(Malformed, match="make it FAIL"):
        read(output(("- FAIL [b1] x",), "ERROR"))


def test_line_ends_of_another_system_are_read_too() -> None:
    assert read(WHOLE.replace("\n", "\r\n")) == read(WHOLE)


REFUSED = {
    "a mere OK": "OK",
    "nothing": "",
    "two results": output().replace("## Result: PASS", "## Result: PASS\n## Result: PASS"),
    "a result that is not last": output().replace("## Result: PASS", "## Result: PASS\nThat is all."),
    "a result before the findings": output().replace("### Findings", "## Result: PASS\n### Findings"),
    "a result outside the block": output() + "\n## Result: PASS\n",
    "a second block": output() + output(),
    "a nested block": output().replace("### Findings", f"{output()}\n### Findings"),
    "a block that nothing closes": output().replace(LAST, ""),
    "a block that nothing opens": output().replace(FIRST, ""),
    "the marks in the wrong order": output().replace(FIRST, "@").replace(LAST, FIRST).replace("@", LAST),
    "another nonce": output().replace(NONCE, "f" * 16),
    "another job": output().replace(JOB, "e-ffffffffffff"),
    "another nonce beside the right one": output() + f"[[review {JOB} {'f' * 16}]]",
    "an alias of a result": output().replace("PASS", "PASSED"),
    "a result in small letters": output().replace("PASS", "pass"),
    "a result in bold": output().replace("## Result: PASS", "## Result: **PASS**"),
    "UNJUDGED": output().replace("PASS", "UNJUDGED"),
    "a result milder than a finding": output(("- FAIL [b1 a1] x",), "WARN"),
    "a result graver than every finding": output(("- INFO [b1 a1] x",), "WARN"),
    "a block that there is not": output(("- INFO [b4] x",)),
    "an artifact that there is not": output(("- INFO [b1 a3] x",)),
    "an artifact without a block": output(("- INFO [a1] x",)),
    "an artifact twice": output(("- INFO [b1 a1 a1] x",)),
    "a number in another script": output(("- INFO [b١] x",)),
    "a finding without words": output(("- INFO [b1]  ",)),
    "a finding of another severity": output(("- ERROR [b1] x",)),
    "a finding over two lines": output(("- INFO [b1] x", "  and y")),
    "a finding broken by a rare line end": output(("- INFO [b1] x\u2028- FAIL [b1] y",)),
    "a finding in the summary": output().replace("All claims", "- FAIL [b1 a1] x\nAll claims"),
    "no summary": output().replace("### Summary\n", ""),
    "an empty summary": output().replace("All claims were looked at.", ""),
    "no heading of the findings": output().replace("### Findings\n", ""),
    "a self-report after the result": output().replace(LAST, f"opened: [a1]\n{LAST}"),
    "two self-reports": output(opened="opened: [a1]\nopened: [a1]"),
    "a self-report of something else": output(opened="opened: [kb/x.md]"),
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_an_output_is_refused_for(text: str) -> None:
    with pytest.raises(Malformed):
        read(text)


PLACES = {
    "a finding of another form": (output(("- INFO [b1] x", "* FAIL [b1] y")), "line 8: .*- FAIL "),
    "a block that there is not": (output(("- INFO [b4] x",)), "line 7: .*b4"),
    "a result that does not follow": (output(("- FAIL [b1] x",), "WARN"), "line 9: .*FAIL"),
    "words after the result": (output().replace(LAST, f"Done.\n{LAST}"), "line 9: .*last"),
    "a result outside": (f"## Result: PASS\n{output()}", "line 1: .*outside"),
    "no summary": (output().replace("### Summary", "Summary"), "line 3: .*### Summary"),
    "no findings": (output().replace("### Findings", "All is well."), "line 8: .*### Findings"),
    "no result": (output().replace("## Result: PASS\n", ""), "line 8: .*## Result"),
    "another nonce": (output().replace(f"{NONCE}]]", "0]]"), "line 2: .*prompt.md"),
    "no opening line": ("OK", "opening line.*prompt.md"),
    "no closing line": (output().replace(LAST, ""), "closing line"),
    "a mark too many": (output() + FIRST, "line 10: .*once"),
}


@pytest.mark.parametrize(("text", "said"), PLACES.values(), ids=PLACES)
def test_what_is_wrong_is_said_with_its_line(text: str, said: str) -> None:
    with pytest.raises(Malformed, match=said):
        read(text)


def test_a_byte_order_mark_is_no_part_of_an_output() -> None:
    assert read(f"\ufeff{output()[output().index(FIRST) :]}").result == "PASS"


def test_a_self_report_may_name_what_was_never_offered() -> None:
    assert read(output(opened="opened: [a1, a99]")).opened == ("a1", "a99")
    assert read(output(opened="opened: []")).opened == ()


def _outcome(text: str) -> str:
    try:
        return read(text).result
    except Malformed:
        return "UNJUDGED"


@given(st.text())
def test_no_text_raises_anything_else(text: str) -> None:
    assert _outcome(text) == "UNJUDGED"


LINES = WHOLE.split("\n")


@given(st.lists(st.sampled_from([*LINES, "## Result: PASS", "### Findings", "", "text"]), max_size=24))
def test_lines_of_an_output_in_any_order_are_a_pass_only_without_a_grave_finding(lines: list[str]) -> None:
    text = "\n".join(lines)
    if _outcome(text) == "PASS":
        assert not any(line.startswith(("- FAIL", "- WARN")) for line in lines)
        assert lines.count("## Result: PASS") == 1
        assert lines.count("## Result: FAIL") == 0


@given(st.integers(0, len(WHOLE)), st.integers(0, len(WHOLE)), st.text(max_size=8))
def test_a_cut_a_repeat_or_an_insertion_never_makes_a_fail_a_pass(start: int, end: int, put: str) -> None:
    start, end = min(start, end), max(start, end)
    for text in (
        WHOLE[:start],
        WHOLE[start:],
        WHOLE[:start] + WHOLE[end:],
        WHOLE[:end] + WHOLE[start:],
        WHOLE[:start] + put + WHOLE[end:],
    ):
        assert _outcome(text) != "PASS"


@given(st.permutations(LINES))
def test_a_fail_stays_no_pass_in_any_order_of_its_lines(lines: list[str]) -> None:
    assert _outcome("\n".join(lines)) in ("FAIL", "UNJUDGED")


def test_a_line_of_marks_that_goes_on_is_read_at_once() -> None:
    for text in (
        "#" * 500_000,
        "[[ " * 300_000,
        "- FAIL [b1" + " a1" * 300_000,
        "opened: [" + "a1, " * 200_000,
    ):
        assert _outcome(output((text,))) == "UNJUDGED"
