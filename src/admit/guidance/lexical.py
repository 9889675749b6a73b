"""What a chunk has in common with snippets by words: an inverted index in plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import NamedTuple

from admit.text.bm25 import idf, saturation

Sparse = Mapping[int, float]
"""Values by the place of a snippet; those left out are 0."""

USUAL_TERMS = 25
USUAL_DOCUMENTS = 20
"""So many documents of so many terms are taken to stand beside those of an index, for the mean length."""


class Lexicon(NamedTuple):
    """Documents beside those of an index, so that a word tells as much in an index of one as in a large one.

    Attributes:
        counts: In how many of them a term stands.
    """

    documents: int = 0
    counts: Mapping[str, int] = {}


class Common(NamedTuple):
    """What a chunk has in common with snippets.

    Attributes:
        share: BM25 divided by the most that the chunk can reach.
        cover: The part of the chunk's terms that stand there, by weight.
        several: 1 − 1/n for n different terms in common: one may be a homonym, two rarely are.
    """

    share: Sparse
    cover: Sparse
    several: Sparse


class Words:
    """Documents, one a snippet, as counts of their terms. Building is linear in their distinct terms."""

    def __init__(self, documents: Sequence[Mapping[str, int]], lexicon: Lexicon) -> None:
        self._documents = documents
        self._lexicon = lexicon
        self._lengths = [sum(document.values()) for document in documents]
        usual = USUAL_DOCUMENTS * USUAL_TERMS
        self._average = (sum(self._lengths) + usual) / (len(documents) + USUAL_DOCUMENTS)
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        for number, document in enumerate(documents):
            for term in document:
                self._places[term].append(number)
        self._worth: dict[str, list[tuple[int, float]]] = {}

    def weight(self, term: str) -> float:
        """The inverse document frequency, in nats; of a term that no document has the highest of all."""
        count = len(self._places.get(term, ())) + self._lexicon.counts.get(term, 0)
        return idf(len(self._documents) + self._lexicon.documents, count)

    def common(self, found: Iterable[str]) -> Common:
        """What a chunk's terms have in common with each document."""
        weights = {term: count * self.weight(term) for term, count in Counter(found).items()}
        whole = fsum(weights.values())
        share: dict[int, float] = {}
        cover: dict[int, float] = {}
        number: dict[int, int] = {}
        for term, weight in weights.items():
            part = weight / whole
            for place, worth in self._found(term):
                share[place] = share.get(place, 0.0) + part * worth
                cover[place] = cover.get(place, 0.0) + part
                number[place] = number.get(place, 0) + 1
        return Common(share, cover, {place: 1 - 1 / count for place, count in number.items()})

    def _found(self, term: str) -> list[tuple[int, float]]:
        """Where a term stands and what it counts for there, reckoned when it is first asked for."""
        found = self._worth.get(term)
        if found is None:
            found = [
                (number, saturation(self._documents[number][term], self._lengths[number], self._average))
                for number in self._places.get(term, ())
            ]
            if found:
                self._worth[term] = found
        return found
