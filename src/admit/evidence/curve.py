"""How much a cap covers: the coverage curve over plans. No file is read and nobody is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import NamedTuple

from admit.core.candidate import Budget, Candidate, fit
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
    """The curve over the offers of notes, each in its admission order with its slots in `unit`."""
    every = [tuple(offers) for offers in notes]
    asking = [[Candidate(one.id, sizes={"artifacts": one.slots}) for one in offers] for offers in every]
    points = [_point(cap, every, asking) for cap in range(1, max(map(slots_of, every), default=0) + 1)]
    pooled = [one for offers in every for one in offers]
    return Curve(unit, len(every), len(pooled), sum(one.bytes for one in pooled), tuple(points))


def slots_of(offers: Sequence[Offer]) -> int:
    """What all of these take together."""
    return sum(one.slots for one in offers)


def _point(cap: int, every: Sequence[Sequence[Offer]], asking: Sequence[Sequence[Candidate]]) -> Point:
    budget = Budget(MappingProxyType({"artifacts": cap}), "stop")
    whole = artifacts = size = 0
    for offers, candidates in zip(every, asking, strict=True):
        within = len(fit(candidates, budget)[0])
        whole += within == len(offers)
        artifacts += within
        size += sum(one.bytes for one in offers[:within])
    return Point(cap, whole, artifacts, size)
