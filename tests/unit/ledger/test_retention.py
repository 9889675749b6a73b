"""What is deleted in time or for size, in chunks, and that nothing deleted looks like a loss."""

from __future__ import annotations

import sqlite3
import time

import pytest

from admit.ledger import retention
from admit.ledger.database import lost_by_writer, open_writer
from admit.ledger.places import places
from admit.ledger.port import OutputRow, Record, ToolUse
from admit.ledger.recover import OwnWriter
from admit.ledger.retention import DAY_MS, due, next_run_ms, prune
from admit.ledger.sqlite import SqliteLedger

from .samples import event, recall, record, rows

NOW = 2_000 * DAY_MS


@pytest.fixture
def con(ledger):
    """A connection beside a ledger with one decision a day for 20 days."""
    for day in range(20):
        ledger.append(record(f"d{day:02}", ts_ms=NOW - day * DAY_MS)._replace(events=()))
        ledger.append(Record(events=(event(f"e{day:02}", ts_ms=NOW - day * DAY_MS),)))
    ledger.flush(10_000)
    opened = open_writer(places().database, 1_000)
    yield opened
    opened.close()


def pruned(con: sqlite3.Connection, config: dict[str, object], **more):
    return prune(con, NOW, config, event=OwnWriter(None).record, **more)


def left(con: sqlite3.Connection, table: str = "decisions", column: str = "decision_id") -> list[str]:
    return [row[0] for row in con.execute(f"SELECT {column} FROM {table} ORDER BY 1")]


def test_decisions_and_events_past_their_days_go_with_all_that_hangs_on_them(con):
    report = pruned(con, {"ledger.retain_days": 5})
    assert left(con) == [f"d{day:02}" for day in range(6)]
    assert [one for one in left(con, "events", "event_id") if len(one) == 3] == [f"e{d:02}" for d in range(6)]
    for table in ("candidates", "verdicts", "judge_calls"):
        assert set(left(con, table)) == {f"d{day:02}" for day in range(6)}
    # 14 decisions with 2 candidates, 2 verdicts and 1 call each, and 14 events
    assert report.removed == 14 * 6 + 14
    ((body,),) = con.execute("SELECT body FROM events WHERE type = 'ledger.pruned'").fetchall()
    assert f'"rows":{report.removed}' in body


def test_nothing_deleted_is_a_gap(con):
    pruned(con, {"ledger.retain_days": 5})
    assert lost_by_writer(con) == {}
    con.execute("DELETE FROM decisions WHERE decision_id = 'd03'")
    assert list(lost_by_writer(con).values()) == [1]


def test_a_number_whose_event_is_still_there_is_not_gone(ledger):
    rec = record("d1", ts_ms=NOW - 9 * DAY_MS)._replace(events=(event("late", ts_ms=NOW),))
    ledger.append(rec)
    ledger.flush(5_000)
    con = open_writer(places().database, 1_000)
    pruned(con, {"ledger.retain_days": 5})
    assert left(con) == []
    assert con.execute("SELECT count(*) FROM meta WHERE key LIKE 'gone:%'").fetchone() == (0,)
    assert lost_by_writer(con) == {}
    con.close()


def test_the_account_of_a_writer_of_whom_nothing_is_left_is_closed(con):
    pruned(con, {"ledger.retain_days": 5})
    assert con.execute("SELECT count(*) FROM meta WHERE key LIKE 'gone:%'").fetchone() == (1,)
    prune(con, NOW + 100 * DAY_MS, {"ledger.retain_days": 5}, event=OwnWriter(None).record)
    assert con.execute("SELECT count(*) FROM meta WHERE key LIKE 'gone:%'").fetchone() == (0,)


def test_over_the_size_whole_days_go_the_oldest_first(con):
    used = retention.used_bytes(con)
    for day in range(20):
        con.execute(
            "UPDATE decisions SET extra = ? WHERE decision_id = ?", (f'"{"x" * 20_000}"', f"d{day:02}")
        )
    report = pruned(con, {"ledger.max_bytes": used + 200_000})
    kept = left(con)
    assert kept == [f"d{day:02}" for day in range(len(kept))] and 0 < len(kept) < 20
    assert retention.used_bytes(con) <= used + 200_000
    assert report.bytes > 0 and report.kept_bytes <= used + 200_000


