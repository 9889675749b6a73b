"""Which words of a catalog a word of a request may stand for, and what each counts for."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from admit.text.terms import stem

from .index import PREFIX, Index
from .verbs import CLASSES
from .weights import Weights
from .words import script_language, stemmer

SHARED_PREFIX = 0.7
"""Of the shorter word's letters, how many the common beginning of a family must cover."""


class Variants(NamedTuple):
    """The words a request's word may stand for, each group in the order of the words.

    Attributes:
        same: The word itself (with 1) and words of its stem: one concept, whose df is theirs together.
        family: Words with the same beginning.
        verbs: Verbs of its class; these count in names only.
    """

    same: tuple[tuple[str, float], ...]
    family: tuple[str, ...]
    verbs: tuple[str, ...]


def variants(word: str, language: str, index: Index, weights: Weights) -> Variants:
    """The variants of a word that the catalog holds."""
    stems = dict.fromkeys(index.by_stem.get(stem(word), ()), weights.stem)
    family: list[str] = []
    if len(word) >= PREFIX and word.isalpha():
        native = stemmer(script_language(word, language))
        own = native(word)
        for other in index.by_prefix.get(word[:PREFIX], ()):
            if other in stems or not other.isalpha():
                continue
            if native(other) == own:
                stems[other] = weights.stem
            elif _related(word, other):
                family.append(other)
    if word in index.postings:
        stems[word] = 1.0
    same = tuple(sorted(stems.items()))
    siblings = [verb for verb in _siblings(word) if verb in index.postings and verb not in stems]
    return Variants(same, tuple(sorted(set(family) - set(siblings))), tuple(siblings))


def is_verb(word: str) -> bool:
    """Whether the word, in any of its forms, is in the table of verbs."""
    return stem(word) in _classes()


def _related(word: str, other: str) -> bool:
    shorter = min(len(word), len(other))
    common = next((k for k in range(PREFIX, shorter) if word[k] != other[k]), shorter)
    return common >= SHARED_PREFIX * shorter


def _siblings(word: str) -> tuple[str, ...]:
    own = stem(word)
    return tuple(verb for verb in _classes().get(own, ()) if stem(verb) != own)


@lru_cache(maxsize=1)
def _classes() -> dict[str, tuple[str, ...]]:
    return {stem(verb): row for row in CLASSES for verb in row}
