"""Rows of evidence over one connection: written as they are checked, checked as they are read."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from admit.core.events import sha256
from admit.errors import IntegrityError

from .evidence_rows import CHECKS, KEYS
from .schema import COLUMNS, from_values, to_values


def put_text(con: sqlite3.Connection, data: bytes) -> str:
    """Keep a text and give its hash."""
    hashed = sha256(data)
    con.execute("INSERT INTO evidence_text VALUES (?, ?) ON CONFLICT DO NOTHING", (hashed, data))
    return hashed


def put_row(con: sqlite3.Connection, table: str, row: Any) -> Any:
    """Write a row in the place of the one with its key, and give it as it stands: its keys normalised.

    Raises:
        ValueError: It is not as it should be.
    """
    row = CHECKS[table](row)
    cells = row._replace(linked=[one._asdict() for one in row.linked]) if hasattr(row, "linked") else row
    columns = COLUMNS[table]
    # An update keeps the row where it is, so that rows stay in the order in which they were made.
    kept = ", ".join(f"{column} = excluded.{column}" for column in columns)
    con.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))}) "
        f"ON CONFLICT DO UPDATE SET {kept}",
        to_values(table, cells),
    )
    return row


def rows(con: sqlite3.Connection | None, table: str, where: str, args: Sequence[Any]) -> list[Any]:
    """Rows, each checked; none without a connection.

    Raises:
        IntegrityError: One of them is not as it should be.
    """
    if con is None:
        return []
    found = con.execute(f"SELECT {', '.join(COLUMNS[table])} FROM {table} WHERE {where}", args)
    return [read_row(table, values) for values in found]


def read_row(table: str, values: Sequence[Any]) -> Any:
    """A row from its SQL values, checked.

    Raises:
        IntegrityError: It is not as it should be.
    """
    try:
        row = from_values(table, values)
        checked = CHECKS[table](row)
        if any(getattr(checked, name) != getattr(row, name) for name in KEYS[table]):
            raise ValueError("a key that is not in its normal form")
        return checked
    except (ValueError, TypeError) as fault:
        key = " ".join(str(values[COLUMNS[table].index(name)]) for name in KEYS[table])
        raise IntegrityError(table, key, f"{fault}; `admit ledger verify` names all such rows") from fault
