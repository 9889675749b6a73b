"""What asks to come in, and the only counter there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

Misfit = Literal["stop", "skip"]

NO_SIZES: Mapping[str, int] = MappingProxyType({})


class Candidate(NamedTuple):
    """One thing that asks to come into the context; a door turns its own thing into this, and back by `id`.

    Attributes:
        id: The door's own name for it, unique within one decision.
        rank: Sort key, larger first, compared element by element. The first element is the tier
            (guidance: 0 scored, 1 explicit, 2 state); doors without tiers put their score there.
        parent: Id of the candidate it belongs under, or None for a root.
        sizes: Amount per unit, such as ``{"chars": 812}``. A unit that is absent counts 0, save
            ``count``, which counts 1.
        exempt: Never asked about and never counted against the cap; always shown.
    """

    id: str
    rank: tuple[float, ...] = ()
    parent: str | None = None
    sizes: Mapping[str, int] = NO_SIZES
    exempt: bool = False

    def size(self, unit: str) -> int:
        """The amount this candidate takes of `unit` (count, chars, tokens, artifacts)."""
        return self.sizes.get(unit, 1 if unit == "count" else 0)


class Budget(NamedTuple):
    """How much may come in.

    Attributes:
        limits: Largest sum per unit; every unit binds. An empty mapping binds nothing.
        misfit: What a candidate that does not fit does to the rest: ``stop`` ends admission there, so
            that what is within is a prefix; ``skip`` passes over it and tries the later, smaller ones.
    """

    limits: Mapping[str, int] = NO_SIZES
    misfit: Misfit = "stop"


UNBOUNDED = Budget()


class Tally:
    """A budget being spent, one candidate at a time."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._spent = dict.fromkeys(budget.limits, 0)
        self._closed = False

    def charge(self, candidate: Candidate) -> None:
        """Spend without asking: what is exempt takes its room and stays, however little is left."""
        for unit in self._spent:
            self._spent[unit] += candidate.size(unit)

    def take(self, candidate: Candidate) -> bool:
        """Spend if it fits, and say whether it did."""
        limits = self._budget.limits
        fits = not self._closed and all(
            spent + candidate.size(unit) <= limits[unit] for unit, spent in self._spent.items()
        )
        if fits:
            self.charge(candidate)
        elif self._budget.misfit == "stop":
            self._closed = True
        return fits


def fit(ordered: Iterable[Candidate], budget: Budget) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...]]:
    """Split candidates, in the order given, into those within the budget and those over it.

    Exempt candidates are within and take nothing.
    """
    tally = Tally(budget)
    within: list[Candidate] = []
    over: list[Candidate] = []
    for candidate in ordered:
        admitted = candidate.exempt or tally.take(candidate)
        (within if admitted else over).append(candidate)
    return tuple(within), tuple(over)
