"""What a review may read: offers in their order, and the cap over them."""

from __future__ import annotations

from typing import NamedTuple

from admit.core.decision import Plan as CorePlan
from admit.evidence.criterion import Criterion
from admit.evidence.model import Offer, OrderName, Unavailable, Unit
from admit.evidence.note import Note


class Plan(NamedTuple):
    """The plan of one pair.

    Attributes:
        note, criterion: As read; without a criterion there is no cap.
        cap: Slots; None is no cap.
        offers: In admission order.
        within, overflow: Ids of offers, in admission order; `within` is a prefix.
        unavailable: In the order of links.
        plan_hash: Over note, criterion and offers; the same on every machine.
        core: The same as the pipeline of all doors sees it; the note, the criterion and links to itself are
            exempt there.
    """

    note: Note
    criterion: Criterion | None
    cap: int | None
    unit: Unit
    order: OrderName
    offers: tuple[Offer, ...]
    within: tuple[str, ...]
    overflow: tuple[str, ...]
    unavailable: tuple[Unavailable, ...]
    plan_hash: str
    scaffold: str
    core: CorePlan
