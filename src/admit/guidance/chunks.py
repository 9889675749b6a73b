"""A prompt cut into what is matched: its sentences that say most, and the whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from admit.text.terms import terms

MOST_CHUNKS = 12
"""Sentences of one prompt; the whole prompt is one more."""

LEAST_CHARS = 12
MOST_TOKENS = 110

Weight = Callable[[str], float]
"""What a term tells: its inverse document frequency, in nats."""


def chunks(text: str, weight: Weight) -> tuple[str, ...]:
    """The chunks of a prompt, in document order; the whole prompt comes last where there are several.

    Sentences under 12 characters and repeats are left out. Of more than 12 those of highest mean weight
    stay, earlier ones first among equals. A prompt without a sentence is its own chunk; a blank one has none.
    """
    text = text.strip()
    found = list(dict.fromkeys(one for one in sentences(text) if len(one) >= LEAST_CHARS))
    if not found:
        return (shortened(text, weight),) if text else ()
    whole = (text,) if len(found) > 1 else ()
    return tuple(shortened(one, weight) for one in (*best(found, weight, MOST_CHUNKS), *whole))


def sentences(text: str) -> list[str]:
    """The sentences of a text, without white space around them; a line end ends one too."""
    return [one for one in map(str.strip, _ends().split(text)) if one]


def best(texts: Sequence[str], weight: Weight, most: int) -> list[str]:
    """The texts of highest mean weight, in their order."""
    if len(texts) <= most:
        return list(texts)
    kept = sorted(range(len(texts)), key=lambda place: (-mean_weight(texts[place], weight), place))[:most]
    return [texts[place] for place in sorted(kept)]


def mean_weight(text: str, weight: Weight) -> float:
    """The mean weight of a text's terms; 0 where it has none."""
    found = terms(text)
    return sum(map(weight, found)) / len(found) if found else 0.0


def shortened(text: str, weight: Weight) -> str:
    """At most 110 tokens of a text: its sentences, or of a single one its words, of highest mean weight."""
    if tokens(text) <= MOST_TOKENS:
        return text
    parts = sentences(text)
    if len(parts) < 2:
        parts = text.split()
    if len(parts) < 2:
        return text[:MOST_TOKENS]
    kept: list[int] = []
    for place in sorted(range(len(parts)), key=lambda place: (-mean_weight(parts[place], weight), place)):
        if tokens(" ".join(parts[one] for one in (*kept, place))) <= MOST_TOKENS:
            kept.append(place)
    if not kept:  # every sentence is too long by itself
        return shortened(max(parts, key=lambda part: mean_weight(part, weight)), weight)
    return " ".join(parts[place] for place in sorted(kept))


def tokens(text: str) -> int:
    """About how many tokens a text takes: the most of words, characters / 4, and CJK characters."""
    unspaced = 0 if text.isascii() else len(_unspaced().findall(text))
    return max(len(text.split()), -(-len(text) // 4), unspaced)


@lru_cache(maxsize=1)
def _ends() -> re.Pattern[str]:
    return re.compile(r"(?<=[.!?…])[\"')\]]*\s+|(?<=[。！？])|[\r\n]+")


@lru_cache(maxsize=1)
def _unspaced() -> re.Pattern[str]:
    return re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uff66-\uff9f]")
