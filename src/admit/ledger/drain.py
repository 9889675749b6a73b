"""Bringing what waits in the spool into the database, one transaction a file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from .database import cause_of, write
from .prepare import Prepared, decode
from .spool import Drained, Spool

OwnRecord = Callable[[str, Mapping[str, Any]], Prepared]


def drain_into(
    con: sqlite3.Connection, spool: Spool, own_record: OwnRecord, *, wait_ms: int = 0
) -> Drained | None:
    """Import every waiting record. A file is deleted after its commit, so a repeat changes nothing.

    Returns:
        What was imported, or None while another process drains.

    Raises:
        sqlite3.Error, OSError: The file at hand stays where it is.
    """
    unreadable = 0

    def store(bodies: list[bytes], bad: int) -> None:
        nonlocal unreadable
        stored = spoiled = 0
        con.execute("BEGIN IMMEDIATE")
        try:
            for body in bodies:
                if _imported(con, body):
                    stored += 1
                else:
                    spoiled += 1
            if stored or spoiled or bad:
                write(con, own_record("ledger.spool_drained", {"n": stored, "bad": bad + spoiled}))
            con.execute("COMMIT")
        except BaseException:
            if con.in_transaction:
                con.execute("ROLLBACK")
            raise
        unreadable += spoiled

    drained = spool.drain(store, wait_ms=wait_ms)
    if drained is None:
        return None
    spool.bad += unreadable
    return drained._replace(records=drained.records - unreadable, bad=drained.bad + unreadable)


def _imported(con: sqlite3.Connection, body: bytes) -> bool:
    try:
        write(con, decode(body))
        return True
    except ValueError:
        return False
    except (sqlite3.Error, OverflowError) as fault:
        if cause_of(fault) != "refused":
            raise
        return False
