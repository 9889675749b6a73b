"""What an attempt read, by the record alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from admit.errors import IntegrityError
from admit.evidence.coverage import coverage
from admit.evidence.job.manifest import Job
from admit.evidence.job.opening import BUDGET
from admit.evidence.model import Coverage, Item, Material, Unavailable
from admit.ledger.evidence_rows import ReadRow


class Read(NamedTuple):
    """What an attempt read by the record.

    Attributes:
        items: In reading order, without their texts.
        unavailable: Links whose file was not as planned when it was opened.
    """

    items: tuple[Item, ...]
    unavailable: tuple[Unavailable, ...]
    coverage: Coverage


def read_of(job: Job, reads: Sequence[ReadRow]) -> Read:
    """What was read, and what was not.

    Raises:
        IntegrityError: The record holds what the plan of the job does not.
    """
    offers = {offer.id: offer for offer in job.plan.offers}
    links = {link.n: link for link in job.plan.note.links}
    items: list[Item] = []
    gone: dict[int, Unavailable] = {}
    for row in reads:
        offer = offers.get(row.id)
        if offer is None:
            raise _odd(row)
        if row.refused is None:
            material = _material(offer.materials, row)
            shown = row.shown_sha256 or ""
            items.append(
                Item(
                    row.id, row.artifact, row.path, row.shape, material.route, material.links, "",  # type: ignore[arg-type]
                    material.sha256, shown,
                )
            )  # fmt: skip
        elif row.refused != BUDGET:
            gone |= {n: Unavailable(links[n].dest, n, "artifact", row.refused) for n in offer.links}
    served = {n for item in items for n in item.links}
    unavailable = tuple(one for n, one in sorted(gone.items()) if n not in served)
    counted = coverage(job.plan, items, unavailable=unavailable)
    size = sum(row.bytes for row in reads if row.refused is None)
    return Read(tuple(items), unavailable, counted._replace(bytes_read=size))


def _material(materials: Sequence[Material], row: ReadRow) -> Material:
    for one in materials:
        ordinary = one.route in ("note", "file") and row.shape in ("whole", "head")
        if one.path == row.path and (ordinary or one.route == row.shape):
            return one
    raise _odd(row)


def _odd(row: ReadRow) -> IntegrityError:
    return IntegrityError("evidence_read", f"{row.job}/{row.attempt}/{row.n}", "its plan has no such text")
