"""A point in time on the command line: `7d`, `12h`, `30m`, or a date with or without a time of day."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

import click

UNITS_S = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_MOST_S = 100 * 365 * 86_400


class Since(click.ParamType):
    """Converts to UTC epoch milliseconds; a date without an offset is local time."""

    name = "T"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Milliseconds of a text, or a usage error that shows every form."""
        if isinstance(value, int):
            return value
        count, unit = value[:-1], value[-1:]
        if unit in UNITS_S and count.isascii() and count.isdigit() and len(count) < 10:
            return int((time.time() - min(int(count) * UNITS_S[unit], _MOST_S)) * 1000)
        try:
            return int(datetime.fromisoformat(value).timestamp() * 1000)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is no time: write 7d, 12h, 30m or 2026-01-31", param, ctx)


SINCE = Since()
