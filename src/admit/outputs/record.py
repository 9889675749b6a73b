"""One outputs decision as a record of the ledger. Hashes and counts only: no text of output or task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from admit import __version__
from admit.core.events import Event, canonical, sha256
from admit.ledger.port import DecisionRow, Ledger, Record
from admit.ledger.record import from_decision, new_id, now_ms

from .model import JudgeProfile, Kept, OutputConfig, OutputResult, RawOutput, Task

MOST_RANGES = 256
GUARD_RULES = ("failure", "summary", "term")


def record(
    result: OutputResult,
    output: RawOutput,
    task: Task,
    session: str | None,
    config: OutputConfig,
    ledger: Ledger,
    profile: JudgeProfile,
) -> Record:
    """The row in `decisions`, what hangs on it where a judge was asked, and its events.

    Of an output that was not stored there are only the faults.
    """
    faults = fault_events(result.id, result.faults, session)
    if not result.id:
        return Record(events=faults)
    verdicts = result.verdicts
    command, task_hash = ledger.keyed((output.command or "", task.text))
    in_shadow = verdicts is not None and verdicts.decision.shadow is not None
    head: dict[str, Any] = {
        "decision_id": result.decision_id,
        "session": session,
        "policy_hash": config_hash(config),
        "mode": "shadow" if config.mode == "enforce" and in_shadow else config.mode,
        "unit": "chars",
        "cap": config.max_kept_chars,
        "size_in": result.original_chars,
        "size_out": len(result.text),
        "size_host": output.host_limit_chars,
        "elapsed_ms": result.total_ms,
        "task_hash": task_hash if task.text else None,
        "output_id": result.id,
    }
    extra = fields(result, output, config, command if output.command else None)
    if verdicts is None:
        fell_back = result.how == "local" and result.reason
        row = DecisionRow(
            ts_ms=now_ms(),
            admit_version=__version__,
            door="outputs",
            status="fallback" if fell_back else "off",
            reason=result.reason or None,
            extra=extra,
            **head,
        )
        return Record(row, events=faults)
    judged = Event(
        new_id(),
        "outputs.judged",
        now_ms(),
        {"id": result.id, "chunks": [[*chunk] for chunk in result.chunks]},
        session=session,
    )
    made = from_decision(
        verdicts.decision,
        door="outputs",
        policy=verdicts.asked.policy,
        reply=verdicts.reply,
        source="shadow" if config.mode == "shadow" else None,
        events=(judged, *faults),
        extra=extra,
        profile=profile.name,
        profile_hash=profile.hash,
        reason=result.reason or verdicts.decision.reason,
        deadline_ms=verdicts.asked.deadline_ms,
        **head,
    )
    # A passage's rank is its weight, then its place; there are no tiers.
    weighed = (one._replace(rank_tier=None, score=(one.rank_key or (None,))[0]) for one in made.candidates)
    return made._replace(candidates=tuple(weighed))


def fault_events(output_id: str, faults: Iterable[tuple[str, str]], session: str | None) -> tuple[Event, ...]:
    """``outputs.fault``, one a fault."""
    return tuple(
        Event(
            new_id(),
            "outputs.fault",
            now_ms(),
            {"id": output_id or None, "fault": fault, "name": name},
            session=session,
            door="outputs",
        )
        for fault, name in faults
    )


def forgot(session: str, cause: str, entries: int) -> Record:
    """``outputs.forgot``: the memory of what a session was shown was emptied."""
    body = {"cause": cause, "entries": entries}
    return Record(events=(Event(new_id(), "outputs.forgot", now_ms(), body, None, session, "outputs"),))


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
        "changed": result.changed,
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
        "masked": (dict(result.verdicts.asked.masked) if result.verdicts is not None else None) or None,
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
