from __future__ import annotations

import calendar
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.evidence.conftest import MakeBase
from tests.unit.evidence.looks import found, only

from admit.evidence.checks.values import Date, dates_in

SPELLINGS = ("2026-03-12", "12 March 2026", "March 12, 2026", "12th of Mar. 2026", "march 12 2026")


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("held", (*SPELLINGS, "March 2026", "2026-03", "2026-03-12T10:00Z"))
def test_a_date_in_another_spelling_or_coarser_is_no_finding(
    base: MakeBase, spelling: str, held: str
) -> None:
    made = base({"n.md": f"Since {spelling} [a](a.md).\n", "a.md": f"On {held}.\n"})
    assert not found(made, "date")
    assert not found(made, "number")


@pytest.mark.parametrize("held", ["13 March 2026", "2026-04-12", "March 12, 2025", "12 2026", "2026-03-122"])
def test_a_date_that_no_artifact_holds_is_told_and_its_parts_are_no_numbers(
    base: MakeBase, held: str
) -> None:
    made = base({"n.md": "Since March 12, 2026 [a](a.md).\n", "a.md": held})
    assert only(made, "date").claim == "March 12, 2026"
    assert not found(made, "number")


def test_a_month_is_held_by_any_of_its_days(base: MakeBase) -> None:
    note = "Since March 2026 [a](a.md).\n"
    assert not found(base({"n.md": note, "a.md": "2026-03-30"}), "date")
    assert only(base({"n.md": note, "a.md": "2026-02-28"}), "date")


@pytest.mark.parametrize(
    "text", ["2026-13-01", "32 March 2026", "v1-2026-03-12-x", "12026-03-12", "a maybe 2026"]
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert not [one for one, _ in dates_in(text) if one.day]


@given(st.dates())
def test_every_day_is_read_in_every_spelling(day: date) -> None:
    name = calendar.month_name[day.month]
    for text in (
        day.isoformat(),
        f"{day.day} {name} {day.year:04}",
        f"{name[:3]} {day.day}, {day.year:04}",
    ):
        assert [one for one, _ in dates_in(f"({text})")] == [Date(day.year, day.month, day.day)]
