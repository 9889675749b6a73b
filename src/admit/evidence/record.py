"""One review as a record of the ledger: ids, paths, hashes and numbers; no text of what was reviewed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from admit.core.decision import Decision
from admit.core.events import Event
from admit.core.policy import Policy
from admit.core.question import Reply
from admit.evidence.as_json import coverage as coverage_json
from admit.evidence.model import SCAFFOLD, Finding, Item, Review
from admit.evidence.plan import Plan
from admit.ledger.port import Record
from admit.ledger.record import from_decision, new_id, now_ms


def review_record(
    review: Review,
    decision: Decision,
    policy: Policy,
    *,
    plan: Plan | None = None,
    items: Sequence[Item] = (),
    reply: Reply | None = None,
    questions: int = 0,
    deadline_ms: int | None = None,
    profile_hash: str = "",
) -> Record:
    """The row in `decisions`, the offers as its candidates, and an event for each text a judge was served.

    Args:
        plan: None where the note could not be planned.
        items: What was served, in order.
        reply: Of a judge; None where none was asked.
        questions: How many it was asked, a count.
    """
    offers = plan.offers if plan is not None else ()
    kinds = {one.id: one.id if one.exempt else "artifact" for one in decision.plan.ordered}
    return from_decision(
        decision,
        door="evidence",
        policy=policy,
        reply=reply,
        questions=questions,
        kind=kinds,
        size_unit="bytes",
        spans={
            one.id: {"path": one.artifact, "route": one.route, "links": list(one.links)} for one in offers
        },
        events=tuple(_read(review, n, item) for n, item in enumerate(items, 1)),
        extra=_extra(review, decision, plan),
        profile=review.judge or None,
        profile_hash=profile_hash or None if reply is not None else None,
        policy_hash=review.criterion_sha256 or None,
        deadline_ms=deadline_ms if reply is not None else None,
        size_out=review.coverage.bytes_read if review.coverage is not None else 0,
        elapsed_ms=review.elapsed_ms,
    )


def _extra(review: Review, decision: Decision, plan: Plan | None) -> dict[str, Any]:
    status = {ruling.id: ruling.would or ruling.verdict for ruling in decision.rulings}
    offers = plan.offers if plan is not None else ()
    return {
        "pair": review.pair._asdict(),
        "attempt": review.attempt,
        "verdict": review.verdict,
        "reason": review.reason,
        "plan_hash": review.plan_hash,
        "pack_hash": review.pack_hash,
        "note_sha256": review.note_sha256,
        "criterion_sha256": review.criterion_sha256,
        "order": plan.order if plan is not None else None,
        "scaffold": plan.scaffold if plan is not None else SCAFFOLD,
        "offers": [
            {
                "artifact": one.artifact,
                "links": list(one.links),
                "slots": one.slots,
                "bytes": one.bytes,
                "sha256": one.sha256,
                "route": one.route,
                "status": status.get(one.id),
            }
            for one in offers
        ],
        "coverage": None if review.coverage is None else coverage_json(review.coverage),
        "findings": [_finding(one) for one in review.findings],
        "judge": review.judge,
        "self_reported_model": review.model,
        "input_tokens": review.input_tokens,
        "output_tokens": review.output_tokens,
        "elapsed_ms": review.elapsed_ms,
        "job": review.job,
    }


def _finding(one: Finding) -> Mapping[str, Any]:
    """Where it is and of what kind. An agent's words may quote what it read, so they stay out."""
    kept = {name: getattr(one, name) for name in ("rule", "severity", "line", "block", "artifact", "origin")}
    return kept if one.origin == "agent" else {**kept, "text": one.text}


def _read(review: Review, n: int, item: Item) -> Event:
    body = {
        "job": review.job,
        "attempt": review.attempt,
        "n": n,
        "id": item.offer,
        "artifact": item.artifact,
        "path": item.path,
        "shape": item.shape,
        "shown_sha256": item.shown_sha256,
        "bytes": len(item.text.encode()),
        "refused": None,
        "via": "judge",
    }
    return Event(new_id(), "evidence.read", now_ms(), body, None, None, "evidence")
