"""BM25 over lists of terms (Robertson and Zaragoza, 2009), as Lucene counts it.

    score = Σ weight · idf(term) · tf / (tf + k1 · (1 − b + b · length / average))

Lucene leaves the constant factor k1 + 1 out, which changes no order; so each term adds less than its idf,
and the sum of the query's idf is the most that a document can reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log

K1 = 1.2
B = 0.75


def idf(n: int, df: int) -> float:
    """The Robertson and Sparck Jones weight of a term in `df` of `n` documents, in nats and above 0.

    ln(1 + (n − df + ½)/(df + ½)), as in Lucene.
    """
    return log(1 + (n - df + 0.5) / (df + 0.5))


def saturation(tf: float, length: float, average: float, k1: float = K1, b: float = B) -> float:
    """What `tf` occurrences in a document of `length` terms count for, from 0 up to but not reaching 1.

    `average` is the mean length of all documents, in terms; where it is 0, length does not count.
    """
    relative = length / average if average > 0 else 1.0
    return tf / (tf + k1 * (1 - b + b * relative)) if tf > 0 else 0.0


class Bm25:
    """An index over documents, each a sequence of terms. Building it is linear in all terms."""

    def __init__(self, documents: Iterable[Sequence[str]], k1: float = K1, b: float = B) -> None:
        self._k1, self._b = k1, b
        self._lengths: list[int] = []
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for number, document in enumerate(documents):
            self._lengths.append(len(document))
            for term, tf in Counter(document).items():
                self._postings.setdefault(term, []).append((number, tf))
        self._average = sum(self._lengths) / len(self._lengths) if self._lengths else 0.0

    def __len__(self) -> int:
        return len(self._lengths)

    def document_frequency(self, term: str) -> int:
        """In how many documents the term stands."""
        return len(self._postings.get(term, ()))

    def scores(self, query: Iterable[str] | Mapping[str, float]) -> list[float]:
        """One score per document, in their order, 0 where no term of the query stands.

        A query is terms, a repeated one counting as often as it stands, or a weight per term.
        """
        weights = query if isinstance(query, Mapping) else Counter(query)
        lengths, average = self._lengths, self._average
        scores = [0.0] * len(lengths)
        for term, weight in weights.items():
            postings = self._postings.get(term, ())
            worth = weight * idf(len(lengths), len(postings))
            for number, tf in postings:
                scores[number] += worth * saturation(tf, lengths[number], average, self._k1, self._b)
        return scores
