"""How many of a ranked list are exposed: the published depth rules (S2, S3).

A ranking score is not a probability, so no rule holds it against an absolute threshold. The one adaptive
signal is how far each score falls to the next, as a share of the fall over the top ten:

    gap_i = (s_i − s_(i+1)) / max(s_1 − s_10, 1e-9),   i = 3 … 9

It is the same for a·s + b with any a above 0. Depth is exposure only: it grants and removes no right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isfinite
from types import MappingProxyType
from typing import Literal, NamedTuple

from admit.errors import UsageError

DEEPEST = 10
RANKS = range(3, DEEPEST)
FLAT = 1e-9


class Depth(NamedTuple):
    """A depth rule.

    Attributes:
        id: Its published name, or one of your own.
        family: ``control`` and ``candidate`` are the published ones; any other rule is ``outside``.
        rule: ``fixed`` exposes the first `k`. ``rel-gap`` cuts at the first gap of at least `gap`,
            ``max-gap`` at the largest gap where that is at least `gap` (ties: the smaller rank); where
            there is none, both expose ten.
        k: Depth of ``fixed``, in candidates.
        gap: Share of the fall over the top ten, 0 to 1.
    """

    id: str
    family: Literal["control", "candidate", "outside"]
    rule: Literal["fixed", "rel-gap", "max-gap"]
    k: int = DEEPEST
    gap: float = 0.0


PUBLISHED: Mapping[str, Depth] = MappingProxyType(
    {
        depth.id: depth
        for depth in (
            Depth("FIXED-3", "control", "fixed", k=3),
            Depth("FIXED-5", "control", "fixed", k=5),
            Depth("FIXED-10", "control", "fixed", k=10),
            Depth("REL-GAP-005", "candidate", "rel-gap", gap=0.05),
            Depth("REL-GAP-010", "candidate", "rel-gap", gap=0.10),
            Depth("REL-GAP-020", "candidate", "rel-gap", gap=0.20),
            Depth("MAX-GAP-010", "candidate", "max-gap", gap=0.10),
        )
    }
)


def published(name: str) -> Depth:
    """The published rule of this name, in either case.

    Raises:
        UsageError: There is none; a learned policy is none of them.
    """
    depth = PUBLISHED.get(name.upper())
    if depth is None:
        known = ", ".join(PUBLISHED)
        raise UsageError(f"{name} is no published depth, and learned policies are refused; choose {known}")
    return depth


def cut(depth: Depth, scores: Sequence[float]) -> int:
    """How many of a list with these scores, best first, are exposed: `depth.k`, or 3 to 10.

    A top ten without a fall fails closed, to ten.

    Raises:
        UsageError: As `gaps`; also for a fixed depth, which is one arm of the same comparison.
    """
    falls = gaps(scores)
    if depth.rule == "fixed":
        return depth.k
    if depth.rule == "max-gap":
        largest = max(falls.values())
        return next(rank for rank in RANKS if falls[rank] == largest) if largest >= depth.gap else DEEPEST
    return next((rank for rank in RANKS if falls[rank] >= depth.gap), DEEPEST)


def gaps(scores: Sequence[float]) -> dict[int, float]:
    """The gap after each of the ranks 3 to 9, all 0 for a flat top ten.

    Fewer than ten scores are padded with 0 for this arithmetic only. Gaps are rounded to 9 decimals, so that
    1.0 − 0.9 counts as 0.1 and a list on another scale is cut alike.

    Raises:
        UsageError: A score is not finite, or is larger than the one before it (padding included).
    """
    if not all(map(isfinite, scores)):
        raise UsageError("depth: every score must be a finite number")
    top = [*scores[:DEEPEST], *[0.0] * (DEEPEST - len(scores))]
    if any(later > earlier for earlier, later in pairwise([*top, *scores[DEEPEST:]])):
        raise UsageError("depth: scores must not increase; give them best first (under ten: none below 0)")
    spread = top[0] - top[-1]
    if spread <= FLAT:
        return dict.fromkeys(RANKS, 0.0)
    return {rank: round((top[rank - 1] - top[rank]) / max(spread, FLAT), 9) for rank in RANKS}
