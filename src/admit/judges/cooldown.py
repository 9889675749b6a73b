"""Leave a destination alone that fails, in every process of this user; then let one call try it.

The only breaker around a judge: no door and no host keeps a second.
"""

from __future__ import annotations

import sqlite3
from typing import Literal, NamedTuple

from admit.core.reasons import BEFORE_SENDING

MOST_RETRY_AFTER_S = 600
PROBE_S = 120
"""How long a probe that never comes back keeps the next one waiting."""

AT_ONCE = frozenset((401, 402, 403, 404))
"""A key, a credit or a name that is wrong: asking again changes nothing."""

NOT_COUNTED = frozenset((*BEFORE_SENDING, "provider_413"))
"""Reasons that say nothing about the destination: nothing was sent, or the request was too large."""

State = Literal["closed", "open", "half_open"]


class Failure(NamedTuple):
    """A call that failed.

    Attributes:
        reason: Why, a word of `reasons`.
        status: Status of an HTTP answer.
        retry_after_s: How long the destination asks to be left alone; None where it does not say.
    """

    reason: str
    status: int | None = None
    retry_after_s: float | None = None


class _Row(NamedTuple):
    """What is kept of a destination; times are epoch ms, 0 is none.

    Attributes:
        since_ms, until_ms: The newest cool-down.
        probe_ms: When the one try after it began.
    """

    failures: int = 0
    since_ms: int = 0
    until_ms: int = 0
    probe_ms: int = 0

    def cools(self, now_ms: int) -> bool:
        """Whether it is left alone. A clock that was set back before the cool-down began ends it."""
        return self.since_ms <= now_ms < self.until_ms


def state(con: sqlite3.Connection, destination: str, now_ms: int) -> State:
    """Whether to ask a destination: ``closed`` yes, ``open`` no, ``half_open`` by one call at a time."""
    row = _row(con, destination)
    if not row.until_ms:
        return "closed"
    probing = row.probe_ms and row.probe_ms <= now_ms < row.probe_ms + PROBE_S * 1000
    return "open" if probing or row.cools(now_ms) else "half_open"


def begin_probe(con: sqlite3.Connection, destination: str, now_ms: int) -> None:
    """Take the one try of a half-open destination."""
    con.execute("UPDATE cooldown SET probe_ms = ? WHERE destination = ?", (now_ms, destination))


def end_probe(con: sqlite3.Connection, destination: str) -> None:
    """Give the try back, nothing learned."""
    con.execute("UPDATE cooldown SET probe_ms = 0 WHERE destination = ?", (destination,))


def succeeded(con: sqlite3.Connection, destination: str) -> None:
    """Forget every failure of a destination."""
    con.execute("DELETE FROM cooldown WHERE destination = ?", (destination,))


def failed(
    con: sqlite3.Connection,
    destination: str,
    failure: Failure,
    now_ms: int,
    *,
    failures: int,
    seconds: int,
) -> int | None:
    """Count a failure; when that begins a cool-down, its end in epoch ms, else None.

    Args:
        failures: How many in a row begin one. A status of `AT_ONCE`, a time that the destination asks for,
            and a failed probe each begin one by themselves.
        seconds: How long one lasts, unless the destination says how long: at most 600 s are honoured.
    """
    row = _row(con, destination)
    row = row._replace(failures=row.failures + 1)
    asked = failure.retry_after_s
    asked_ms = int(min(asked, MOST_RETRY_AFTER_S) * 1000) if asked is not None and asked > 0 else 0
    until_ms = now_ms + (asked_ms or seconds * 1000)
    if row.cools(now_ms):  # a call that was on its way when it began
        _put(con, destination, row._replace(until_ms=max(row.until_ms, until_ms if asked_ms else 0)))
        return None
    if row.failures < failures and not (row.until_ms or asked_ms or failure.status in AT_ONCE):
        _put(con, destination, row)
        return None
    _put(con, destination, _Row(row.failures, now_ms, until_ms))
    return until_ms


def _row(con: sqlite3.Connection, destination: str) -> _Row:
    row = con.execute(
        "SELECT failures, since_ms, until_ms, probe_ms FROM cooldown WHERE destination = ?", (destination,)
    ).fetchone()
    return _Row(*row) if row is not None else _Row()


def _put(con: sqlite3.Connection, destination: str, row: _Row) -> None:
    con.execute("INSERT OR REPLACE INTO cooldown VALUES (?, ?, ?, ?, ?)", (destination, *row))
