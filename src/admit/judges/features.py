"""What the local judge measures between a task and a subject. Pure, and without a model.

Values are absolute, not ranks: a rank cannot say that nothing here is relevant.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from math import fsum, log, sqrt
from zlib import crc32

from admit.core.question import Lexicon
from admit.text.bm25 import K1, B, idf, saturation
from admit.text.terms import terms

LEXICAL = ("bm25", "cover", "gram", "len", "rare")
EMBEDDED = ("cos", *LEXICAL)

GRAM_BUCKETS = 4096
GRAM_SIZES = (3, 4, 5)
RARE_DF = 2


def lexicon_of(texts: Iterable[str]) -> Lexicon:
    """Document frequencies over texts, where a door gave none."""
    documents = [frozenset(terms(text)) for text in texts]
    return Lexicon(len(documents), Counter(term for document in documents for term in document))


class Query:
    """A task, ready to be held against subjects.

    Args:
        task: Its text.
        lexicon: Document frequencies over everything gathered, so that who is asked about changes no score.
    """

    def __init__(self, task: str, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._counts = Counter(terms(task))
        self._idf = {term: idf(lexicon.n_docs, lexicon.df.get(term, 0)) for term in self._counts}
        self._grams = _Grams(task)
        # Distinct terms a document holds on average: known without the documents that are not asked about.
        self._average = sum(lexicon.df.values()) / lexicon.n_docs if lexicon.n_docs else 0.0

    def features(self, subject: str) -> dict[str, float]:
        """Each feature of `LEXICAL` by name.

        bm25 is divided by the most the task's terms can reach; cover is the idf-weighted share of the
        task's terms found; gram the cosine of hashed character 3- to 5-grams; len the logarithm of the
        characters; rare the share of the subject's terms that stand in at most 2 of the documents.
        """
        counts = Counter(terms(subject))
        found = [term for term in self._counts if term in counts]
        return {
            "bm25": self._bm25(counts, found),
            "cover": self._share(found),
            "gram": self._grams.cosine(_Grams(subject)),
            "len": log(1 + len(subject)),
            "rare": sum(self._lexicon.df.get(term, 0) <= RARE_DF for term in counts) / max(1, len(counts)),
        }

    def best_window(self, subject: str, chars: int) -> str:
        """The stretch of at most `chars` characters, from a line or a hard cut on, that covers most of the
        task's terms by weight; of equals the one whose own terms are rarest, then the first. A shorter
        subject is its own window."""
        if len(subject) <= chars:
            return subject
        pieces = _pieces(subject, chars // 2)
        held = [frozenset(terms(subject[start:end])) for start, end in pieces]
        best, best_start = (-1.0, -1.0), 0
        for first, (start, _) in enumerate(pieces):
            inside: set[str] = set()
            for (_, end), words in zip(pieces[first:], held[first:], strict=True):
                if end - start > chars:
                    break
                inside |= words
            score = (self._weight(inside), self._rarity(inside))
            if score > best:
                best, best_start = score, start
        return subject[best_start : best_start + chars]

    def _weight(self, inside: Iterable[str]) -> float:
        """What the task's terms among these weigh together."""
        return fsum(self._idf[term] * self._counts[term] for term in inside if term in self._counts)

    def _rarity(self, inside: Iterable[str]) -> float:
        """How much these terms tell the gathered documents apart."""
        n, df = self._lexicon.n_docs, self._lexicon.df
        return fsum(idf(n, df.get(term, 0)) for term in inside)

    @cached_property
    def _whole(self) -> float:
        return self._weight(self._counts)

    def _share(self, found: Iterable[str]) -> float:
        return (
            fsum(self._idf[term] * self._counts[term] for term in found) / self._whole if self._whole else 0.0
        )

    def _bm25(self, counts: Mapping[str, int], found: Iterable[str]) -> float:
        if not self._whole:
            return 0.0
        length = len(counts)
        reached = (
            self._idf[term] * self._counts[term] * saturation(counts[term], length, self._average, K1, B)
            for term in found
        )
        return fsum(reached) / self._whole


class _Grams:
    """Counts of hashed character n-grams; the hash is CRC-32, the same everywhere."""

    def __init__(self, text: str) -> None:
        text = " ".join(text.lower().split())
        if text.isascii():
            data = text.encode()
            grams = (data[k : k + size] for size in GRAM_SIZES for k in range(len(data) - size + 1))
        else:
            grams = (
                text[k : k + size].encode("utf-8", "surrogatepass")
                for size in GRAM_SIZES
                for k in range(len(text) - size + 1)
            )
        self.counts = Counter(crc32(gram) % GRAM_BUCKETS for gram in grams)
        self.norm = sqrt(sum(count * count for count in self.counts.values()))

    def cosine(self, other: _Grams) -> float:
        """From 0 to 1; 0 where either text is shorter than a gram."""
        if not self.norm or not other.norm:
            return 0.0
        dot = sum(count * other.counts.get(bucket, 0) for bucket, count in self.counts.items())
        return dot / (self.norm * other.norm)


def _pieces(text: str, most: int) -> list[tuple[int, int]]:
    """The lines of a text as (start, end), line end included; longer ones cut at `most` characters."""
    found: list[tuple[int, int]] = []
    for line in re.finditer(r"[^\n]*\n|[^\n]+", text):
        for start in range(line.start(), line.end(), most):
            found.append((start, min(start + most, line.end())))
    return found


def latin_share(text: str) -> float:
    """The share of a text's letters that are Latin; 1 where it has none."""
    letters = [character for character in text if character.isalpha()]
    latin = sum(character <= "\u024f" or "\u1e00" <= character <= "\u1eff" for character in letters)
    return latin / len(letters) if letters else 1.0
