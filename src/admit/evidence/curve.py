"""How much a cap covers: the coverage curve over plans. No file is read and nobody is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from admit.evidence.model import Offer, Unit


class Point(NamedTuple):
    """What one cap covers.

    Attributes:
        cap: Slots.
        notes: Notes all of whose offers are within; a note that offers nothing is one.
        artifacts, bytes: Offers within over all notes, and what their materials hold.
    """

    cap: int
    notes: int
    artifacts: int
    bytes: int


class Curve(NamedTuple):
    """What each cap covers, from 1 to the slots of the note that offers most; counts of one unit only.

    Attributes:
        notes, artifacts, bytes: All there are.
    """

    unit: Unit
    notes: int
    artifacts: int
    bytes: int
    points: tuple[Point, ...]

    def at(self, cap: int) -> Point:
        """The point of a cap of 1 or more; past the last one all is covered."""
        if cap <= len(self.points):
            return self.points[cap - 1]
        return Point(cap, self.notes, self.artifacts, self.bytes)


def curve(unit: Unit, notes: Iterable[Sequence[Offer]]) -> Curve:
    """The curve over the offers of notes, each in its admission order with its slots in `unit`.

    Admission ends at the first offer that does not fit, so an offer is within from the cap on that holds it
    and all before it: one pass over the offers serves every cap.
    """
    gained: dict[int, tuple[int, int, int]] = {}
    count = most = pooled = size = 0

    def gain(cap: int, notes: int, artifacts: int, bytes: int) -> None:
        before = gained.get(cap, (0, 0, 0))
        gained[cap] = (before[0] + notes, before[1] + artifacts, before[2] + bytes)

    for offers in notes:
        count += 1
        needed = 0
        for offer in offers:
            needed += offer.slots
            gain(needed, 0, 1, offer.bytes)
            pooled, size = pooled + 1, size + offer.bytes
        gain(needed, 1, 0, 0)
        most = max(most, needed)
    whole, artifacts, bytes = gained.get(0, (0, 0, 0))
    points = []
    for cap in range(1, most + 1):
        more = gained.get(cap, (0, 0, 0))
        whole, artifacts, bytes = whole + more[0], artifacts + more[1], bytes + more[2]
        points.append(Point(cap, whole, artifacts, bytes))
    return Curve(unit, count, pooled, size, tuple(points))


def slots_of(offers: Sequence[Offer]) -> int:
    """What all of these take together."""
    return sum(one.slots for one in offers)
