"""The matcher by words: the chunks of a prompt against all snippets."""

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
from .lexical import Common, Words
from .matching import NOTHING_MATCHED, Matched
from .model import Snippet
from .sections import Views, views

HALF_LENGTH = 5
"""The terms of a chunk whose length is called one half."""


class Counted(NamedTuple):
    """A snippet's texts, and the terms of what it says of itself."""

    views: Views
    terms: Counter[str]


@lru_cache(maxsize=5000)
def counted(snippet: Snippet) -> Counted:
    """The texts of a snippet; its file is read once."""
    found = views(snippet, body(snippet) or "")
    return Counted(found, Counter(terms(found.words)))


class LexicalMatcher:
    """Matches by words alone.

    Args:
        snippets: All that may ever compete; who does is said with each text, and changes no score.
    """

    mode = "lexical"

    def __init__(self, snippets: Sequence[Snippet], weights: Weights, bars: Bars) -> None:
        held = [counted(snippet) for snippet in snippets]
        self.views = [one.views for one in held]
        self.places = {snippet.id: place for place, snippet in enumerate(snippets)}
        self.bars = bars
        self._words = Words([one.terms for one in held], weights.lexicon)
        self._weights = weights

    def match(self, text: str, eligible: Sequence[Snippet]) -> Matched:
        found = chunks(text, self.weight)
        return matched(self, [self.probabilities(chunk) for chunk in found], eligible)

    def weight(self, term: str) -> float:
        """What a term tells, in nats."""
        return self._words.weight(term)

    def features(self, chunk: str) -> tuple[Common, float]:
        """What a chunk has in common with snippets, and its length; see `calibration.FEATURES`."""
        found = terms(chunk)
        return self._words.common(found), len(found) / (len(found) + HALF_LENGTH)

    def probabilities(self, chunk: str) -> list[float]:
        """One probability a snippet."""
        common, length = self.features(chunk)
        of_cover, of_several, of_length = self._weights.weights
        least = self._weights.intercept + of_length * length
        found = [probability(least)] * len(self.places)
        for place, cover in common.cover.items():
            found[place] = probability(least + of_cover * cover + of_several * common.several[place])
        return found


def matched(
    lexical: LexicalMatcher, probabilities: Sequence[Sequence[float]], eligible: Sequence[Snippet]
) -> Matched:
    """Let the eligible snippets compete for chunks, which have one probability a snippet each."""
    ids = [one.id for one in eligible if one.id in lexical.places]
    if not ids:
        return NOTHING_MATCHED
    places = [lexical.places[id] for id in ids]
    return compete(ids, [[values[place] for place in places] for values in probabilities], lexical.bars)
