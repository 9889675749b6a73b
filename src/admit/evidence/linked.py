"""What a verdict rests on, as an accepted review holds it: texts that were read, and routes that failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from admit.evidence.model import Item
from admit.evidence.plan import Plan
from admit.evidence.sources import snapshot_path
from admit.ledger.evidence_rows import NOTHING, Linked

if TYPE_CHECKING:
    from admit.evidence.base import Base

FAILED_ROUTE = "snapshot-"
"""How the reasons of a declared snapshot that failed begin; each of them is a FAIL of the verdict."""


def linked_of(base: Base, plan: Plan, items: Sequence[Item]) -> tuple[Linked, ...]:
    """The texts that were read, in order, then the declared snapshots that were not served."""
    read = [
        Linked(one.artifact, one.path, one.shape, one.route, one.source_sha256, one.shown_sha256)
        for one in items
    ]
    return (*read, *dict.fromkeys(_failed(base, plan)))


def _failed(base: Base, plan: Plan) -> Iterator[Linked]:
    targets = {link.n: link.target for link in plan.note.links}
    for one in plan.unavailable:
        if one.reason.startswith(FAILED_ROUTE):
            ingest = targets[one.link]
            yield Linked(ingest, snapshot_path(base, ingest), "snapshot", "snapshot", NOTHING, NOTHING)
