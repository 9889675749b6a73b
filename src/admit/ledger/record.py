"""From a door's decision to the record of it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from admit import __version__
from admit.core.candidate import Candidate
from admit.core.decision import Decision, Plan
from admit.core.events import Event
from admit.core.policy import Policy
from admit.core.question import Reply

from .judge_rows import call_rows, judge_events, judge_extra
from .port import CallRow, CandidateRow, DecisionRow, Record, VerdictRow
from .rows import new_id


def now_ms() -> int:
    """UTC epoch milliseconds, for display."""
    return time.time_ns() // 1_000_000


def from_decision(
    decision: Decision,
    *,
    door: str,
    policy: Policy,
    reply: Reply | None = None,
    questions: int | None = None,
    source: str | None = None,
    kind: str | Mapping[str, str] = "",
    size_unit: str = "chars",
    text_hashes: Mapping[str, str] | None = None,
    spans: Mapping[str, Any] | None = None,
    events: Sequence[Event] = (),
    extra: Mapping[str, Any] | None = None,
    **head: Any,
) -> Record:
    """The record of one decision of any door.

    Args:
        decision: What the pipeline decided.
        policy: The policy it decided by; the first limit of its cap is the record's `unit` and `cap`.
        reply: The judge's reply, for its calls, its time, what happened on the way (`judge_events`) and the
            kind of each answer.
        questions: How many the judge was asked, a count; None is one a candidate.
        source: ``live`` or ``shadow`` where not the decision says it.
        kind: What the candidates are, one word for all or by id.
        size_unit: The unit of each candidate's `size`, and of `size_in`.
        text_hashes: ``hmac:`` of each candidate's text, by id (`Ledger.keyed`).
        spans: Where each candidate comes from, by id.
        events: Further events of this decision; the ledger gives them its id and its door.
        extra: The door's own fields. What the door's budget withheld, and the order of what is shown where
            it is not the admission order, are added as ``withheld`` and ``shown`` (by place), and what
            `judge_extra` says.
        **head: Further columns of `DecisionRow`, such as ``session``, ``deadline_ms`` or ``decision_id``.

    Raises:
        TypeError: `head` names a column that there is not.
    """
    unknown = set(head) - set(DecisionRow._fields)
    if unknown:
        raise TypeError(f"no column of a decision: {', '.join(sorted(unknown))}")
    plan = decision.plan
    decision_id = head.pop("decision_id", None) or new_id()
    places = {candidate.id: ord for ord, candidate in enumerate(plan.ordered, 1)}
    unit = next(iter(policy.cap.limits), "count")
    calls = call_rows(decision_id, reply)
    now = now_ms()
    verdicts = {ruling.verdict for ruling in decision.rulings}
    counts = {word: sum(one.verdict == word for one in decision.rulings) for word in sorted(verdicts)}
    row = DecisionRow(
        decision_id=decision_id,
        ts_ms=now,
        admit_version=__version__,
        door=door,
        mode=policy.mode if decision.shadow is None else "shadow",
        status=decision.status,
        reason=decision.reason,
        unit=unit,  # type: ignore[arg-type]
        cap=policy.cap.limits.get(unit),
        threshold=policy.threshold,
        n_gathered=len(plan.ordered),
        n_within=len(plan.asked),
        n_overflow=len(plan.overflow),
        n_admitted=counts.get("admitted", 0),
        n_blocked=counts.get("blocked", 0),
        n_unjudged=counts.get("unjudged", 0),
        n_exempt=counts.get("exempt", 0),
        size_in=sum(candidate.size(size_unit) for candidate in plan.ordered),
        judge_ms=reply.elapsed_ms if reply is not None else None,
        extra={
            **_display(decision, places),
            **judge_extra(reply, decision.shadow),
            **(extra or {}),
        },
    )._replace(**head)
    return Record(
        decision=row,
        candidates=tuple(
            _candidates(plan, decision_id, places, kind, size_unit, text_hashes or {}, spans or {})
        ),
        verdicts=tuple(_verdicts(decision, decision_id, places, policy, reply, calls, source)),
        calls=calls,
        events=(
            *events,
            *judge_events(
                reply,
                questions=len(plan.asked) if questions is None else questions,
                deadline_ms=row.deadline_ms,
                ts_ms=now,
                session=row.session,
            ),
        ),
    )


def _display(decision: Decision, places: Mapping[str, int]) -> dict[str, Any]:
    shown = [places[one] for one in decision.shown]
    extra: dict[str, Any] = {}
    if shown != sorted(shown):
        extra["shown"] = shown
    if decision.withheld:
        extra["withheld"] = [[places[one], reason] for one, reason in decision.withheld if one in places]
    return extra


def _candidates(
    plan: Plan,
    decision_id: str,
    places: Mapping[str, int],
    kind: str | Mapping[str, str],
    size_unit: str,
    text_hashes: Mapping[str, str],
    spans: Mapping[str, Any],
) -> Iterable[CandidateRow]:
    over = {candidate.id for candidate in plan.overflow}
    for ord, candidate in enumerate(plan.ordered, 1):
        yield CandidateRow(
            decision_id=decision_id,
            ord=ord,
            candidate_id=candidate.id,
            kind=(kind if isinstance(kind, str) else kind.get(candidate.id, "")) or None,
            text_hash=text_hashes.get(candidate.id),
            rank_tier=_tier(candidate),
            rank_key=candidate.rank,
            score=candidate.rank[-1] if candidate.rank else None,
            parent_ord=places.get(candidate.parent) if candidate.parent is not None else None,
            size=candidate.size(size_unit),
            within=candidate.id not in over,
            span=spans.get(candidate.id),
        )


def _tier(candidate: Candidate) -> int | None:
    """The tier is a whole number before a score; a rank of one element is a score alone."""
    return (
        int(candidate.rank[0]) if len(candidate.rank) > 1 and float(candidate.rank[0]).is_integer() else None
    )


def _verdicts(
    decision: Decision,
    decision_id: str,
    places: Mapping[str, int],
    policy: Policy,
    reply: Reply | None,
    calls: Sequence[CallRow],
    source: str | None,
) -> Iterable[VerdictRow]:
    # Without a threshold the questions were not about the candidates.
    given = reply.answers if reply is not None and policy.threshold is not None else ()
    answers = {answer.id: answer for answer in given}
    asked = {candidate.id: f"q{k}" for k, candidate in enumerate(decision.plan.asked, 1)}
    # Which of several calls answered is not known here.
    call_id = calls[0].call_id if len(calls) == 1 else None
    for ruling in decision.rulings:
        answer = answers.get(asked.get(ruling.id, ""))
        kind = answer.kind if answer is not None else None
        yield VerdictRow(
            decision_id=decision_id,
            ord=places[ruling.id],
            source=source or ("live" if decision.shadow is None else "shadow"),
            verdict=ruling.verdict,
            would=ruling.would,
            reason=ruling.reason,
            kind=kind,
            p=ruling.p,
            expectation=ruling.value if kind == "score" else None,
            threshold=policy.threshold,
            ancestor_ord=places.get(ruling.ancestor) if ruling.ancestor is not None else None,
            call_id=call_id if ruling.p else None,
        )
