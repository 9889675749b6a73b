"""What `limits.db` holds, as a person sees it: cool-downs, and today's spend. Reading makes no file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, TypeVar

from admit.config.places import state_dir

from . import cooldown, spend

DAY_S = 86_400
_T = TypeVar("_T")


class Used(NamedTuple):
    """What counts against the caps of the UTC day, reservations included."""

    requests: int = 0
    input_tokens: int = 0
    usd: float = 0.0


def cooling(now_s: float) -> dict[str, int]:
    """Destinations that are left alone, with the end of it in epoch ms; empty where nothing can be read."""
    now_ms = int(now_s * 1000)

    def open_ones(con: sqlite3.Connection) -> dict[str, int]:
        rows = con.execute("SELECT destination, until_ms FROM cooldown WHERE until_ms > ?", (now_ms,))
        return {
            destination: until
            for destination, until in rows.fetchall()
            if cooldown.state(con, destination, now_ms) == "open"
        }

    return _read(open_ones, {}) or {}


def today(now_s: float) -> Used | None:
    """What was counted on the UTC day of a moment; None where the file is there and cannot be read."""

    def counted(con: sqlite3.Connection) -> Used:
        used = spend.spent(con, spend.day_scope(int(now_s // DAY_S)))
        if not all(isinstance(count, int) for count in used):
            raise spend.Unusable("holds a count that is no number")
        return Used(used.requests, used.input_tokens, used.nano_usd / spend.NANO)

    return _read(counted, Used())


def forgive(destination: str) -> None:
    """End the cool-down of a destination: a person tries it now. Does nothing where it cannot be written."""
    if not os.path.exists(_path()):
        return
    database = spend.Database(_path())
    try:
        with database.writing() as con:
            cooldown.succeeded(con, destination)
    except (OSError, sqlite3.Error, spend.Unusable):
        return
    finally:
        database.close()


def _read(look: Callable[[sqlite3.Connection], _T], absent: _T) -> _T | None:
    """What `look` finds in the file; `absent` where there is none yet, None where it cannot be read."""
    if not os.path.lexists(_path()):
        return absent
    try:
        address = f"{Path(_path()).absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=spend.BUSY_S)) as con:
            version = con.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:  # made, and nothing was counted yet
                return absent
            return look(con) if version == spend.VERSION else None
    except (OSError, sqlite3.Error, spend.Unusable, TypeError, ValueError):  # it may hold anything
        return None


def _path() -> str:
    return os.path.join(state_dir(), "limits.db")
