"""What `limits.db` holds, as a person sees it: cool-downs, and today's spend. Reading makes no file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from admit.config.places import state_dir

from . import cooldown, spend

DAY_S = 86_400


class Used(NamedTuple):
    """What counts against the caps of the UTC day, reservations included."""

    requests: int = 0
    input_tokens: int = 0
    usd: float = 0.0


def cooling(now_s: float) -> dict[str, int]:
    """Destinations that are left alone, with the end of it in epoch ms; empty where nothing can be read."""
    now_ms = int(now_s * 1000)
    with _reading() as con:
        if con is None:
            return {}
        try:
            rows = con.execute("SELECT destination, until_ms FROM cooldown WHERE until_ms > ?", (now_ms,))
            return {
                destination: until
                for destination, until in rows.fetchall()
                if cooldown.state(con, destination, now_ms) == "open"
            }
        except sqlite3.Error:
            return {}


def today(now_s: float) -> Used:
    """What was counted on the UTC day of a moment; nothing where nothing can be read."""
    with _reading() as con:
        if con is None:
            return Used()
        try:
            used = spend.spent(con, spend.day_scope(int(now_s // DAY_S)))
        except sqlite3.Error:
            return Used()
        return Used(used.requests, used.input_tokens, used.nano_usd / spend.NANO)


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


@contextmanager
def _reading() -> Iterator[sqlite3.Connection | None]:
    try:
        address = f"{Path(_path()).absolute().as_uri()}?mode=ro"
        con = sqlite3.connect(address, uri=True, timeout=spend.BUSY_S)
    except (OSError, sqlite3.Error):
        yield None
        return
    with closing(con):
        yield con


def _path() -> str:
    return os.path.join(state_dir(), "limits.db")
