"""A judge's reply as rows of the record, the same at every door: its calls, and what happened on the way."""

from __future__ import annotations

from collections import Counter
from typing import Any

from admit.core.events import Event
from admit.core.question import Reply

from .rows import CallRow, new_id


def call_rows(decision_id: str, reply: Reply | None) -> tuple[CallRow, ...]:
    """One row a transmission, in the order of the reply, those that were not sent included."""
    calls = reply.calls if reply is not None else ()
    return tuple(
        CallRow(call_id=f"{decision_id}.{k}", decision_id=decision_id, **call._asdict())
        for k, call in enumerate(calls, 1)
    )


def judge_events(
    reply: Reply | None,
    *,
    questions: int,
    deadline_ms: int | None,
    ts_ms: int,
    session: str | None = None,
) -> tuple[Event, ...]:
    """``judge.fallback`` where the ask ended without answers, then the reply's notes.

    The ledger gives them the decision's id and door.

    Args:
        questions: How many the ask held, a count.
        deadline_ms: Of the ask, in ms; None is unknown.
    """
    if reply is None:
        return ()
    bodies = list(reply.notes)
    if reply.status == "fallback":
        body = {
            "reason": reply.reason or "internal",
            "elapsed_ms": reply.elapsed_ms,
            "deadline_ms": deadline_ms,
            "questions": questions,
        }
        bodies.insert(0, ("judge.fallback", body))
    return tuple(Event(new_id(), type, ts_ms, body, session=session) for type, body in bodies)


def judge_extra(reply: Reply | None, shadow: str | None = None) -> dict[str, Any]:
    """What a decision says of its judge beside the calls; empty where there is nothing to say.

    Returns:
        ``shadow``: why the answers did not act; ``quirks``: harmless oddities; ``defects``: how many answers
        each defect spoiled.
    """
    if reply is None:
        return {}
    defects = Counter(answer.defect for answer in reply.answers if answer.defect is not None)
    said = {"shadow": shadow, "quirks": list(reply.quirks), "defects": dict(sorted(defects.items()))}
    return {name: value for name, value in said.items() if value}
