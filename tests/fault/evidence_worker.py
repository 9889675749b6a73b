"""A process that accepts a review again and again, or dies inside of a transaction.

evidence_worker.py race PATH NAME ROUNDS     accept at the revision that stands; prints those it won
evidence_worker.py die PATH K                kill itself before the K-th statement of one change
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from typing import Any

from admit.core.events import sha256
from admit.errors import BaselineConflict
from admit.ledger import evidence
from admit.ledger.evidence import EvidenceStore
from admit.ledger.evidence_rows import BaselineRow, JobRow, Linked

HASH = sha256(b"x")
PAIR = ("n.md", "c", "p")
ENDED = {"verdict": "PASS", "reason": "judged", "review": {"done": True}}
READ = (Linked("t.md", "t.md", "whole", "note", HASH, HASH),)


def row(job: str) -> BaselineRow:
    return BaselineRow(*PAIR, 0, False, HASH, HASH, (), job, 1)


def new_job() -> JobRow:
    return JobRow("e-new", 0, *PAIR, HASH, HASH, HASH, expected_revision=1)


def race(store: EvidenceStore, name: str, rounds: int) -> None:
    print("ready", flush=True)
    sys.stdin.readline()
    won = 0
    for k in range(rounds):
        stands = store.baseline(*PAIR)
        try:
            store.accept(row(f"{name}-{k}"), expect=None if stands is None else stands.revision)
            won += 1
        except BaselineConflict:
            continue
    print(won)


class Counted:
    """A connection that does something before each statement."""

    def __init__(self, con: sqlite3.Connection, before: Any) -> None:
        self._con = con
        self._before = before

    def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
        self._before(sql)
        return self._con.execute(sql, *args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._con, name)


def before_each_statement(before: Any) -> None:
    """From now on the store's connections tell of each statement before it runs."""
    real = evidence.open_writer
    evidence.open_writer = lambda *args, **more: Counted(real(*args, **more), before)  # type: ignore[assignment]


def die(store: EvidenceStore, k: int) -> None:
    left = k

    def count(sql: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    before_each_statement(count)
    store.complete_job("e-new", 1, **ENDED, linked=READ)
    print("done")


if __name__ == "__main__":
    what, path, *rest = sys.argv[1:]
    at = EvidenceStore(path)
    if what == "race":
        race(at, rest[0], int(rest[1]))
    else:
        die(at, int(rest[0]))
