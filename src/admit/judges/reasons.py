"""Whether anything was sent when an ask fell back; the reasons themselves are the core's."""

from __future__ import annotations

from typing import Literal

from admit.core.reasons import (
    ANSWER_REASONS,
    AT_THE_CALL,
    BEFORE_SENDING,
    DEFECTS,
    NOT_CONNECTED,
    REASONS,
    REPLY_CAUSES,
)

__all__ = [
    "ANSWER_REASONS",
    "AT_THE_CALL",
    "BEFORE_SENDING",
    "DEFECTS",
    "NOT_CONNECTED",
    "REASONS",
    "REPLY_CAUSES",
    "sent",
]


def sent(reason: str) -> Literal["no", "yes", "unknown"]:
    """Whether an ask that fell back for this reason had left the machine."""
    if reason in BEFORE_SENDING or reason in NOT_CONNECTED:
        return "no"
    return "unknown" if reason in AT_THE_CALL else "yes"
