"""Filtered beside excerpted outputs, from the record and from what agents' sessions show."""

from __future__ import annotations

import json

from transcripts.recorded import Claude, build_log

from admit.ledger.memory import MemoryLedger
from admit.ledger.port import DecisionRow, Recall, Record
from admit.outputs.gate import OutputGate
from admit.outputs.model import OutputConfig, RawOutput, Task
from admit.report.outputs_report import as_json, render, report_rows
from admit.testing import MemoryOutputs
from admit.transcripts import read_sessions
from admit.transcripts.find import find


def decision(number: int, how: str, **fields) -> Record:
    extra = {"how": how, "original_chars": 20_000, "kept_chars": 5_000, "requests": fields.pop("requests", 0)}
    extra["kept_chars"] = fields.pop("kept_chars", 5_000)
    output_id = fields.pop("output_id", f"o_{number:012x}")
    return Record(
        DecisionRow(
            f"{number:032x}", door="outputs", output_id=output_id, elapsed_ms=10.0, extra=extra, **fields
        )
    )


def rows_of(*records: Record):
    ledger = MemoryLedger()
    for record in records:
        ledger.append(record)
    return report_rows(decisions=ledger.query(door="outputs"))


def recall(name: str, output_id: str) -> Record:
    return Record(recalls=(Recall(name, output_id, 0, "range", "cli", 100),))


def test_each_kind_has_its_own_row_and_nothing_is_mixed():
    filtered, excerpt, other = rows_of(
        decision(1, "judged", status="judged", judge_ms=500.0, requests=3, kept_chars=4_000),
        decision(2, "local"),
        decision(3, "local", status="fallback", reason="deadline"),
        decision(4, "local", status="fallback", reason="no_task"),
        decision(5, "kept", reason="saving", kept_chars=20_000),
        decision(6, "exempt", reason="under_gate", kept_chars=0),
        recall("r1", f"o_{2:012x}"),
        recall("r2", f"o_{2:012x}"),
        recall("r3", f"o_{3:012x}"),
    )
    assert filtered[:7] == ("filtered", 1, 1, 0, 0, 20_000, 4_000)
    assert (filtered.requests, filtered.judge_ms, filtered.total_ms, filtered.fallbacks) == (
        3,
        500.0,
        10.0,
        {},
    )
    assert excerpt[:7] == ("excerpt", 3, 3, 2, 3, 60_000, 15_000)
    assert excerpt.fallbacks == {"deadline": 1, "no_task": 1} and excerpt.judge_ms == 0.0
    assert other[:7] == ("other", 2, 2, 0, 0, 40_000, 40_000) and other.fallbacks == {}


def test_an_output_decided_about_twice_is_one_output_and_its_recalls_count_once():
    rows = rows_of(
        decision(1, "exempt", output_id="o_1"),
        decision(2, "local", output_id="o_1"),
        decision(3, "local", output_id="o_1"),
        recall("r1", "o_1"),
    )
    assert [(row.outputs, row.decisions, row.recalls) for row in rows] == [(0, 0, 0), (1, 2, 1), (0, 1, 0)]


def test_what_was_only_computed_in_shadow_was_not_shown():
    rows = rows_of(decision(1, "judged", mode="shadow"), decision(2, "local", mode="shadow"))
    assert [row.outputs for row in rows] == [0, 0, 2]


def test_what_the_gate_records_is_what_the_rows_count():
    ledger = MemoryLedger()
    gate = OutputGate(OutputConfig(), store=MemoryOutputs(ledger), ledger=ledger)
    for seed in (1, 2):
        gate.admit(RawOutput(build_log(seed, 400).encode(), 1), Task("why does it fail"))
    gate.admit(RawOutput(build_log(3, 60).encode(), 0), Task("why does it fail"))
    filtered, excerpt, other = report_rows(decisions=ledger.query(door="outputs"))
    assert (filtered.outputs, excerpt.outputs, other.outputs) == (0, 2, 1)
    assert 8_000 < excerpt.kept_chars <= 12_000 < excerpt.original_chars


def through_admit(tmp_path) -> list:
    """A session in which Admit stood: real renders of the gate, one recall, one path, one whole output."""
    gate = OutputGate(OutputConfig(), store=MemoryOutputs(), key=b"k")
    file = Claude()
    file.user("Why does the build fail at all?")
    ids = []
    for seed in (1, 2, 3):
        shown = gate.admit(RawOutput(build_log(seed, 400).encode(), 1), Task("why"))
        file.run(f"make {seed}", shown.text)
        ids.append(shown.id)
    judged = file.records[-1]["message"]["content"][0]
    judged["content"] = judged["content"].replace(" Gaps are", " A judge scored 24 passages. Gaps are", 1)
    file.run(
        f"admit recall {ids[0]} --lines 1-9", f"[admit 00000000] lines 1-9 of 400 of {ids[0]}, verbatim\nx"
    )
    file.run(f"admit recall {ids[0]} --search x", "y" * 30)
    file.run(f"admit why {ids[1]}", "a table")
    file.run(f"tail -5 ~/.local/state/admit/outputs/ab/{ids[2][2:]}{'0' * 52}.txt", "z")
    file.run("cat big", build_log(9, 60))
    file.write(tmp_path / "projects")
    return report_rows(sessions=read_sessions(find([str(tmp_path)], 14)))


def test_sessions_show_what_was_kept_and_what_was_fetched_again(tmp_path):
    filtered, excerpt, other = through_admit(tmp_path)
    assert (filtered.outputs, filtered.recalled, filtered.recalls) == (1, 1, 1)
    assert (excerpt.outputs, excerpt.recalled, excerpt.recalls) == (2, 1, 2)
    assert excerpt.kept_chars < 13_000 and excerpt.original_chars > 40_000
    assert (other.outputs, other.kept_chars) == (1, other.original_chars)


def test_what_sessions_cannot_know_is_unknown_and_not_nothing(tmp_path):
    rows = through_admit(tmp_path)
    assert {(row.requests, row.judge_ms, row.total_ms, row.fallbacks) for row in rows} == {(None,) * 4}
    assert "unknown" in render(rows) and as_json(rows)[0]["requests"] is None


def test_a_tool_call_with_the_id_is_a_recall(tmp_path):
    gate = OutputGate(OutputConfig(), store=MemoryOutputs(), key=b"k")
    shown = gate.admit(RawOutput(build_log(1, 400).encode(), 1), Task("why"))
    file = Claude()
    file.run("make", shown.text)
    file.result(file.call("mcp__admit__admit_recall", {"id": shown.id, "whole": True}), "all of it")
    file.write(tmp_path / "projects")
    rows = report_rows(sessions=read_sessions(find([str(tmp_path)], 14)))
    assert (rows[1].recalled, rows[1].outputs) == (1, 1)


def test_the_table_says_how_often_the_agent_went_back():
    records = [decision(n, "local", reason="deadline" if n % 2 else None) for n in range(43)]
    recalls = [recall(f"r{n}", f"o_{n:012x}") for n in range(8)]
    text = render(rows_of(*records, *recalls))
    assert "The agent went back for 8 of 43 excerpted outputs: 19 % (10 to 33), 95 % interval." in text
    assert "Fallbacks to the excerpt: 21 deadline." in text


def test_nothing_recorded_gives_three_empty_rows():
    rows = report_rows()
    assert [row.outputs for row in rows] == [0, 0, 0] and render(rows).count("\n") == 3
    assert json.dumps(as_json(rows)).count("recall_rate") == 3
