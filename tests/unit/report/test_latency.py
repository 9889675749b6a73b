"""The line of a judge's time over its questions, fitted to the record."""

from __future__ import annotations

import pytest

from admit.judges.profiles import DoorProfile, Profile
from admit.ledger.judged import CallTime, call_times
from admit.ledger.port import CallRow, DecisionRow, Record
from admit.ledger.reading import reading
from admit.ledger.sqlite import SqliteLedger
from admit.report.latency import LEAST_CALLS, fit, warnings


def straight(n: int, a: float = 500.0, b: float = 80.0, counts=(2, 8)) -> list[CallTime]:
    asked = [counts[k % len(counts)] for k in range(n)]
    return [CallTime(count, a + b * count, None) for count in asked]


def test_calls_on_a_line_give_that_line_and_how_many_they_were():
    line = fit(straight(30), 2_000)
    assert line is not None and (line.a_ms, line.b_ms) == (pytest.approx(500), pytest.approx(80))
    assert line.source == "fitted, 30 calls"


def test_under_30_calls_or_with_one_count_of_questions_nothing_is_fitted():
    assert fit(straight(LEAST_CALLS - 1), 2_000) is None
    assert fit(straight(200, counts=(8,)), 2_000) is None
    assert fit([], 2_000) is None


def test_a_missed_deadline_counts_as_the_deadline():
    calls = [CallTime(2, 100.0, None)] * 20 + [CallTime(8, 1_900.0, "deadline")] * 20
    line = fit(calls, 4_000)
    assert line is not None and line.a_ms + 8 * line.b_ms == pytest.approx(4_000)
    assert line.a_ms + 2 * line.b_ms == pytest.approx(100)


@pytest.fixture
def database(tmp_path):
    path = str(tmp_path / "ledger.db")

    def write(*calls: tuple[str, str, int, float, str | None]) -> str:
        ledger = SqliteLedger({"ledger.path": path})
        for n, (profile, door, questions, total_ms, reason) in enumerate(calls):
            row = DecisionRow(f"{n:032x}", ts_ms=n, door=door, profile=profile, status="judged")
            call = CallRow(
                f"{n}", row.decision_id, "d", "m", questions=questions, total_ms=total_ms, reason=reason
            )
            ledger.append(Record(row, calls=(call,)))
        ledger.close()
        return path

    return write


def test_only_answered_and_late_calls_of_the_profile_and_the_door_are_taken_the_newest_first(database):
    path = database(
        ("own", "guidance", 1, 10.0, None),
        ("own", "tools", 2, 20.0, None),
        ("other", "guidance", 3, 30.0, None),
        ("own", "guidance", 4, 40.0, "connect"),
        ("own", "guidance", 5, 50.0, "deadline"),
        ("own", "guidance", 6, 60.0, None),
    )
    with reading(path, 100) as con:
        assert call_times(con, "own", "guidance") == [
            CallTime(6, 60.0, None),
            CallTime(5, 50.0, "deadline"),
            CallTime(1, 10.0, None),
        ]
        assert [call.questions for call in call_times(con, "own", "guidance", 1)] == [6]


CELL = DoorProfile(40, 0.3, 2_000)


def test_a_chat_judge_is_assumed_until_its_calls_are_fitted_and_others_say_nothing_till_then(database):
    chat = Profile("own", "chat", "m", {"guidance": CELL})
    other = Profile("own", "systemone", "m", {"guidance": CELL})
    assert warnings(chat, None) == [
        "own.guidance: 40 candidates take about 4.6 s (0.6 s + 0.1 s × 40, assumed), timeout_ms is 2,000: "
        "requests will fall back"
    ]
    assert warnings(other, None) == []
    slow = [("own", "guidance", 4 + 4 * (n % 2), 300.0 + 50 * (4 + 4 * (n % 2)), None) for n in range(30)]
    with reading(database(*slow), 100) as con:
        for judge in (chat, other):
            assert warnings(judge, con) == [
                "own.guidance: 40 candidates take about 2.3 s (0.3 s + 0.1 s × 40, fitted, 30 calls), "
                "timeout_ms is 2,000: requests will fall back"
            ]
