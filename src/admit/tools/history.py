"""The history lane: routes by the requests that led to them, without those requests' text.

Of each successful call a set of keyed hashes is kept, one for each stem of the request. The request at hand
is hashed with the same key, and meets them by equality only: no families, no classes of verbs. The lane is
an index of its own and is never mixed into what the tools say of themselves.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from admit.text.bm25 import K1, B, idf, saturation

from .words import request_stems

FUSION = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009)."""

LEXICAL_TOP = 20
"""The first routes of the lexical order, over which coverage is counted."""


class Placed(NamedTuple):
    """A route in the fused order, with the two parts of its score."""

    route_id: str
    lexical: float
    history: float

    @property
    def score(self) -> float:
        """Both parts together."""
        return self.lexical + self.history


class History:
    """Which requests' stems each route was used for.

    Args:
        keyed: From a stem to its keyed hash. It must be the one under which the uses were kept.
        examples: Uses of a route that count, the newest.
        least: Uses below which a route has no history.
        weight: Of the lane where every route near the top has history; it falls with the square of the
            share that has.
    """

    def __init__(
        self, keyed: Callable[[str], str], *, examples: int = 30, least: int = 3, weight: float = 1.0
    ) -> None:
        self._keyed, self._examples, self._least, self.weight = keyed, examples, least, weight
        self._uses: dict[str, deque[tuple[str, ...]]] = {}
        self._postings: dict[str, dict[str, int]] = {}
        self._lengths: dict[str, int] = {}
        self._total = 0

    def __contains__(self, route_id: str) -> bool:
        """Whether the route has uses enough to count."""
        return route_id in self._lengths

    def __len__(self) -> int:
        return len(self._lengths)

    def stems(self, query: str) -> tuple[str, ...]:
        """What is kept of a request: the keyed hashes of its distinct stems, sorted, at most 64."""
        return tuple(sorted(map(self._keyed, request_stems(query))))

    def load(self, uses: Iterable[tuple[str, Iterable[str]]]) -> None:
        """Take in uses (route id, hashed stems), newest first."""
        held: dict[str, list[tuple[str, ...]]] = {}
        for route_id, stems in uses:
            bags = held.setdefault(route_id, [])
            if len(bags) < self._examples:
                bags.append(_bag(stems))
        for route_id, bags in held.items():
            self._change(route_id, [*self._uses.get(route_id, ()), *reversed(bags)])

    def add(self, route_id: str, stems: Iterable[str]) -> None:
        """Take in one use, newer than all before."""
        self._change(route_id, [*self._uses.get(route_id, ()), _bag(stems)])

    def remove(self, route_id: str) -> None:
        """Forget the uses of a route."""
        self._change(route_id, ())

    def scores(self, query: str, outside: Collection[str] = ()) -> dict[str, float]:
        """BM25 of the routes whose earlier requests share a stem with this one, those `outside` apart."""
        away = [one for one in outside if one in self._lengths]
        n = len(self._lengths) - len(away)
        average = (self._total - sum(self._lengths[one] for one in away)) / n if n else 0.0
        found: dict[str, float] = {}
        for stem in self.stems(query):
            postings = self._postings.get(stem, {})
            if away:
                postings = {one: tf for one, tf in postings.items() if one not in outside}
            worth = idf(n, len(postings))
            for route_id, tf in postings.items():
                value = worth * saturation(tf, self._lengths[route_id], average, K1, B)
                found[route_id] = found.get(route_id, 0.0) + value
        return found

    def _change(self, route_id: str, bags: Sequence[tuple[str, ...]]) -> None:
        before = self._lengths.pop(route_id, 0)
        self._total -= before
        if before:
            for stem in {stem for bag in self._uses[route_id] for stem in bag}:
                del self._postings[stem][route_id]
                if not self._postings[stem]:
                    del self._postings[stem]
        kept = deque(bags, maxlen=self._examples)
        self._uses.pop(route_id, None)
        if kept:
            self._uses[route_id] = kept
        counts = Counter(stem for bag in kept for stem in bag)
        if len(kept) < self._least or not counts:
            return
        self._lengths[route_id] = sum(counts.values())
        self._total += self._lengths[route_id]
        for stem, tf in counts.items():
            self._postings.setdefault(stem, {})[route_id] = tf


def fuse(lexical: Sequence[str], scores: Mapping[str, float], history: History, seen: float) -> list[Placed]:
    """Put the two orders together by reciprocal ranks, unsorted but for ties to break.

    A route without history takes its lexical rank in the other lane, so that new routes are not pushed down.
    One with history that this request does not meet stands behind those that it does. `lexical` is the
    lexical order, best first; what is missing there stands behind its end.

    Args:
        scores: The history lane's, by route.
        seen: Share of the routes with history where the lexical order is empty, 0 to 1.
    """
    top = lexical[:LEXICAL_TOP]
    coverage = sum(one in history for one in top) / len(top) if top else seen
    weight = history.weight * coverage**2
    if not weight:
        return []
    lexical_rank = {route_id: rank for rank, route_id in enumerate(lexical, start=1)}
    by_score = sorted(scores, key=lambda one: (-scores[one], lexical_rank.get(one, len(lexical) + 1), one))
    history_rank = {route_id: rank for rank, route_id in enumerate(by_score, start=1)}
    placed = []
    for route_id in dict.fromkeys((*lexical, *by_score)):
        first = lexical_rank.get(route_id, len(lexical) + 1)
        second = history_rank.get(route_id)
        if second is None:
            second = max(first, len(by_score) + 1) if route_id in history else first
        placed.append(Placed(route_id, 1 / (FUSION + first), weight / (FUSION + second)))
    return placed


def _bag(stems: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(stems)))
