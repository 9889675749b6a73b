"""One result of the outputs door for people and programs: a line, an explanation, a JSON object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from admit.config.pause import paused
from admit.outputs.model import Kept, OutputConfig, OutputResult
from admit.text.table import table

SCHEMA = 1
MOST_PASSED_OVER = 10


def line(result: OutputResult, config: OutputConfig, *, cut: bool, tool: str = "") -> str:
    """What became of an output, and why, in one line.

    Args:
        result: What the gate decided.
        config: The settings it decided by.
        cut: Whether the text was replaced here; else it was shown whole all the same.
        tool: The tool's name, for the reason `skipped`.
    """
    chars = original_chars(result)
    if result.how in ("local", "judged"):
        shown = len(result.text) if result.changed else result.kept_chars
        seen = f"{shown:,} of {chars:,} characters is what an agent would see: admit show --last"
        return seen if cut else f"nothing cut here; {seen}"
    return f"shown whole: {_why(result, config, chars, tool)}"


def explanation(result: OutputResult) -> str:
    """Each kept range with its rule, and the ten best that did not fit."""
    if not result.kept:
        return f"{result.how}{f' ({result.reason})' if result.reason else ''}: everything is shown"
    best = sorted(result.passed_over, key=lambda one: (-(one.score or 0.0), one.first))[:MOST_PASSED_OVER]
    parts = [table(_rows(result.kept), ("lines", "rule", "score"), right=(0, 2))]
    if best:
        parts.append("The best that did not fit:")
        parts.append(table(_rows(best), ("lines", "rule", "score"), right=(0, 2)))
    return "\n".join(parts)


def as_json(result: OutputResult, *, explain: bool = False) -> dict[str, Any]:
    """The JSON object of one result; `explain` adds what did not fit."""
    coverage = result.decision.coverage if result.decision is not None else None
    lines = result.original_lines or _line_count(result.data)
    value: dict[str, Any] = {
        "schema": SCHEMA,
        "id": result.id,
        "how": result.how,
        "reason": result.reason,
        "changed": result.changed,
        "original_chars": original_chars(result),
        "kept_chars": result.kept_chars or original_chars(result),
        "kept_lines": result.kept_lines or lines,
        "original_lines": lines,
        "gaps": [{"from": gap.first, "to": gap.last, "chars": gap.chars} for gap in result.gaps],
        "kept": _ranges(result.kept),
        "coverage": {
            "judged": coverage.judged if coverage else 0,
            "unjudged": coverage.unjudged if coverage else 0,
            "overflow": coverage.overflow if coverage else 0,
        },
        "dropped_qualifying": dict(result.dropped_qualifying) if result.dropped_qualifying else None,
        "requests": result.requests,
        "judge_ms": result.judge_ms,
        "total_ms": result.total_ms,
        "text": result.text,
    }
    if explain:
        value["passed_over"] = _ranges(result.passed_over[:MOST_PASSED_OVER])
    return value


def original_chars(result: OutputResult) -> int:
    """Characters of the output, also where the gate had no need to count them."""
    return result.original_chars or len(result.text)


def _why(result: OutputResult, config: OutputConfig, chars: int, tool: str) -> str:
    under = f"{chars:,} characters, under the gate of {config.gate_chars:,} (outputs.gate_chars)"
    reasons = {
        "small": under,
        "under_gate": under,
        "off": "outputs.mode is off" if (pause := paused()) is None else f"paused by {pause.by}",
        "skipped": f"{tool or 'the tool'} is in outputs.skip_tools",
        "recall": "Admit itself gave this text",
        "binary": f"binary, {len(result.data):,} bytes",
        "file_read": f"a file that was read, {chars:,} characters",
        "store_failed": "the full copy could not be stored, so nothing may be cut; see admit doctor",
        "saving": f"cutting {chars:,} characters would save too little",
    }
    if result.reason.startswith("internal:"):
        return f"a fault in Admit ({result.reason.removeprefix('internal:')})"
    return reasons.get(result.reason, f"{result.reason or result.how}, {chars:,} characters")


def _rows(ranges: Sequence[Kept]) -> list[list[str]]:
    return [
        [
            f"{one.first:,}" if one.first == one.last else f"{one.first:,}-{one.last:,}",
            one.rule,
            "" if one.score is None else f"{one.score:.2f}",
        ]
        for one in ranges
    ]


def _ranges(ranges: Sequence[Kept]) -> list[dict[str, Any]]:
    return [{"from": one.first, "to": one.last, "rule": one.rule, "score": one.score} for one in ranges]


def _line_count(data: bytes) -> int:
    return data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
