"""How long a call of a judge takes, fitted to those of the record: a line over the number of questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from admit.judges.profiles import Line, Profile, deadline_warning
from admit.ledger.judged import CallTime, call_times

if TYPE_CHECKING:
    import sqlite3

LEAST_CALLS = 30
LEAST_COUNTS = 2


def fit(calls: Sequence[CallTime], timeout_ms: int) -> Line | None:
    """Least squares of the time over the questions of a call.

    A call that missed its deadline took longer than anyone waited; it counts as `timeout_ms`.

    Returns:
        None under 30 calls, or where all of them asked as many questions.
    """
    n = len(calls)
    if n < LEAST_CALLS or len({call.questions for call in calls}) < LEAST_COUNTS:
        return None
    times = [float(timeout_ms) if call.reason == "deadline" else call.total_ms for call in calls]
    mean_x = sum(call.questions for call in calls) / n
    mean_y = sum(times) / n
    spread = sum((call.questions - mean_x) ** 2 for call in calls)
    shared = sum((call.questions - mean_x) * (time - mean_y) for call, time in zip(calls, times, strict=True))
    slope = shared / spread
    return Line(mean_y - slope * mean_x, slope, f"fitted, {n} calls")


def warnings(profile: Profile, con: sqlite3.Connection | None) -> list[str]:
    """What `deadline_warning` says of each door, by the line of its newest 200 calls where there are enough.

    Args:
        con: The record; None is none yet.
    """
    found = []
    for door, cell in profile.doors.items():
        calls = call_times(con, profile.name, door) if con is not None else []
        found.append(deadline_warning(profile, door, fit(calls, cell.timeout_ms)))
    return [warning for warning in found if warning is not None]
