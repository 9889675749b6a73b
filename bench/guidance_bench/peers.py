"""Other ways to rank snippets for a prompt, executed: each gives one score a snippet."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from admit.guidance.model import Snippet
from admit.guidance.sections import views
from admit.guidance.vectors import TextEncoder

Ranker = Callable[[str], Sequence[float]]


def bm25(snippets: Sequence[Snippet]) -> Ranker:
    """Plain BM25 (k1 1.2, b 0.75) over lower-case words of description, vocabulary and path."""
    texts = [f"{one.description} {one.vocabulary} {one.id}" for one in snippets]
    documents = [Counter(_words(text)) for text in texts]
    average = sum(map(Counter.total, documents)) / len(documents)
    df = Counter(word for document in documents for word in document)

    def score(prompt: str) -> list[float]:
        found = []
        for document in documents:
            norm = 1.2 * (0.25 + 0.75 * document.total() / average)
            found.append(
                sum(
                    math.log(1 + (len(documents) - df[word] + 0.5) / (df[word] + 0.5))
                    * document[word] * 2.2 / (document[word] + norm)
                    for word in _words(prompt) if word in document
                )
            )  # fmt: skip
        return found

    return score


def embeddings(snippets: Sequence[Snippet], encoder: TextEncoder) -> Ranker:
    """The cosine of the whole prompt to the description, by the embedder that Admit uses."""
    descriptions = np.array(encoder.vectors([one.description for one in snippets]))
    return lambda prompt: (descriptions @ encoder.vectors([prompt])[0]).tolist()


def hand_set(snippets: Sequence[Snippet], bodies: Sequence[str], encoder: TextEncoder) -> Ranker:
    """Cosine to description and vocabulary + 0.25 best section of the body + 0.02 BM25, weights by hand."""
    texts = [views(one, body) for one, body in zip(snippets, bodies, strict=True)]
    heads = np.array(encoder.vectors([one.heads[0] for one in texts]))
    sections = [np.array(encoder.vectors(one.body or [one.heads[0]])) for one in texts]
    words = bm25(snippets)

    def score(prompt: str) -> list[float]:
        vector: Any = encoder.vectors([prompt])[0]
        body = np.array([(some @ vector).max() for some in sections])
        return (heads @ vector + 0.25 * body + 0.02 * np.array(words(prompt))).tolist()

    return score


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())
