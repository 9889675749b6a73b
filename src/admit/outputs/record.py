"""One outputs decision as a record of the ledger. Hashes and counts only: no text of output or task."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from functools import lru_cache
from typing import Any

from admit.core.events import Event, canonical, sha256
from admit.ledger.port import CandidateRow, DecisionRow, Ledger, Record, VerdictRow

from .model import Kept, OutputConfig, OutputResult, RawOutput, Task

MOST_RANGES = 256
GUARD_RULES = ("failure", "summary", "term")


def record(
    result: OutputResult,
    output: RawOutput,
    task: Task,
    session: str | None,
    config: OutputConfig,
    ledger: Ledger,
    profile: str,
) -> Record:
    """The row in `decisions`, its candidates and verdicts where a judge was asked, and its events."""
    decision = result.decision
    now = time.time_ns() // 1_000_000
    command, task_hash = ledger.keyed((output.command or "", task.text))
    row = DecisionRow(
        decision_id=result.decision_id,
        ts_ms=now,
        door="outputs",
        session=session,
        profile=profile if decision is not None else None,
        policy_hash=config_hash(config),
        mode="shadow" if config.mode == "shadow" else "off" if config.mode == "off" else "enforce",
        status=decision.status if decision is not None else "off",
        reason=result.reason or (decision.reason if decision is not None else None) or None,
        unit="chars",
        cap=config.max_kept_chars,
        size_in=result.original_chars,
        size_out=len(result.text),
        size_host=output.host_limit_chars,
        elapsed_ms=result.total_ms,
        judge_ms=result.judge_ms,
        task_hash=task_hash if task.text else None,
        output_id=result.id,
        extra=fields(result, output, config, command if output.command else None),
    )
    if decision is None:
        return Record(row)
    verdicts = Counter(ruling.verdict for ruling in decision.rulings)
    row = row._replace(
        n_gathered=len(decision.plan.ordered),
        n_within=len(decision.plan.asked),
        n_overflow=len(decision.plan.overflow),
        n_admitted=verdicts["admitted"],
        n_blocked=verdicts["blocked"],
        n_unjudged=verdicts["unjudged"],
        n_exempt=verdicts["exempt"],
    )
    asked = {candidate.id for candidate in decision.plan.asked}
    candidates = tuple(
        CandidateRow(
            result.decision_id,
            place,
            candidate.id,
            rank_key=candidate.rank,
            size=candidate.size("chars"),
            within=candidate.id in asked,
        )
        for place, candidate in enumerate(decision.plan.ordered, 1)
    )
    live = "shadow" if config.mode == "shadow" else "live"
    rulings = tuple(
        VerdictRow(
            result.decision_id,
            place,
            live,
            ruling.verdict,
            ruling.would,
            ruling.reason,
            "score" if ruling.p else None,
            ruling.p,
            ruling.value,
        )
        for place, ruling in enumerate(decision.rulings, 1)
    )
    judged = Event(
        secrets.token_hex(16),
        "outputs.judged",
        now,
        {"id": result.id, "chunks": [[*chunk] for chunk in result.chunks]},
        result.decision_id,
        session,
        "outputs",
    )
    return Record(row, candidates, rulings, events=(judged,))


def fields(
    result: OutputResult, output: RawOutput, config: OutputConfig, command: str | None
) -> dict[str, Any]:
    """The door's own fields of a decision (`extra`)."""
    coverage = result.decision.coverage if result.decision is not None else None
    rules = Counter(one.rule for one in result.kept)
    values: dict[str, Any] = {
        "id": result.id,
        "tool": output.tool,
        "command": command,
        "exit_code": output.exit_code,
        "kind": output.kind,
        "mode": result.mode,
        "how": result.how,
        "reason": result.reason,
        "parsed": result.parsed,
        "original_chars": result.original_chars,
        "kept_chars": result.kept_chars,
        "kept_lines": result.kept_lines,
        "shown_chars": len(result.text),
        "host_limit_chars": output.host_limit_chars,
        "saved_chars": result.saved_chars,
        "lines": result.original_lines,
        "gaps": len(result.gaps),
        "kept": [[*one] for one in result.kept[:MOST_RANGES]],
        "notes": list(result.notes),
        "parsers": list(result.parsers),
        "guards": {rule: rules[rule] for rule in GUARD_RULES},
        "chunks": len(result.chunks),
        "judged": coverage.judged if coverage else 0,
        "unjudged": coverage.unjudged if coverage else 0,
        "overflow": coverage.overflow if coverage else 0,
        "dropped_qualifying": dict(result.dropped_qualifying) if result.dropped_qualifying else None,
        "requests": result.requests,
        "judge_ms": result.judge_ms,
        "total_ms": result.total_ms,
        "config_hash": config_hash(config),
    }
    return {name: value for name, value in values.items() if value is not None}


def ranges(extra: Any) -> tuple[Kept, ...]:
    """The kept ranges of a recorded decision."""
    return tuple(Kept(*one) for one in extra.get("kept", ()))


@lru_cache(maxsize=8)
def config_hash(config: OutputConfig) -> str:
    """``sha256:`` of every value of the configuration, defaults included."""
    values = config._asdict() | {"filter": config.filter._asdict()}
    return sha256(canonical(values))
