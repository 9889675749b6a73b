"""What the record says of judges: why their word was not used, and how long their calls took."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple


class ReasonCount(NamedTuple):
    """Decisions of one door and profile where a judge's word was not used, for one reason.

    Attributes:
        profile: None where no judge was asked.
        reason: A fallback's reason, or ``shadow:`` and why answers were only recorded.
    """

    door: str
    profile: str | None
    reason: str
    decisions: int


class CallTime(NamedTuple):
    """One call: how many questions, how long in ms, and why it gave no answer (None where it did)."""

    questions: int
    total_ms: float
    reason: str | None


def reason_counts(con: sqlite3.Connection, since: int = 0) -> list[ReasonCount]:
    """Every reason by door and profile, by name; no reason is counted under another.

    Args:
        since: Epoch ms.
    """
    shadow = "json_extract(extra, '$.shadow')"
    rows = con.execute(
        f"""SELECT door, profile, CASE status WHEN 'fallback' THEN coalesce(reason, 'internal')
                ELSE 'shadow:' || {shadow} END AS why, count(*)
        FROM decisions WHERE ts_ms >= ?
            AND (status = 'fallback' OR (status IN ('judged', 'partial') AND {shadow} IS NOT NULL))
        GROUP BY door, profile, why ORDER BY door, profile, why""",
        (since,),
    )
    return [ReasonCount(*row) for row in rows]


def call_times(con: sqlite3.Connection, profile: str, door: str, limit: int = 200) -> list[CallTime]:
    """The newest calls of a profile at a door that were answered or missed their deadline, newest first."""
    rows = con.execute(
        """SELECT questions, total_ms, judge_calls.reason FROM judge_calls JOIN decisions USING (decision_id)
        WHERE profile = ? AND door = ? AND (judge_calls.reason IS NULL OR judge_calls.reason = 'deadline')
        ORDER BY judge_calls.rowid DESC LIMIT ?""",
        (profile, door, limit),
    )
    return [CallTime(*row) for row in rows]
