"""The lexical lane: BM25F (Robertson, Zaragoza and Taylor, 2004) over concepts.

    tf' = Σ fields weight · tf          length' = Σ fields weight · length
    score = Σ concepts best of its variants v · idf · tf' / (tf' + k1 · (1 − b + b · length' / average))

One length norm holds for the whole route, so that one that says little is not held against one with many
arguments; norms of single fields, averaged apart, do just that. A request of several sentences may ask for
several things: what answers one of them best gains as much as what answers the whole best.

A concept is one word of the request with what it may stand for; it counts by its best variant in a route,
never by their sum.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from operator import mul
from typing import NamedTuple

from admit.text.bm25 import idf

from . import structural
from .fields import FIELDS, NAME, SOURCE
from .index import Index, View
from .variants import Variants, variants
from .weights import Weights
from .words import Request

Scores = dict[str, float]

MOST_CONCEPTS = 8_192
"""Words whose scores are remembered; one more, and all are forgotten."""


class Concept(NamedTuple):
    """One word or run of a request against the catalog.

    Attributes:
        idf: Of the word with its stem's forms; 0 where none is there.
        own, source: The concept's part of each route's score, by what matched.
    """

    word: str
    idf: float
    own: Scores
    source: Scores


class Part(NamedTuple):
    """One signal's part of each route's score, and the words that gave it."""

    lane: str
    signal: str
    values: Scores
    words: Callable[[str], tuple[str, ...]]


class Matches(NamedTuple):
    """A request against the catalog.

    Attributes:
        parts: What adds up to `totals`, in the order of addition.
        totals: The score of every route that matched.
    """

    concepts: tuple[Concept, ...]
    parts: tuple[Part, ...]
    totals: Scores

    def words(self, route_id: str) -> tuple[str, ...]:
        """Words and runs of the request that the route answers to, in order."""
        return tuple(one.word for one in self.concepts if route_id in one.own or route_id in one.source)


class Lexical:
    """The lane over one index. It remembers what words count for until the index changes."""

    def __init__(self, index: Index, weights: Weights) -> None:
        self._index, self.weights = index, weights
        self._field_weights = tuple(weights.fields[name] for name in FIELDS)
        self._view: View | None = None
        self._allowed: Collection[str] | None = None
        self._revision = -1
        self._concepts: dict[tuple[str, str], Concept] = {}
        self._norms: dict[str, float] = {}

    def view(self, allowed: Collection[str] | None) -> View:
        """The routes that may be seen, with their counts."""
        index = self._index
        kept = allowed is None or isinstance(allowed, frozenset)  # a mutable set may have changed since
        if self._view is None or self._revision != index.revision or not kept or allowed != self._allowed:
            self._view = View(index, allowed, self.weights.share)
            self._allowed, self._revision = allowed, index.revision
            self._concepts.clear()
            self._norms.clear()
        return self._view

    def match(self, request: Request, allowed: Collection[str] | None = None) -> Matches:
        """Score every route that holds a word of the request, or a variant of one."""
        view = self.view(allowed)
        concepts = [self._concept(view, word, request.language) for word in request.words]
        concepts.extend(self._concept(view, run, "") for run in request.runs if run in self._index.postings)
        whole = self._score(view, concepts)
        best = max(whole.totals.values(), default=0.0)
        told: Scores = {}
        for sentence in request.sentences:
            words = frozenset(sentence)
            totals = self._score(view, [one for one in concepts if one.word in words]).totals
            most = max(totals.values(), default=1.0)
            for route_id, value in totals.items():
                told[route_id] = max(told.get(route_id, 0.0), value * (best / most))
        if told:
            _add(whole.totals, told)
            sentence = Part("lexical", "sentence", told, lambda _: ())
            return whole._replace(parts=(*whole.parts, sentence))
        return whole

    def _score(self, view: View, concepts: Sequence[Concept]) -> Matches:
        own: Scores = {}
        source: Scores = {}
        for concept in concepts:
            _add(own, concept.own)
            _add(source, concept.source)
        if own:
            factor = self.weights.source_only
            source = {one: value if one in own else factor * value for one, value in source.items()}
        parts = [
            Part("lexical", "words", own, lambda one: tuple(c.word for c in concepts if one in c.own)),
            Part("lexical", "source", source, lambda one: tuple(c.word for c in concepts if one in c.source)),
        ]
        for signal in structural.signals(view, concepts, self.weights.whole_name):
            given = signal.words
            parts.append(
                Part("structural", signal.name, signal.values, lambda one, given=given: (given[one],))
            )
        totals: Scores = {}
        for part in parts:
            _add(totals, part.values)
        return Matches(tuple(concepts), tuple(parts), totals)

    def _concept(self, view: View, word: str, language: str) -> Concept:
        """A word against the view; remembered until either changes. A run has no language and no variants."""
        found = self._concepts.get((word, language))
        if found is None:
            if len(self._concepts) >= MOST_CONCEPTS:
                self._concepts.clear()
            found = self._concepts[word, language] = self._weigh(view, word, language)
        return found

    def _weigh(self, view: View, word: str, language: str) -> Concept:
        weights, own_name = self.weights, Variants(((word, 1.0),), (), ())
        found = variants(word, language, self._index, weights) if language else own_name
        same = {one for term, _ in found.same for one in view.postings(term)}
        worth = idf(view.n, len(same)) if same else 0.0
        own: Scores = {}
        source: Scores = {}
        for term, weight in found.same:
            self._take(own, source, view, term, weight * worth)
        for term in found.family:
            self._take(own, source, view, term, weights.family * self._idf(view, term, worth))
        for term in found.verbs:
            self._take(own, source, view, term, weights.verb * self._idf(view, term, worth), name_only=True)
        for route_id in source.keys() & own.keys():
            own[route_id] = max(own[route_id], source.pop(route_id))
        return Concept(word, worth, own, source)

    def _idf(self, view: View, term: str, most: float) -> float:
        """A variant's own idf, but no more than the word's own where the catalog has the word."""
        own = idf(view.n, len(view.postings(term)))
        return min(own, most) if most else own

    def _take(
        self, own: Scores, source: Scores, view: View, term: str, worth: float, name_only: bool = False
    ) -> None:
        """Let a term count in each route that has it, in `source` where its source alone does, if more."""
        postings = view.postings(term)
        marked = view.marked_sources(term, postings)
        k1, b = self.weights.k1, self.weights.b
        routes, lengths, weights = self._index.routes, self._index.lengths, self._field_weights
        average = sum(map(mul, weights, view.averages)) or 1.0
        norms = self._norms
        for route_id, places in postings.items():
            norm = norms.get(route_id)
            if norm is None:
                whole = sum(map(mul, weights, lengths[route_id]))
                norm = norms[route_id] = k1 * (1 - b + b * whole / average)
            tf = 0.0
            only_source = True
            mark = bool(marked) and routes[route_id].source in marked
            for place in range(0, len(places), 2):
                number = places[place]
                of_source = number == SOURCE or (mark and number == NAME)
                if name_only and (number != NAME or of_source):
                    continue
                only_source = only_source and of_source
                tf += weights[SOURCE if of_source else number] * places[place + 1]
            if tf > 0:
                value = worth * tf / (tf + norm)
                kept = source if only_source else own
                if value > kept.get(route_id, 0.0):
                    kept[route_id] = value


def _add(totals: Scores, parts: Mapping[str, float]) -> None:
    for route_id, value in parts.items():
        totals[route_id] = totals.get(route_id, 0.0) + value
