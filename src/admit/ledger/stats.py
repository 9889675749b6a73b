"""How much there is, and what waits, was dropped or is missing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from .database import damaged_files, read_rows, rows_by_table
from .outputs import FileOutputs
from .places import places, setting
from .port import SCHEMA_VERSION
from .reading import gaps, reading
from .retention import next_run_ms, used_bytes
from .schema import version_of
from .spool import Spool


class Stats(NamedTuple):
    """Counts and sizes of the whole record.

    Attributes:
        database: Path.
        schema, known_schema: Of the database, and the newest that this version knows; 0 is no database.
        rows: By table.
        database_bytes, used_bytes, wal_bytes: Of the file, of the part that holds something, of the log.
        spool_files, spool_records, spool_bytes: What waits.
        dropped: Records not written, by cause, as far as that could be written down; ``spool`` for what left
            the full spool.
        gaps: Records lost, by writer.
        outputs, outputs_bytes: Stored outputs.
        damaged: Databases that were set aside.
        retention_ms: When retention is next due, in epoch ms; 0 is at once.
        findings: Sentences.
    """

    database: str
    schema: int
    known_schema: int
    rows: Mapping[str, int]
    database_bytes: int
    used_bytes: int
    wal_bytes: int
    spool_files: int
    spool_records: int
    spool_bytes: int
    dropped: Mapping[str, int]
    gaps: Mapping[str, int]
    outputs: int
    outputs_bytes: int
    damaged: tuple[str, ...]
    retention_ms: int
    findings: tuple[str, ...]


def stats(config: Mapping[str, object] | None = None) -> Stats:
    """Count everything.

    Raises:
        LedgerError: The database cannot be read.
    """
    place = places(config)
    busy_ms = int(setting(config, "ledger.busy_ms"))
    spool = Spool(place.spool, "stats", 0)
    stored = list(FileOutputs(config).stored())
    counted: dict[str, Any] = {"schema": 0, "rows": {}, "used_bytes": 0, "dropped": {}, "retention_ms": 0}
    with reading(place.database, busy_ms) as con:
        if con is not None:
            rows = rows_by_table(con)
            dropped: dict[str, int] = {}
            tail = "WHERE type IN ('ledger.dropped', 'ledger.spool_dropped') ORDER BY rowid"
            for event in read_rows(con, "events", tail):
                causes = event.body if event.type == "ledger.dropped" else {"spool": event.body.get("n", 0)}
                for cause, n in causes.items():
                    if isinstance(n, int):
                        dropped[cause] = dropped.get(cause, 0) + n
            counted = {
                "schema": version_of(con),
                "rows": rows,
                "used_bytes": used_bytes(con),
                "dropped": dict(sorted(dropped.items())),
                "retention_ms": next_run_ms(con),
            }
    lost, odd = gaps(place, busy_ms)
    return Stats(
        database=place.database,
        known_schema=SCHEMA_VERSION,
        database_bytes=_size(place.database),
        wal_bytes=_size(place.database + "-wal"),
        spool_files=len(spool.files()),
        spool_records=spool.count(),
        spool_bytes=spool.size(),
        gaps=lost,
        outputs=len(stored),
        outputs_bytes=sum(os.path.getsize(ref.path) for ref in stored),
        damaged=tuple(damaged_files(place.database)),
        findings=(odd,) if odd else (),
        **counted,
    )


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0
