"""The map of the published rules points at code and tests that are there, and misses none."""

import re

import pytest

from .house import DOCS, ROOT, SOURCE

CONFORMANCE = ROOT / "tests" / "conformance"
RULES = [
    f"{family}{k}"
    for family, last in (("R", 11), ("F", 11), ("S", 12), ("E", 12))
    for k in range(1, last + 1)
]
NOT_BUILT = "not yet built"


def rows():
    page = (DOCS / "decisions.md").read_text(encoding="utf-8")
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        if re.fullmatch(r"[RFSE]\d+", cells[0]):
            yield cells[0], cells[2], cells[3]


def carrying(rule):
    """The conformance tests that carry a rule's number, as (file, name)."""
    return [
        (file.name, name)
        for file in sorted(CONFORMANCE.glob("test_*.py"))
        for name in re.findall(rf"^def (test_{rule}_\w+)", file.read_text(encoding="utf-8"), re.M)
    ]


def test_every_rule_stands_once_and_in_order():
    assert [rule for rule, _, _ in rows()] == RULES


@pytest.mark.parametrize("rule, code, shown_by", list(rows()))
def test_what_is_said_to_be_built_is_there_and_what_is_not_has_no_test(rule, code, shown_by):
    found = carrying(rule)
    if NOT_BUILT in (code, shown_by):
        assert code == shown_by == NOT_BUILT and found == [], "docs/decisions.md: say where it is built"
        return
    for path in re.findall(r"`([^`]+)`", code):
        assert (SOURCE / path).exists(), f"{rule}: {path}"
    named = set(re.findall(r"`(\w+\.py)`", shown_by))
    assert named and named == {file for file, _ in found}


def test_every_conformance_file_tests_rules_of_the_map():
    known = set(RULES)
    for file in sorted(CONFORMANCE.glob("test_*.py")):
        numbers = re.findall(r"^def test_([RFSE]\d+)_", file.read_text(encoding="utf-8"), re.M)
        assert numbers and set(numbers) <= known
