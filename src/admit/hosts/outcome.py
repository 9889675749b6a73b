"""What a door says at a hook, and what is to be done when the answer has left."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from admit.ledger.port import Record

from .model import HookAnswer, Sent
from .state import Claim

if TYPE_CHECKING:
    from admit.guidance.gate import GuidanceGate


class Shown(NamedTuple):
    """Guidance in an answer: who is told whether the host took it."""

    gate: GuidanceGate
    result_id: str


class Outcome(NamedTuple):
    """What the door says, and what is to be done when the answer has left.

    Attributes:
        records: To be appended, in order.
        claims: To be settled.
        sent: To wait for proof, where the host took the answer.
        shown: Decisions whose text is in the answer.
        marks: Outputs that count as shown from now on, unless the host does not get the answer.
        guidance: What of it stands in the answer.
    """

    answer: HookAnswer = HookAnswer()
    records: tuple[Record, ...] = ()
    claims: tuple[Claim, ...] = ()
    sent: tuple[Sent, ...] = ()
    shown: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    guidance: tuple[Shown, ...] = ()
