"""The matcher by meaning: chunks of a prompt against snippets, by words and where it can by embeddings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from admit.text.terms import terms

from .body import body
from .calibration import Weights, probability
from .chunks import chunks
from .compete import Bars, compete
from .lexical import Sparse, Words
from .matching import NOTHING_MATCHED, Matched
from .model import Snippet
from .sections import Views, views


class Counted(NamedTuple):
    """A snippet's texts, and their terms counted: of what it says of itself, and with its body."""

    views: Views
    head: Counter[str]
    all: Counter[str]


@lru_cache(maxsize=5000)
def counted(snippet: Snippet) -> Counted:
    """The texts of a snippet; its file is read once."""
    found = views(snippet, body(snippet) or "")
    head = Counter(terms(found.words))
    return Counted(found, head, head + Counter(terms("\n".join(found.body))))


class LexicalMatcher:
    """Matches by words alone.

    Args:
        snippets: All that may ever compete; who does is said with each text, and changes no score.
    """

    mode = "lexical"

    def __init__(self, snippets: Sequence[Snippet], weights: Weights, bars: Bars) -> None:
        held = [counted(snippet) for snippet in snippets]
        self._places = {snippet.id: place for place, snippet in enumerate(snippets)}
        self._heads = Words([one.head for one in held])
        self._all = Words([one.all for one in held])
        self._weights = weights
        self._bars = bars

    def match(self, text: str, eligible: Sequence[Snippet]) -> Matched:
        ids = [one.id for one in eligible if one.id in self._places]
        if not ids:
            return NOTHING_MATCHED
        places = [self._places[id] for id in ids]
        found: list[list[float]] = []
        for chunk in chunks(text, self.weight):
            logits = self.logits(chunk)
            none = probability(self._weights.intercept)
            found.append([probability(logits[place]) if place in logits else none for place in places])
        return compete(ids, found, self._bars)

    def weight(self, term: str) -> float:
        """What a term tells, in nats."""
        return self._all.weight(term)

    def features(self, chunk: str) -> dict[str, Sparse]:
        """The features of a chunk by name, for every snippet that shares a word with it."""
        found = terms(chunk)
        lex, cover = self._heads.scores(found)
        return {"lex": lex, "cover": cover, "body_lex": self._all.scores(found)[0]}

    def logits(self, chunk: str) -> Sparse:
        """The logit of every snippet that shares a word with a chunk."""
        logits: dict[int, float] = {}
        for name, values in self.features(chunk).items():
            weight = self._weights.weight(name)
            for place, value in values.items():
                logits[place] = logits.get(place, self._weights.intercept) + weight * value
        return logits
