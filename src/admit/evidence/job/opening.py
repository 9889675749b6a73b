"""The meter: one offer is opened, counted and served, or refused.

The decision and its record are one transaction of the store. What cannot be recorded is not served.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from admit.errors import BudgetExhausted, JobError, NotOffered
from admit.evidence.base import Base
from admit.evidence.job.manifest import load, shape_of
from admit.evidence.job.prompt import quoted
from admit.evidence.model import Item, Offer, Unit
from admit.evidence.pack import serve
from admit.evidence.plan import Plan
from admit.evidence.reading import Unreadable
from admit.ledger.evidence import EvidenceStore
from admit.ledger.evidence_rows import ReadRow, ReadVia

BUDGET, CHANGED, TOO_LARGE = "budget", "changed", "too-large"
LONGEST_ID = 64


class Served(NamedTuple):
    """What an opening gave.

    Attributes:
        items: One, or two for an ingest that is linked by both routes.
        again: It was open already; nothing was counted.
        slots_used, cap: After it; a cap of None is no cap.
    """

    job: str
    attempt: int
    offer: str
    items: tuple[Item, ...]
    again: bool
    slots_used: int
    cap: int | None
    unit: Unit

    @property
    def text(self) -> str:
        """The text as it stands; of two, each below a line with its path and shape."""
        if len(self.items) == 1:
            return self.items[0].text
        return "\n\n".join(f"[{item.path}, {item.shape}]\n{item.text}" for item in self.items)


class _Known(Exception):
    """Nothing is to be recorded: the same stands there already."""

    def __init__(self, row: ReadRow) -> None:
        super().__init__(row.id)
        self.row = row


def open_offer(
    base: Base,
    store: EvidenceStore,
    job: str,
    id: str,
    *,
    via: ReadVia = "cli",
    most_chars: int | None = None,
) -> Served:
    """Open an offer of a job, in any order; opening it again is free.

    Args:
        id: Of the offer, such as ``a3``; nothing else names an artifact.
        most_chars: The longest text that can be handed on whole; a longer one is refused as too large.

    Raises:
        BudgetExhausted: Its slots do not fit; the message names what is unread.
        NotOffered: The job offers no such thing, or the file is no longer as it was planned.
        JobError: There is no such job, or it is over.
        LedgerError: The read cannot be recorded, so it is refused.
    """
    held = load(store, job)
    if not held.is_open:
        raise JobError(f"the job {job} is over ({held.row.state}); export the review again")
    offer = next((one for one in held.plan.offers if one.id == id), None)
    if offer is None:
        ids = f"{held.plan.offers[0].id} to {held.plan.offers[-1].id}" if held.plan.offers else "nothing"
        raise NotOffered(f"the job {job} does not offer {id[:LONGEST_ID]!r}; it offers {ids}")
    if not any(shape_of(one, held.criterion) for one in offer.materials):
        raise NotOffered(f"{id} {offer.artifact}: the criterion {held.criterion.id} reads no such artifact")
    if held.row.state == "queued":
        store.start_job(job, held.attempt)
    items = _items(base, held.plan, offer, most_chars)
    again = False
    for row in _rows(offer, items, held.criterion.material, via):
        try:
            row = store.add_read(
                job, held.attempt, lambda earlier, row=row: _decided(earlier, row, held.plan)
            )
        except _Known as known:
            row, again = known.row, True
        if row.refused == BUDGET:
            raise BudgetExhausted(_exhausted(held.plan, offer, store.reads(job, held.attempt)))
        if row.refused is not None:
            raise NotOffered(
                f"{id} {quoted(row.path)} cannot be served as it was offered ({row.refused}); "
                "go on without it, or export the review again"
            )
    assert not isinstance(items, str), "an offer without its texts was not refused"
    used = slots_used(store.reads(job, held.attempt))
    return Served(job, held.attempt, id, items, again, used, held.plan.cap, held.plan.unit)


def slots_used(reads: Sequence[ReadRow]) -> int:
    """What the openings took of the budget."""
    return sum(row.slots for row in reads)


def unread(plan: Plan, reads: Sequence[ReadRow]) -> tuple[Offer, ...]:
    """The offers that no opening served, in admission order."""
    served = {row.id for row in reads if row.refused is None}
    return tuple(offer for offer in plan.offers if offer.id not in served)


def _decided(earlier: Sequence[ReadRow], row: ReadRow, plan: Plan) -> ReadRow:
    """The row to record in sight of the earlier ones.

    Raises:
        _Known: It stands there.
    """
    served = [one for one in earlier if one.id == row.id and one.refused is None]
    known = next((one for one in served if (one.path, one.shape) == (row.path, row.shape)), None)
    if known is not None and row.shown_sha256 == known.shown_sha256:
        raise _Known(known)
    slots = 0 if served else row.slots
    if plan.cap is not None and slots_used(earlier) + slots > plan.cap:
        row = row._replace(refused=BUDGET, shown_sha256=None, bytes=0)
    elif known is not None and row.refused is None:
        row = row._replace(refused=CHANGED, shown_sha256=None, bytes=0)
    row = row._replace(slots=slots if row.refused is None else 0)
    if row.refused is not None:
        same = (one for one in earlier if (one.id, one.path, one.refused) == (row.id, row.path, row.refused))
        for one in same:
            raise _Known(one)
    return row


def _items(base: Base, plan: Plan, offer: Offer, most_chars: int | None) -> tuple[Item, ...] | str:
    """The texts of an offer, each of one read that has the planned hash; else why not."""
    try:
        items = serve(base, plan, offer.id)
    except Unreadable as fault:
        return fault.reason
    fits = most_chars is None or sum(len(one.text) for one in items) <= most_chars
    return items if fits else TOO_LARGE


def _rows(offer: Offer, items: tuple[Item, ...] | str, ordinary: str, via: ReadVia) -> tuple[ReadRow, ...]:
    """What would be recorded, before the budget and the earlier openings are looked at."""
    if isinstance(items, str):
        route = offer.materials[0].route
        shape = route if route in ("quotes", "snapshot") else ordinary
        return (ReadRow(offer.id, offer.artifact, offer.artifact, shape, None, 0, offer.slots, items, via),)
    return tuple(
        ReadRow(
            offer.id, offer.artifact, one.path, one.shape, one.shown_sha256, len(one.text.encode()),
            offer.slots, None, via,
        )
        for one in items
    )  # fmt: skip


def _exhausted(plan: Plan, offer: Offer, reads: Sequence[ReadRow]) -> str:
    left = ", ".join(f"{one.id} {quoted(one.artifact)}" for one in unread(plan, reads))
    return (
        f"{offer.id} does not fit: {slots_used(reads)} of {plan.cap} slots ({plan.unit}) are used, and it "
        f"takes {offer.slots}. Not read: {left}. Answer from what you read; what is unread moves no verdict."
    )
