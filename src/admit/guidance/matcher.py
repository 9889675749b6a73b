"""The matcher by words: the chunks of a prompt against all snippets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from admit.text.terms import terms

from .body import body
from .calibration import FEATURES, Weights, probability
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
        self.views = [one.views for one in held]
        self.places = {snippet.id: place for place, snippet in enumerate(snippets)}
        self.bars = bars
        self._heads = Words([one.head for one in held])
        self._all = Words([one.all for one in held])
        self._weights = weights

    def match(self, text: str, eligible: Sequence[Snippet]) -> Matched:
        return matched(self, chunks(text, self.weight), self.probabilities, eligible)

    def weight(self, term: str) -> float:
        """What a term tells, in nats."""
        return self._all.weight(term)

    def features(self, chunk: str, names: Iterable[str] = FEATURES["lexical"]) -> dict[str, Sparse]:
        """These features of a chunk by name, for every snippet that shares a word with it."""
        found = terms(chunk)
        made = {"lex": self._heads.scores, "cover": self._heads.cover, "body_lex": self._all.scores}
        return {name: made[name](found) for name in names}

    def probabilities(self, chunk: str) -> list[float]:
        """One probability a snippet."""
        logits: dict[int, float] = {}
        for name, values in self.features(chunk, self._weights.used()).items():
            weight = self._weights.weight(name)
            for place, value in values.items():
                logits[place] = logits.get(place, self._weights.intercept) + weight * value
        found = [probability(self._weights.intercept)] * len(self.places)
        for place, logit in logits.items():
            found[place] = probability(logit)
        return found


def matched(
    lexical: LexicalMatcher,
    found: Sequence[str],
    probabilities: Callable[[str], list[float]],
    eligible: Sequence[Snippet],
) -> Matched:
    """Let the eligible snippets compete for chunks."""
    ids = [one.id for one in eligible if one.id in lexical.places]
    if not ids:
        return NOTHING_MATCHED
    places = [lexical.places[id] for id in ids]
    values = [probabilities(chunk) for chunk in found]
    return compete(ids, [[one[place] for place in places] for one in values], lexical.bars)
