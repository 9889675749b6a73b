"""The lexical lane: BM25F (Robertson, Zaragoza and Taylor, 2004) over concepts.

    tf' = Σ field weight · tf / (1 − b + b · length / average length of the field)
    score = Σ concepts best of its variants (v · idf · tf' / (k1 + tf'))

A concept is one word of the request with what it may stand for; it counts by its best variant in a route,
never by their sum.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from admit.text.bm25 import idf

from . import structural
from .fields import FIELDS, NAME, SOURCE
from .index import Index, View
from .variants import Variants, variants
from .weights import Weights
from .words import Request

Scores = dict[str, float]


class Impacts(NamedTuple):
    """What a term counts for in each route, idf aside: `own` by any field, `source` by its source alone."""

    own: Scores
    source: Scores


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


class Matches(NamedTuple):
    """A request against the catalog; `totals` has the score of every route that matched, signals included."""

    concepts: tuple[Concept, ...]
    own: Scores
    source: Scores
    bonus: structural.Bonus
    totals: Scores


class Lexical:
    """The lane over one index. It remembers what terms count for until the index changes."""

    def __init__(self, index: Index, weights: Weights) -> None:
        self._index, self.weights = index, weights
        self._field_weights = tuple(weights.fields[name] for name in FIELDS)
        self._view: View | None = None
        self._allowed: Collection[str] | None = None
        self._revision = self._vocabulary = -1
        self._impacts: dict[tuple[str, bool], Impacts] = {}
        self._variants: dict[tuple[str, str], Variants] = {}

    def view(self, allowed: Collection[str] | None) -> View:
        """The routes that may be seen, with their counts."""
        index = self._index
        kept = allowed is None or isinstance(allowed, frozenset)  # a mutable set may have changed since
        if self._vocabulary != index.vocabulary_revision:
            self._vocabulary = index.vocabulary_revision
            self._variants.clear()
        if self._view is None or self._revision != index.revision or not kept or allowed != self._allowed:
            self._view = View(index, allowed, self.weights.share)
            self._allowed, self._revision = allowed, index.revision
            self._impacts.clear()
        return self._view

    def match(self, request: Request, allowed: Collection[str] | None = None) -> Matches:
        """Score every route that holds a word of the request, or a variant of one."""
        view = self.view(allowed)
        concepts = [self._concept(view, word, request.language) for word in request.words]
        for joined, _ in request.runs:
            if joined in self._index.postings:
                concepts.append(self._run(view, joined))
        own: Scores = {}
        source: Scores = {}
        for concept in concepts:
            _add(own, concept.own)
            _add(source, concept.source)
        bonus = structural.bonus(self, view, request, concepts)
        factor = self.weights.source_only if own else 1.0
        source = {one: value if one in own else factor * value for one, value in source.items()}
        totals = dict(own)
        _add(totals, source)
        _add(totals, bonus.whole_name)
        _add(totals, bonus.operation)
        return Matches(tuple(concepts), own, source, bonus, totals)

    def impacts(self, view: View, term: str, name_only: bool = False) -> Impacts:
        """What the term counts for in each route of the view, by all fields or by the name alone."""
        found = self._impacts.get((term, name_only))
        if found is None:
            found = self._impacts[term, name_only] = self._compute(view, term, name_only)
        return found

    def variants(self, word: str, language: str) -> Variants:
        """The variants of a word that the catalog holds."""
        found = self._variants.get((word, language))
        if found is None:
            found = self._variants[word, language] = variants(word, language, self._index, self.weights)
        return found

    def _concept(self, view: View, word: str, language: str) -> Concept:
        found = self.variants(word, language)
        terms = [(term, weight, False) for term, weight in found.same]
        same = {one for term, _ in found.same for one in view.postings(term)} if len(terms) > 1 else None
        df = len(same) if same is not None else sum(len(view.postings(term)) for term, _ in found.same)
        worth = idf(view.n, df) if df else 0.0
        scored = [(self.impacts(view, term, names), weight * worth) for term, weight, names in terms]
        for term in found.family:
            scored.append((self.impacts(view, term), self.weights.family * self._idf(view, term, worth)))
        for term in found.verbs:
            scored.append((self.impacts(view, term, True), self.weights.verb * self._idf(view, term, worth)))
        own: Scores = {}
        source: Scores = {}
        for impacts, value in scored:
            _best(own, impacts.own, value)
            _best(source, impacts.source, value)
        for route_id in source.keys() & own.keys():
            own[route_id] = max(own[route_id], source.pop(route_id))
        return Concept(word, worth, own, source)

    def _run(self, view: View, joined: str) -> Concept:
        df = len(view.postings(joined))
        worth = idf(view.n, df) if df else 0.0
        found = self.impacts(view, joined)
        own: Scores = {}
        source: Scores = {}
        _best(own, found.own, worth)
        _best(source, found.source, worth)
        return Concept(joined, worth, own, source)

    def _idf(self, view: View, term: str, most: float) -> float:
        """A variant's own idf, but no more than the word's own where the catalog has the word."""
        own = idf(view.n, len(view.postings(term)))
        return min(own, most) if most else own

    def _compute(self, view: View, term: str, name_only: bool) -> Impacts:
        postings = view.postings(term)
        marked = view.marked_sources(term, postings)
        k1, b = self.weights.k1, self.weights.b
        routes, lengths, weights = self._index.routes, self._index.lengths, self._field_weights
        rates = tuple(b / average if average else 0.0 for average in view.averages)
        own: Scores = {}
        source: Scores = {}
        for route_id, places in postings.items():
            length = lengths[route_id]
            tf = 0.0
            only_source = True
            mark = bool(marked) and routes[route_id].source in marked
            for place in range(0, len(places), 2):
                number = places[place]
                if name_only and (number != NAME or mark):
                    continue
                weight = weights[SOURCE] if mark and number == NAME else weights[number]
                only_source = only_source and (number == SOURCE or (mark and number == NAME))
                tf += weight * places[place + 1] / (1 - b + rates[number] * length[number])
            if tf > 0:
                (source if only_source else own)[route_id] = tf / (k1 + tf)
        return Impacts(own, source)


def _add(totals: Scores, parts: Mapping[str, float]) -> None:
    for route_id, value in parts.items():
        totals[route_id] = totals.get(route_id, 0.0) + value


def _best(found: Scores, parts: Mapping[str, float], worth: float) -> None:
    if not found:
        found.update({route_id: worth * value for route_id, value in parts.items()})
        return
    for route_id, value in parts.items():
        if worth * value > found.get(route_id, 0.0):
            found[route_id] = worth * value
