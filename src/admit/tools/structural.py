"""Signals of a route's shape: its whole name, or what its name does, is what the request says.

Each is added once to a route, by the best word that gives it, in multiples of that word's idf.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from admit.text.bm25 import idf

from .variants import is_verb
from .words import Request, singular

if TYPE_CHECKING:
    from .index import View
    from .lexical import Concept, Lexical


class Bonus(NamedTuple):
    """What each signal adds, by route, and the word that gave it."""

    whole_name: Mapping[str, float]
    operation: Mapping[str, float]
    words: Mapping[tuple[str, str], str]


def bonus(lexical: Lexical, view: View, request: Request, concepts: Sequence[Concept]) -> Bonus:
    """The signals of every route that gives one."""
    words: dict[tuple[str, str], str] = {}
    worths = {concept.word: concept.idf for concept in concepts}
    weights = lexical.weights
    whole: dict[str, float] = {}
    for word in (*request.words, *(joined for joined, _ in request.runs)):
        there = view.index.complete.get(singular(word))
        if there:
            worth = worths.get(word) or idf(view.n, len(there))
            for route_id in view.within(there):
                _keep(whole, words, route_id, "whole_name", weights.whole_name * worth, word)
    operation: dict[str, float] = {}
    for word in request.words:
        if not is_verb(word):
            continue
        found = lexical.variants(word, request.language)
        for term in (*(term for term, _ in found.same), *found.family, *found.verbs):
            worth = worths[word] or idf(view.n, len(view.postings(term)))
            for route_id in lexical.impacts(view, term, True).own:
                _keep(operation, words, route_id, "operation", weights.operation * worth, word)
    return Bonus(whole, operation, words)


def _keep(
    values: dict[str, float],
    words: dict[tuple[str, str], str],
    route_id: str,
    signal: str,
    value: float,
    word: str,
) -> None:
    if value > values.get(route_id, 0.0):
        values[route_id] = value
        words[route_id, signal] = word
