"""One scan as a record of the ledger: hashes, ids and numbers; no prompt and no body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from admit.core.events import Event, canonical, sha256
from admit.core.policy import Policy
from admit.core.question import Reply
from admit.ledger.port import Ledger, Record
from admit.ledger.record import from_decision, new_id, now_ms

from .choose import TOOL_LANES
from .judging import GateJudge
from .model import GuidanceResult, Hit, Outcome, Surface
from .settings import GateSettings

MOST_SPAN = 120
MOST_IDS = 200
COUNTED_ONLY = frozenset(("no_trigger", "below_threshold", "out_of_scope", "precondition", "envelope"))
"""Stages of which a record holds the count and not the ids."""


def scan_record(
    result: GuidanceResult,
    surface: Surface,
    hits: Mapping[str, Hit],
    policy: Policy,
    reply: Reply | None,
    ledger: Ledger,
    judge: GateJudge,
    settings: GateSettings,
    *,
    index_digest: str,
    elapsed_ms: float,
) -> Record:
    """The row in `decisions`, its candidates and verdicts, and the events of the gate."""
    decision = result.decision
    if decision is None:
        raise ValueError("only a scan that decided is recorded")
    asked = decision.status not in ("off", "idle")
    (task_hash,) = ledger.keyed((surface.text,))
    return from_decision(
        decision,
        door="guidance",
        policy=policy,
        reply=reply,
        kind={name: hit.snippet.kind for name, hit in hits.items()},
        spans={name: _span(hit) for name, hit in hits.items()},
        events=_events(result, surface, policy, reply, settings),
        extra=_extra(result, surface, policy, settings),
        decision_id=result.decision_id,
        host_event=surface.hook_event or None,
        session=surface.session,
        agent=surface.agent,
        project=surface.cwd or None,
        profile=judge.name or None if asked else None,
        profile_hash=judge.profile_hash or None if asked else None,
        policy_hash=sha256(canonical(_policy(policy, settings))),
        gather_rev=index_digest,
        deadline_ms=judge.timeout_ms if asked else None,
        reason=result.gate.reason,
        size_out=result.budget[0],
        elapsed_ms=elapsed_ms,
        task_hash=task_hash if surface.text else None,
    )


def shown_record(
    result: GuidanceResult, surface: Surface, shown: tuple[str, ...], again: frozenset[str]
) -> Record:
    """What the host has: one `guidance.shown` a snippet.

    Args:
        shown: The ids that were delivered.
        again: Of these, the ids that were shown in this context before.
    """
    outcomes = {one.id: one for one in result.outcomes}
    events = tuple(
        _event("guidance.shown", surface, result, _shown_body(outcomes[name], surface, result, name in again))
        for name in shown
    )
    return Record(events=events)


def _shown_body(outcome: Outcome, surface: Surface, result: GuidanceResult, again: bool) -> dict[str, Any]:
    hit = outcome.hit
    body: dict[str, Any] = {"scan_id": result.result_id, "id": outcome.id, "again": again}
    if hit is not None:
        body |= {
            "digest": hit.snippet.digest,
            "root": hit.snippet.root,
            "trigger": hit.trigger.kind,
            "span": hit.span[:MOST_SPAN],
            "p": hit.score,
            "chars": hit.snippet.chars,
        }
    body |= {"token_position": surface.tokens_used, "agent": surface.agent}
    return {name: value for name, value in body.items() if value is not None}


def _span(hit: Hit) -> dict[str, Any]:
    """Where a candidate comes from."""
    return {
        "digest": hit.snippet.digest,
        "trigger": hit.trigger.kind,
        "span": hit.span[:MOST_SPAN],
        "p": hit.score,
    }


def _policy(policy: Policy, settings: GateSettings) -> dict[str, Any]:
    return {
        "max_candidates": policy.cap.limits.get("count"),
        "overflow": policy.overflow,
        "fill": policy.fill,
        "turns": settings.turns,
        "threshold": policy.threshold,
    }


def _extra(
    result: GuidanceResult, surface: Surface, policy: Policy, settings: GateSettings
) -> dict[str, Any]:
    stages: dict[str, list[str]] = {}
    for outcome in result.outcomes:
        stages.setdefault(outcome.stage, []).append(outcome.id)
    named = {stage: ids[:MOST_IDS] for stage, ids in stages.items() if stage not in COUNTED_ONLY}
    values = {
        "scan_id": result.result_id,
        "lane": surface.lane,
        "state": surface.state or None,
        "matcher": result.matcher,
        "window": surface.window or settings.window_default,
        "tokens_used": surface.tokens_used,
        "estimated": surface.estimated or None,
        "stages": dict(sorted(named.items())),
        "counts": {stage: len(ids) for stage, ids in sorted(stages.items())},
        "policy": _policy(policy, settings),
        "gate": {"mode": result.gate.mode, "judged": result.gate.judged, "unjudged": result.gate.unjudged},
        "chars_shown": result.budget[0],
        "budget": result.budget[1],
    }
    return {name: value for name, value in values.items() if value is not None}


def _events(
    result: GuidanceResult, surface: Surface, policy: Policy, reply: Reply | None, settings: GateSettings
) -> list[Event]:
    """What the gate has to say: over the cap, fallen back, held, over the turn's count."""
    decision = result.decision
    events: list[Event] = []
    if decision is None:
        return events

    def note(type: str, **body: Any) -> None:
        events.append(_event(type, surface, result, {"scan_id": result.result_id, **body}))

    if decision.status not in ("off", "idle") and decision.plan.overflow:
        note(
            "guidance.gate_capped",
            judged=len(decision.plan.asked),
            unjudged=len(decision.plan.overflow),
            unjudged_ids=[one.id for one in decision.plan.overflow],
            max_candidates=policy.cap.limits.get("count"),
            fill=policy.fill,
            overflow=policy.overflow,
        )
    if decision.status == "fallback":
        ms = {"ms": reply.elapsed_ms} if reply is not None else {}
        note("guidance.gate_fallback", reason=decision.reason, candidates=len(decision.plan.asked), **ms)
    held = [one.id for one in result.outcomes if one.stage == "held_refire"]
    if held:
        note("guidance.held", ids=held[:MOST_IDS], position=surface.tokens_used)
    capped = [one.id for one in result.outcomes if one.stage == "turn_cap"]
    if capped:
        limit = settings.max_per_tool_call if surface.lane in TOOL_LANES else settings.max_per_turn
        note("guidance.turn_capped", ids=capped[:MOST_IDS], limit=limit, count=len(capped))
    return events


def _event(type: str, surface: Surface, result: GuidanceResult, body: Mapping[str, Any]) -> Event:
    return Event(new_id(), type, now_ms(), body, result.decision_id or None, surface.session, "guidance")
