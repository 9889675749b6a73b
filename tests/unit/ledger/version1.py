"""A database as version 1 of the schema made it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable

from admit.ledger.database import write
from admit.ledger.places import places
from admit.ledger.port import Record
from admit.ledger.prepare import Keeper, prepare

DDL = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE decisions (
    decision_id TEXT PRIMARY KEY, writer TEXT NOT NULL, seq INTEGER NOT NULL, ts_ms INTEGER NOT NULL,
    schema INTEGER NOT NULL, admit_version TEXT NOT NULL, door TEXT NOT NULL, host TEXT, host_event TEXT,
    session TEXT, agent TEXT, turn INTEGER, project TEXT, profile TEXT, profile_hash TEXT, policy_hash TEXT,
    gather_rev TEXT, mode TEXT NOT NULL, status TEXT NOT NULL, reason TEXT, unit TEXT NOT NULL, cap INTEGER,
    threshold REAL, deadline_ms INTEGER, n_gathered INTEGER NOT NULL, n_within INTEGER NOT NULL,
    n_overflow INTEGER NOT NULL, n_admitted INTEGER NOT NULL, n_blocked INTEGER NOT NULL,
    n_unjudged INTEGER NOT NULL, n_exempt INTEGER NOT NULL, size_in INTEGER, size_out INTEGER,
    size_host INTEGER, elapsed_ms REAL, judge_ms REAL, task_hash TEXT, output_id TEXT,
    delivered TEXT NOT NULL, extra TEXT NOT NULL, truncated TEXT NOT NULL, content_hash TEXT NOT NULL
) STRICT;
CREATE TABLE candidates (
    decision_id TEXT NOT NULL REFERENCES decisions ON DELETE CASCADE, ord INTEGER NOT NULL,
    candidate_id TEXT NOT NULL, kind TEXT, text_hash TEXT, rank_tier INTEGER, rank_key TEXT, score REAL,
    parent_ord INTEGER, size INTEGER, within INTEGER NOT NULL, span TEXT, PRIMARY KEY (decision_id, ord)
) STRICT;
CREATE TABLE verdicts (
    decision_id TEXT NOT NULL REFERENCES decisions ON DELETE CASCADE, ord INTEGER NOT NULL,
    source TEXT NOT NULL, verdict TEXT NOT NULL, would TEXT, reason TEXT, kind TEXT, p TEXT,
    expectation REAL, threshold REAL, ancestor_ord INTEGER, call_id TEXT,
    PRIMARY KEY (decision_id, ord, source)
) STRICT;
CREATE TABLE judge_calls (
    call_id TEXT PRIMARY KEY, decision_id TEXT NOT NULL REFERENCES decisions ON DELETE CASCADE,
    destination TEXT NOT NULL, model_asked TEXT NOT NULL, model_answered TEXT, questions INTEGER NOT NULL,
    request_bytes INTEGER NOT NULL, input_tokens INTEGER, output_tokens INTEGER, cost_usd REAL,
    cost_source TEXT NOT NULL, sent TEXT NOT NULL, connect_ms REAL, first_byte_ms REAL, total_ms REAL,
    slot_wait_ms REAL, outcome TEXT NOT NULL, reason TEXT, request_hash TEXT, reply BLOB,
    reply_dropped INTEGER NOT NULL, masked TEXT NOT NULL
) STRICT;
CREATE TABLE events (
    event_id TEXT PRIMARY KEY, type TEXT NOT NULL, ts_ms INTEGER NOT NULL, body TEXT NOT NULL,
    decision_id TEXT, session TEXT, door TEXT, schema INTEGER NOT NULL, writer TEXT NOT NULL,
    seq INTEGER NOT NULL, content_hash TEXT NOT NULL
) STRICT;
CREATE TABLE outputs (
    output_id TEXT PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, bytes INTEGER NOT NULL, lines INTEGER,
    stored_ms INTEGER NOT NULL, last_used_ms INTEGER NOT NULL, tool TEXT, session TEXT, exit_code INTEGER,
    complete INTEGER NOT NULL, pinned INTEGER NOT NULL, gone_ms INTEGER, gone_reason TEXT
) STRICT;
CREATE TABLE recalls (
    recall_id TEXT PRIMARY KEY, output_id TEXT NOT NULL, ts_ms INTEGER NOT NULL, class TEXT NOT NULL,
    via TEXT NOT NULL, chars INTEGER NOT NULL, decision_id TEXT, session TEXT, first INTEGER NOT NULL
) STRICT;
CREATE TABLE tool_uses (
    use_id TEXT PRIMARY KEY, ts_ms INTEGER NOT NULL, route_id TEXT NOT NULL, ok INTEGER NOT NULL,
    stems TEXT NOT NULL, decision_id TEXT, session TEXT
) STRICT;
CREATE TABLE texts (
    text_hash TEXT PRIMARY KEY, kind TEXT NOT NULL, text TEXT NOT NULL, expires_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX decisions_session ON decisions (session, ts_ms);
CREATE INDEX decisions_door ON decisions (door, ts_ms);
CREATE INDEX decisions_number ON decisions (writer, seq);
CREATE INDEX events_number ON events (writer, seq);
CREATE INDEX events_type ON events (type, ts_ms);
CREATE INDEX recalls_output ON recalls (output_id);
CREATE INDEX tool_uses_route ON tool_uses (route_id, ts_ms);
CREATE INDEX judge_calls_decision ON judge_calls (decision_id);
CREATE INDEX outputs_used ON outputs (last_used_ms);
"""


def make_version_1(records: Iterable[Record]) -> str:
    """Make it in its place, with these records of a writer ``old``; gives its path."""
    path = places().database
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
    con = sqlite3.connect(path, isolation_level=None)
    con.execute("PRAGMA auto_vacuum=INCREMENTAL")
    con.execute("PRAGMA journal_mode=WAL")
    con.executescript(DDL)
    meta = [("schema_version", "1"), ("created_by", "0.1"), ("install_id", "11" * 16)]
    con.executemany("INSERT INTO meta VALUES (?, ?)", meta)
    con.execute("PRAGMA user_version=1")
    con.execute("BEGIN")
    for seq, record in enumerate(records, 1):
        write(con, prepare(record, "old", seq, Keeper(lambda texts: tuple("hmac:x" for _ in texts))))
    con.execute("COMMIT")
    con.close()
    return path
