"""One request under every policy: what the tools door exposes, and where what is missing stood."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from admit.core.depth import DEEPEST, PUBLISHED, gaps
from admit.errors import SurfaceError, UsageError
from admit.tools.catalog import Catalog
from admit.tools.gate import ToolGate
from admit.tools.model import Ranked, Route
from admit.tools.policy import ToolPolicy

from .surface import Case

SAME = 9
"""Decimals to which two scores are the same."""


class Row(NamedTuple):
    """One case at one size under one policy.

    Attributes:
        exposed: Ids in the order in which they are shown.
        tokens: Of their definitions as they are exported, together.
        collisions: Needed routes that are missing and have the score of the last exposed one.
        below: The others that are missing.
        not_in_top: Of `below`, those that the first ten of the order do not hold.
        filtered: Of `below`, those that were taken out before ranking.
    """

    case: str
    size: int
    policy: str
    exposed: tuple[str, ...]
    tokens: int
    collisions: int = 0
    below: int = 0
    not_in_top: int = 0
    filtered: int = 0


def gate_over(routes: Sequence[Route], pad: bool) -> ToolGate:
    """The tools door over a catalog, without history, judge or record."""
    catalog = Catalog()
    catalog.add(routes, drift="trust")
    return ToolGate(catalog, policy=ToolPolicy(pad=pad))


def score(gate: ToolGate, case: Case, size: int, policies: Sequence[str]) -> list[tuple[Row, float]]:
    """A row for each policy, with the ms that the door took for it.

    Raises:
        SurfaceError: The scores of the order are not finite, or rise.
    """
    ranked = gate.rank(case.text, max(len(gate.catalog), 1))
    open_order = [one for one in ranked if not one.exact]
    try:
        gaps([one.score for one in open_order])
    except UsageError as fault:
        raise SurfaceError(f"{case.id} at {size} routes: {fault}") from None
    found = []
    for policy in policies:
        depth = policy.lower() if policy in PUBLISHED else policy
        shown = gate.find(case.text, depth=depth)
        exposed = tuple(one.route.id for one in shown.admitted)
        row = Row(case.id, size, policy, exposed, shown.schema_tokens)
        out = {one.route_id for one in shown.excluded}
        found.append((_missing(row, case, ranked, out), shown.elapsed_ms))
    return found


def _missing(row: Row, case: Case, ranked: Sequence[Ranked], out: set[str]) -> Row:
    """The row with each needed route that is not exposed in exactly one of two counts."""
    scores = {one.route_id: round(one.score, SAME) for one in ranked}
    top = {one.route_id for one in ranked[:DEEPEST]}
    last = scores.get(row.exposed[-1]) if row.exposed else None
    absent = [id for id in case.required if id not in row.exposed]
    level = [id for id in absent if last is not None and scores.get(id) == last]
    below = [id for id in absent if id not in level]
    return row._replace(
        collisions=len(level),
        below=len(below),
        not_in_top=sum(id not in top for id in below),
        filtered=sum(id in out for id in below),
    )


def again(cases: Sequence[Case], seed: int, share: float) -> frozenset[str]:
    """The ids of the cases that are run a second time: this share of them, the same for a seed."""
    order = sorted(cases, key=lambda case: hashlib.sha256(f"{seed}:{case.id}".encode()).digest())
    return frozenset(case.id for case in order[: round(share * len(cases))])
