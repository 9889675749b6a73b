"""A recorded time for people: whatever a clock wrote, it can be shown."""

from __future__ import annotations

from datetime import UTC, datetime

# 2 January 1970 and 30 December 9999, UTC: what `datetime` can show in every time zone.
FIRST_MS, LAST_MS = 86_400_000, 253_402_128_000_000


def local(ms: float) -> datetime:
    """Local time of UTC epoch milliseconds; a time that cannot be shown becomes the nearest one."""
    return utc(ms).astimezone()


def utc(ms: float) -> datetime:
    """The same in UTC."""
    return datetime.fromtimestamp(min(max(ms, FIRST_MS), LAST_MS) / 1000, UTC)
