"""What a chunk has in common with snippets by words: an inverted index in plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import fsum

from admit.text.bm25 import idf, saturation

Sparse = Mapping[int, float]
"""Values by the place of a snippet; those left out are 0."""


class Words:
    """Documents, one a snippet, as counts of their terms. Building is linear in their distinct terms."""

    def __init__(self, documents: Sequence[Mapping[str, int]]) -> None:
        self._documents = documents
        self._lengths = [sum(document.values()) for document in documents]
        self._average = sum(self._lengths) / len(documents) if documents else 0.0
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        for number, document in enumerate(documents):
            for term in document:
                self._places[term].append(number)
        self._worth: dict[str, list[tuple[int, float]]] = {}

    def weight(self, term: str) -> float:
        """The inverse document frequency, in nats; of a term that no document has the highest of all."""
        return idf(len(self._documents), len(self._places.get(term, ())))

    def scores(self, found: Iterable[str]) -> Sparse:
        """BM25 of a chunk's terms, divided by the most that they can reach."""
        scores: dict[int, float] = {}
        for term, share in self._shares(found):
            for number, worth in self._found(term):
                scores[number] = scores.get(number, 0.0) + share * worth
        return scores

    def cover(self, found: Iterable[str]) -> Sparse:
        """The share of a chunk's terms that stand in a document, by weight."""
        scores: dict[int, float] = {}
        for term, share in self._shares(found):
            for number in self._places.get(term, ()):
                scores[number] = scores.get(number, 0.0) + share
        return scores

    def _shares(self, found: Iterable[str]) -> list[tuple[str, float]]:
        """Each term once, with its part of the weight of all."""
        weights = {term: count * self.weight(term) for term, count in Counter(found).items()}
        whole = fsum(weights.values())
        return [(term, weight / whole) for term, weight in weights.items()]

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
