"""What the record says of a session that this process did not see from its start."""

from __future__ import annotations

from typing import NamedTuple

from admit.ledger.port import Ledger

from .memory import Memory

MOST_DECISIONS = 1_000
"""Decisions that are looked through, from the newest back."""

FRESH_STARTS = ("startup", "clear", "compact")
"""How a session starts with a context of its own; after a resume or a fork the old one is in view."""


class Left(NamedTuple):
    """Where the record left the main agent, in tokens; None is unknown."""

    tokens: int | None = None
    window: int | None = None


def take_up(memory: Memory, ledger: Ledger, session: str) -> Left:
    """Restore what was shown in a session since its context began, and say where it stood.

    Raises:
        LedgerError: The record cannot be read.
    """
    left = Left()
    for row in ledger.query(door="guidance", session=session, limit=MOST_DECISIONS, parts=False):
        decision = row.decision
        if left.tokens is None and decision.agent is None:
            left = Left(_count(decision.extra.get("tokens_used")), _count(decision.extra.get("window")))
        with_text = decision.size_out and decision.delivered != "no"
        for view in ledger.query(decision_id=decision.decision_id) if with_text else ():
            for event in view.events:
                if event.type == "guidance.shown":
                    context = (session, str(event.body.get("agent") or ""))
                    position = _count(event.body.get("token_position"))
                    memory.restore(context, str(event.body.get("id")), position)
        cause = decision.extra.get("state", FRESH_STARTS[0])
        if decision.host_event == "SessionStart" and cause in FRESH_STARTS:
            break
    return left


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
