"""The dense lane: routes by the meaning of their name and description, to build the pool that a judge reads.

Both scores are put on the scale of their best (lexical) and of their first hundred (dense) and added
(a convex combination; Bruch, Gai and Ingber, 2023). Ranks alone lose at the top what a name says plainly.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from .model import Component, Ranked, Route

DEPTH = 100
"""Routes of the dense order that take part."""


class Encoder(Protocol):
    """Turns texts into vectors of length 1."""

    def encode(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """One vector a text, in order."""
        ...


class Dense:
    """The vectors of a catalog's routes. numpy is loaded at the first route.

    Args:
        encoder: Called once a text of a route and once a request.
    """

    def __init__(self, encoder: Encoder, routes: Iterable[Route] = ()) -> None:
        self._encoder = encoder
        self._texts: dict[str, str] = {}
        self._vectors: dict[str, Any] = {}
        self._ids: list[str] = []
        self._matrix: Any = None
        self.add(routes)

    def add(self, routes: Iterable[Route]) -> None:
        """Take routes in; one whose text is the same as before is not encoded again."""
        fresh = {route.id: f"{route.name}: {route.description or route.title}" for route in routes}
        fresh = {one: text for one, text in fresh.items() if self._texts.get(one) != text}
        if fresh:
            self._texts.update(fresh)
            self._vectors.update(zip(fresh, self._encoder.encode(list(fresh.values())), strict=True))
            self._matrix = None

    def remove(self, ids: Iterable[str]) -> None:
        """Let routes go; ids that are not there do nothing."""
        for route_id in ids:
            if self._texts.pop(route_id, None) is not None:
                del self._vectors[route_id]
                self._matrix = None

    def scores(
        self, query: str, *, allowed: Collection[str] | None = None, depth: int = DEPTH
    ) -> dict[str, float]:
        """Cosines of the nearest `depth` routes, nearest first; equal ones by id."""
        import numpy as np

        if self._matrix is None:
            self._ids = sorted(self._vectors)
            self._matrix = np.array([self._vectors[one] for one in self._ids], dtype=np.float64)
        if not self._ids:
            return {}
        cosines = self._matrix @ np.asarray(self._encoder.encode([query])[0], dtype=np.float64)
        found: dict[str, float] = {}
        for number in np.argsort(-cosines, kind="stable"):
            if len(found) >= depth:
                break
            route_id = self._ids[number]
            if allowed is None or route_id in allowed:
                found[route_id] = round(float(cosines[number]), 6)
        return found


def pool(ranked: Sequence[Ranked], cosines: Mapping[str, float]) -> list[Ranked]:
    """The order in which a judge reads: exact routes first as they stand, then by both lanes together.

    Equal scores keep the lexical order, then go by id. `ranked` should reach as deep as `cosines`.
    """
    best = max((one.score for one in ranked if not one.exact), default=0.0)
    low, high = min(cosines.values(), default=0.0), max(cosines.values(), default=0.0)
    known = {one.route_id: one for one in ranked}
    fused: list[tuple[float, int, str, tuple[Component, ...]]] = []
    for route_id in dict.fromkeys((*known, *cosines)):
        one = known.get(route_id)
        if one and one.exact:
            continue
        components: list[Component] = []
        if one and best > 0:
            components.append(Component("lexical", "share", one.score / best, one.matched))
        if route_id in cosines and high > low:
            components.append(Component("dense", "share", (cosines[route_id] - low) / (high - low)))
        score = sum(component.value for component in components)
        fused.append((-score, one.rank if one else len(known) + 1, route_id, tuple(components)))
    exact = [one for one in ranked if one.exact]
    rest = [
        Ranked(route_id, place, -score, components, known[route_id].matched if route_id in known else ())
        for place, (score, _, route_id, components) in enumerate(sorted(fused), start=len(exact) + 1)
    ]
    lift = max((one.score for one in rest), default=0.0)
    return [
        *(
            one._replace(
                rank=place,
                score=lift + len(exact) - place + 1,
                components=(one.components[0]._replace(value=lift + len(exact) - place + 1),),
            )
            for place, one in enumerate(exact, start=1)
        ),
        *rest,
    ]
