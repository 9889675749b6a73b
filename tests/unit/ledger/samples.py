"""Small records, and the folders of one test."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from admit.core.events import Event
from admit.ledger.places import places
from admit.ledger.port import CallRow, CandidateRow, DecisionRow, Recall, Record, VerdictRow

NOW = 1_700_000_000_000


def record(name: str = "d1", *, door: str = "outputs", n: int = 2, **head: object) -> Record:
    """One decision with `n` candidates, one call and one event."""
    return Record(
        decision=DecisionRow(
            decision_id=name,
            ts_ms=NOW,
            door=door,
            admit_version="0.1",
            status="judged",
            cap=8,
            threshold=1.5,
            n_gathered=n,
            n_within=n,
            n_admitted=n,
        )._replace(**head),
        candidates=tuple(
            CandidateRow(name, k, f"c{k}", kind="chunk", rank_key=(0.1 * k,), size=100 * k, span=[k, k + 1])
            for k in range(1, n + 1)
        ),
        verdicts=tuple(
            VerdictRow(name, k, "live", "admitted", reason="judge", kind="score", p=(0.1, 0.2, 0.3, 0.4))
            for k in range(1, n + 1)
        ),
        calls=(CallRow(f"{name}.1", name, "local", "minilm", cost_usd=None, reply=b"\x00answer"),),
        events=(event(f"{name}.e", decision_id=name),),
    )


def event(event_id: str = "e1", type: str = "outputs.fault", **columns: object) -> Event:
    body = {"fault": "parser", "name": "pytest"} if type == "outputs.fault" else {}
    return Event(event_id, type, NOW, body)._replace(**columns)


def recall(recall_id: str, output_id: str, **columns: object) -> Recall:
    return Recall(recall_id, output_id, NOW, "whole", "cli", 10)._replace(**columns)


def database() -> Path:
    return Path(places().database)


def rows(sql: str, *args: object) -> list[tuple]:
    """What a query finds, on a connection of its own."""
    con = sqlite3.connect(database())
    try:
        return con.execute(sql, args).fetchall()
    finally:
        con.close()
