"""What judges cost, as the calls of decisions say; what is known and what is not, kept apart."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

# Times are UTC, as the day of the caps is.
BY: Mapping[str, str] = MappingProxyType(
    {
        "day": "date(ts_ms / 1000, 'unixepoch')",
        "session": "session",
        "project": "project",
        "profile": "profile",
    }
)


class JudgeCost(NamedTuple):
    """The calls of one day, session, project or profile.

    Attributes:
        key: Its name as stored; None where the decision has none.
        calls: Transmissions, those that were never sent left out.
        questions: What they asked, a count.
        input_tokens: Sum of the known ones; `tokens_unknown` counts the calls that do not say.
        cost_usd: Sum of the known ones; `cost_unknown` counts the calls whose cost is not known.
    """

    key: str | None
    calls: int
    questions: int
    input_tokens: int
    tokens_unknown: int
    cost_usd: float
    cost_unknown: int


def judge_costs(con: sqlite3.Connection, by: str = "day", since: int = 0) -> list[JudgeCost]:
    """One row a value of `by`, ordered by it; a call of the local judge counts, free.

    Args:
        by: One of `BY`.
        since: Epoch ms.

    Raises:
        KeyError: `by` is no such word.
    """
    local = "judge_calls.destination = 'local'"
    rows = con.execute(
        f"""SELECT {BY[by]} AS key, count(*), sum(questions), coalesce(sum(input_tokens), 0),
            sum(input_tokens IS NULL AND NOT {local}), coalesce(sum(cost_usd), 0.0), sum(cost_usd IS NULL)
        FROM judge_calls JOIN decisions USING (decision_id)
        WHERE ts_ms >= ? AND (sent <> 'no' OR {local}) GROUP BY key ORDER BY key""",
        (since,),
    )
    return [JudgeCost(*row) for row in rows]
