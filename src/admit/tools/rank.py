"""The order of a catalog for a request: lanes put together, ties broken, the same bytes every time.

Exact names first, in the request's order; then what matched, by score. Equal scores: routes that only read
before those of unknown effect before destructive ones, then by id.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from heapq import nlargest
from types import MappingProxyType
from typing import NamedTuple

from admit.errors import UsageError

from . import exact
from .history import History, Placed, fuse
from .index import Index, View
from .lexical import Lexical, Matches
from .model import Component, Ranked, Route
from .weights import DEFAULT, Weights
from .words import request

DEPTH = 50
FUSED_DEPTH = 100
"""Routes of the lexical order that are put together with the history's."""


class Order(NamedTuple):
    """The order for one request.

    Attributes:
        ranked: The first routes, best first.
        matched: All routes with a score above 0, a count.
        exact_left: Routes that the request names beyond the most that are taken, a count.
        worth: The idf of each word of the request; 0 where no route has it.
    """

    ranked: list[Ranked]
    matched: int
    exact_left: int
    worth: Mapping[str, float] = MappingProxyType({})


class Ranker:
    """Ranks the routes of one index, whose changes it follows."""

    def __init__(self, index: Index, weights: Weights = DEFAULT) -> None:
        self.index = index
        self._lexical = Lexical(index, weights)

    def rank(
        self,
        query: str,
        k: int = DEPTH,
        *,
        allowed: Collection[str] | None = None,
        history: History | None = None,
        most_exact: int = exact.MOST_EXACT,
    ) -> list[Ranked]:
        """As `order`, the ranked routes alone."""
        return self.order(query, k, allowed=allowed, history=history, most_exact=most_exact).ranked

    def order(
        self,
        query: str,
        k: int = DEPTH,
        *,
        allowed: Collection[str] | None = None,
        history: History | None = None,
        most_exact: int = exact.MOST_EXACT,
    ) -> Order:
        """The first `k` routes for a request, none that did not match; exact ones stay beyond `k`.

        Scores do not rise from one route to the next, and compare within one order only.

        Args:
            query: What is asked; its first 4,000 characters are read.
            allowed: Ids that may be seen; the order is as if no others were there. None for all. A frozenset
                that stays the same spares counting anew.
            history: What earlier requests used.
            most_exact: Exact routes at most.

        Raises:
            UsageError: The query is no text, or `k` is below 1.
        """
        if not isinstance(query, str):
            raise UsageError("the request must be text")
        if k < 1:
            raise UsageError("k must be 1 or more")
        view = self._lexical.view(allowed)
        matches = self._lexical.match(request(query), allowed)
        named, left = exact.named(query, lambda spelling: self._spelled(view, spelling), most_exact)
        words = dict(named)
        deep = max(k + len(words), FUSED_DEPTH if history else 0)
        rest = _top(self.index.routes, matches.totals, deep)
        parts = {one: _components(one, matches) for one in rest}
        if history:
            placed = fuse(rest, history.scores(query, view.outside), history, _seen(view, history))
            if placed:
                parts = {one.route_id: _fused(one, matches) for one in self._by_score(placed)}
        best = max((_sum(one) for one in parts.values()), default=0.0)
        first = {
            one: (Component("exact", "name", best + len(words) - place, (word,)),)
            for place, (one, word) in enumerate(named)
        }
        order = {**first, **{one: components for one, components in parts.items() if one not in first}}
        ranked = [
            Ranked(one, place, _sum(components), components, matches.words(one), one in first)
            for place, (one, components) in enumerate(order.items(), start=1)
            if place <= max(k, len(first))
        ]
        worth = {concept.word: concept.idf for concept in matches.concepts}
        return Order(ranked, len(matches.totals.keys() | order.keys()), left, worth)

    def _spelled(self, view: View, spelling: str) -> Mapping[str, bool]:
        found = self.index.spellings.get(spelling, {})
        return {one: whole for one, whole in found.items() if one not in view.outside}

    def _by_score(self, placed: list[Placed]) -> list[Placed]:
        routes = self.index.routes
        there = [one for one in placed if one.route_id in routes]
        return sorted(there, key=lambda one: (-one.score, _caution(routes[one.route_id]), one.route_id))


def _top(routes: Mapping[str, Route], totals: Mapping[str, float], k: int) -> list[str]:
    least = min(nlargest(k, totals.values()), default=0.0)
    kept = [(-score, _caution(routes[one]), one) for one, score in totals.items() if score >= least]
    return [route_id for _, _, route_id in sorted(kept)[:k]]


def _components(route_id: str, matches: Matches) -> tuple[Component, ...]:
    """The parts of a lexical score, in the order in which they were added."""
    return tuple(
        Component(part.lane, part.signal, part.values[route_id], part.words(route_id))
        for part in matches.parts
        if route_id in part.values
    )


def _fused(placed: Placed, matches: Matches) -> tuple[Component, ...]:
    words = matches.words(placed.route_id)
    return (
        Component("lexical", "rank", placed.lexical, words),
        Component("history", "rank", placed.history),
    )


def _sum(components: tuple[Component, ...]) -> float:
    total = 0.0
    for component in components:
        total += component.value
    return total


def _seen(view: View, history: History) -> float:
    return sum(one in history for one in view.within(view.index.routes)) / view.n if view.n else 0.0


def _caution(route: Route) -> int:
    """Routes that only read before those that may write before those that destroy."""
    if route.destructive:
        return 2
    return 0 if route.read_only else 1
