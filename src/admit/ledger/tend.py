"""Retention of everything, for a command: the rows, and the stored outputs."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping

from admit.errors import LedgerError

from .database import as_ledger_error, open_writer
from .outputs import FileOutputs
from .places import places, setting
from .port import PruneReport
from .record import now_ms
from .recover import OwnWriter
from .retention import prune
from .sqlite import SqliteLedger


def prune_all(config: Mapping[str, object] | None = None) -> tuple[PruneReport, PruneReport]:
    """Delete what is past its time or over the size: rows, then stored outputs.

    Raises:
        LedgerError: The database cannot be written; then nothing else was done.
    """
    place = places(config)
    rows = PruneReport()
    try:
        if os.path.exists(place.database):
            con = open_writer(place.database, int(setting(config, "ledger.busy_ms")))
            try:
                rows = prune(con, now_ms(), config, event=OwnWriter(config).record)
            finally:
                con.close()
    except sqlite3.Error as fault:
        raise as_ledger_error(fault, place.database) from fault
    except OSError as fault:
        raise LedgerError(f"the ledger cannot be pruned: {fault}") from fault
    ledger = SqliteLedger(config)
    try:
        return rows, FileOutputs(config, ledger).prune(now_ms())
    finally:
        ledger.close()
