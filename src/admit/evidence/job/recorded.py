"""A job that ended as a record of the ledger: the decision, and an event for each opening or refusal."""

from __future__ import annotations

from collections.abc import Sequence

from admit.core.admission import decide
from admit.core.events import EVENTS, Event
from admit.core.question import Reply
from admit.evidence.job.manifest import Job
from admit.evidence.model import Review
from admit.evidence.planning import policy as policy_of
from admit.evidence.record import review_record
from admit.ledger.evidence_rows import ReadRow
from admit.ledger.port import Record
from admit.ledger.record import new_id

_FIELDS = EVENTS["evidence.read"].fields


def job_record(job: Job, review: Review, reads: Sequence[ReadRow]) -> Record:
    """The record of a job.

    An offer that was served is admitted; one over the budget, or that could not be served, is blocked; one
    that was never opened is ``unjudged`` in the list of offers.

    Args:
        reads: All openings of the attempt, in order.
    """
    served = {row.id for row in reads if row.refused is None}
    core = job.plan.core
    offered = [one for one in core.ordered if not one.exempt]
    core = core._replace(
        asked=tuple(one for one in offered if one.id in served),
        overflow=tuple(one for one in offered if one.id not in served),
    )
    policy = policy_of(job.plan.cap)
    if review.shadow is not None:
        policy = policy._replace(mode="shadow")
    record = review_record(review, decide(core, Reply("judged"), policy), policy, plan=job.plan)
    unread = review.coverage.unread if review.coverage is not None else ()
    unopened = {one.artifact for one in unread if one.reason == "not-opened"}
    assert record.decision is not None
    for offer in record.decision.extra["offers"]:
        if offer["artifact"] in unopened:
            offer["status"] = "unjudged"
    return record._replace(events=(*record.events, *map(_event, reads)))


def _event(row: ReadRow) -> Event:
    body = {name: getattr(row, name) for name in _FIELDS}
    return Event(new_id(), "evidence.read", row.ts_ms, body, None, None, "evidence")
