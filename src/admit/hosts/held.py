"""A ledger whose records wait until the answer has left: reply first, then the record."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from admit.ledger.port import Ledger, Record


class HeldLedger:
    """A ledger in front of another: what a thread appends while it holds is given to it instead.

    Everything else goes to the ledger behind.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._local = threading.local()

    def append(self, rec: Record) -> None:
        """Queue one record, or keep it for whoever holds in this thread. Never raises."""
        held = getattr(self._local, "records", None)
        if held is None:
            self._ledger.append(rec)
        else:
            held.append(rec)

    @contextmanager
    def holding(self) -> Iterator[list[Record]]:
        """Collect what this thread appends, in order; it is the caller's to append it later."""
        records: list[Record] = []
        self._local.records = records
        try:
            yield records
        finally:
            self._local.records = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)


def as_ledger(held: HeldLedger) -> Ledger:
    """The same, typed: whatever it does not define, the ledger behind does."""
    return cast(Ledger, held)