def test_the_room_is_given_back(con):
    before = con.execute("PRAGMA page_count").fetchone()[0]
    for day in range(20):
        con.execute(
            "UPDATE decisions SET extra = ? WHERE decision_id = ?", (f'"{"x" * 50_000}"', f"d{day:02}")
        )
    assert con.execute("PRAGMA page_count").fetchone()[0] > before + 200
    pruned(con, {"ledger.retain_days": 1})
    assert con.execute("PRAGMA page_count").fetchone()[0] <= before + 30
    assert con.execute("PRAGMA freelist_count").fetchone() == (0,)


def test_replies_go_before_their_decisions_and_leave_a_mark(con):
    pruned(con, {"ledger.reply_days": 10})
    kept = dict(con.execute("SELECT decision_id, reply FROM judge_calls").fetchall())
    marks = dict(con.execute("SELECT decision_id, reply_dropped FROM judge_calls").fetchall())
    assert {name for name, reply in kept.items() if reply is not None} == {f"d{day:02}" for day in range(11)}
    assert {name for name, mark in marks.items() if mark} == {f"d{day:02}" for day in range(11, 20)}
    assert len(left(con)) == 20


def test_of_tool_uses_the_newest_30_of_a_route_stay_and_none_past_its_days(ledger):
    for k in range(40):
        ledger.tool_use(ToolUse(f"u{k:02}", NOW, "route", True))
    ledger.tool_use(ToolUse("old", NOW - 400 * DAY_MS, "other", True))
    ledger.flush(5_000)
    con = open_writer(places().database, 1_000)
    pruned(con, {})
    assert left(con, "tool_uses", "use_id") == [f"u{k:02}" for k in range(10, 40)]
    con.close()


def test_texts_past_their_time_recalls_and_rows_of_long_gone_outputs_go(ledger):
    old = NOW - 400 * DAY_MS
    ledger.append(Record(recalls=(recall("r1", "o_1", ts_ms=old), recall("r2", "o_1", ts_ms=NOW))))
    ledger.append(
        Record(outputs=(OutputRow("o_1", "1", 1, gone_ms=old), OutputRow("o_2", "2", 1, gone_ms=NOW)))
    )
    ledger.flush(5_000)
    con = open_writer(places().database, 1_000)
    con.execute("INSERT INTO texts VALUES ('a', 'task', 'x', ?), ('b', 'task', 'y', ?)", (NOW - 1, NOW + 1))
    pruned(con, {})
    assert left(con, "recalls", "recall_id") == ["r2"]
    assert left(con, "outputs", "output_id") == ["o_2"]
    assert left(con, "texts", "text_hash") == ["b"]
    con.close()


def test_work_that_was_left_off_is_taken_up_again(con, monkeypatch):
    monkeypatch.setattr(retention, "CHUNK_ROWS", 3)
    turns = iter([False] * 6)
    pruned(con, {"ledger.retain_days": 5}, leave_off=lambda: next(turns, True))
    assert 6 < len(left(con)) < 20
    assert due(con, NOW)
    pruned(con, {"ledger.retain_days": 5})
    assert len(left(con)) == 6
    assert next_run_ms(con) == NOW + DAY_MS and not due(con, NOW) and due(con, NOW + DAY_MS)


def test_a_ledger_at_rest_prunes_by_itself(con, monkeypatch):
    monkeypatch.setattr("admit.ledger.sqlite.IDLE_S", 0.05)
    ledger = SqliteLedger({"ledger.retain_days": 1})
    ledger.append(record("today", ts_ms=10**15))
    ledger.flush(5_000)
    for _ in range(200):
        if rows("SELECT 1 FROM meta WHERE key = 'pruned_ms'"):
            break
        time.sleep(0.02)
    assert left(con) == ["today"]
    ledger.close()


def test_what_the_lab_opened_stays_in_the_record_whatever_its_age_and_size(ledger, con):
    opened = event("opened", ts_ms=NOW - 900 * DAY_MS)._replace(type="lab.surface_opened")
    ledger.append(Record(events=(opened,)))
    ledger.flush(10_000)
    pruned(con, {"ledger.retain_days": 1, "ledger.max_bytes": 1})
    assert "opened" in left(con, "events", "event_id") and left(con) == []
