"""A connection for reading, open no longer than it is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from admit.errors import Corrupt, LedgerError

from .database import as_ledger_error, lost_by_writer, open_reader
from .places import Places
from .prepare import decode
from .spool import Spool


@contextmanager
def reading(path: str, busy_ms: int = 2000) -> Iterator[sqlite3.Connection | None]:
    """The database, read-only; None where there is none.

    Raises:
        LedgerError: It cannot be read (`Corrupt`, `Locked`).
    """
    con = open_reader(path, busy_ms)
    try:
        yield con
    except sqlite3.Error as fault:
        raise as_ledger_error(fault, path) from fault
    except ValueError as fault:
        raise Corrupt(
            f"{path} holds a row that cannot be read ({fault}): run `admit ledger verify`"
        ) from fault
    finally:
        if con is not None:
            con.close()


def gaps(places: Places, busy_ms: int = 2000) -> tuple[dict[str, int], str]:
    """Records lost, by writer, and a finding or nothing. What waits in the spool is not lost."""
    try:
        with reading(places.database, busy_ms) as con:
            if con is None:
                return {}, ""
            lost = lost_by_writer(con)
        if lost:
            for writer in _waiting_writers(places.spool):
                lost[writer] = lost.get(writer, 0) - 1
        return {writer: n for writer, n in lost.items() if n > 0}, ""
    except (LedgerError, OSError) as fault:
        return {}, f"The ledger cannot be read: {fault}."


def _waiting_writers(folder: str) -> Iterator[str]:
    """The writer of each numbered record in the spool."""
    spool = Spool(folder, "", 0)
    for path in spool.files():
        for body in spool.bodies(path):
            with suppress(ValueError):
                waiting = decode(body)
                if waiting.seq:
                    yield waiting.writer
