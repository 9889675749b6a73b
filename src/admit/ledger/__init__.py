"""The written record of every decision, and the store of full outputs.

Everything below loads at first use: importing this package does no work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .port import Ledger, OutputStore, Record


def open_ledger(
    config: Mapping[str, object] | None = None, *, readonly: bool = False, migrate: bool = True
) -> Ledger:
    """The ledger of this user. Files are touched by the first read or write, never here, unless `readonly`.

    Args:
        config: Effective values by full key name, such as ``ledger.path``; None is all defaults.
        readonly: Nothing will be written, and what cannot be read is said at once.
        migrate: Whether an older database is brought forward by the first write; a hook spools instead.

    Raises:
        LedgerError: With `readonly`: it cannot be read (`Corrupt`, `Locked`). Without it nothing is raised:
            the spool takes what the database cannot.
    """
    from .sqlite import SqliteLedger

    ledger = SqliteLedger(config, readonly=readonly, migrate=migrate)
    if readonly:
        next(iter(ledger.query(limit=1)), None)
    return ledger


def open_outputs(config: Mapping[str, object] | None = None, ledger: Ledger | None = None) -> OutputStore:
    """The store of full outputs; it works without a ledger, which then knows nothing of them."""
    from .outputs import FileOutputs

    return FileOutputs(config, ledger)


def iter_records(path_or_url: str, *, order: Literal["seq"] = "seq") -> Iterator[Record]:
    """Every record of a database, in the order it was written; what hangs on no decision comes last.

    Args:
        path_or_url: The database file, or the folder that holds ``ledger.db``.

    Raises:
        LedgerError: It cannot be read.
    """
    import os

    from . import queries
    from .reading import reading

    path = os.path.join(path_or_url, "ledger.db") if os.path.isdir(path_or_url) else path_or_url
    with reading(os.path.abspath(path)) as con:
        if con is not None:
            yield from queries.records(con)
