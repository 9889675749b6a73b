"""The matcher by words and embeddings, which matches by words until the embeddings are there."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from admit.judges.encoder import (
    SELFCHECK_PAIRS,
    SELFCHECK_TOLERANCE,
    TOKENIZER_SHA256,
    EncoderUnavailable,
)
from admit.judges.features import latin_share

from .calibration import Weights, probability
from .chunks import chunks, mean_weight
from .matcher import LexicalMatcher, matched
from .matching import Matched, SemanticMatcher
from .model import Snippet
from .vectors import Stack, TextEncoder, VectorCache, stack

LEAST_LATIN = 0.5
"""The share of Latin letters in a chunk below which the encoder, trained on English, is not asked."""


class FusedMatcher:
    """Matches by words and, of the chunks that say most, by embeddings.

    Vectors that are missing are made in a thread of its own, which the first text starts; until it is done
    and where it fails, `meanwhile` matches.

    Args:
        lexical: Gives the features of words, and matches the chunks that are not embedded.
        meanwhile: Matches while there are no vectors.
        encode_chunks: The most chunks of a text that are embedded: the whole, then those that say most.

    Attributes:
        fault: Why there are no vectors; empty where there are, or are not yet.
    """

    def __init__(
        self,
        lexical: LexicalMatcher,
        weights: Weights,
        vectors: VectorCache,
        meanwhile: SemanticMatcher,
        encode_chunks: int = 4,
    ) -> None:
        self.fault = ""
        self._lexical = lexical
        self._weights = weights
        self._vectors = vectors
        self._meanwhile = meanwhile
        self._encode_chunks = encode_chunks
        self._stack: Stack | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def mode(self) -> str:
        return "fused" if self._stack is not None else self._meanwhile.mode

    def match(self, text: str, eligible: Sequence[Snippet]) -> Matched:
        self._start()
        if self._stack is None:
            return self._meanwhile.match(text, eligible)
        found = chunks(text, self._lexical.weight)
        embedded = frozenset(self.embedded(found))

        def probabilities(chunk: str) -> list[float]:
            return self.probabilities(chunk) if chunk in embedded else self._lexical.probabilities(chunk)

        try:
            return matched(self._lexical, found, probabilities, eligible)
        except Exception as error:
            self._failed(error)
            return self._meanwhile.match(text, eligible)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until the vectors are there; whether they are."""
        self._start()
        if self._thread is not None:
            self._thread.join(timeout_s)
        return self._stack is not None

    def embedded(self, found: Sequence[str]) -> list[str]:
        """The chunks to embed, the most telling first; the whole, which comes last, before all."""
        latin = [chunk for chunk in found if latin_share(chunk) >= LEAST_LATIN]
        weights = [mean_weight(chunk, self._lexical.weight) for chunk in latin]
        order = sorted(
            range(len(latin)), key=lambda place: (latin[place] != found[-1], -weights[place], place)
        )
        return [latin[place] for place in order[: self._encode_chunks]]

    def features(self, chunk: str) -> dict[str, Any]:
        """The features of a chunk by name, one value a snippet; needs the vectors."""
        import numpy as np

        assert self._stack is not None
        (vector,) = self._vectors.encoder.vectors([chunk])
        vector = np.asarray(vector, np.float32)
        head, body = self._stack.cosines(vector)
        common = float(np.asarray(self._weights.centre, np.float32) @ vector)
        found = {"head": head, "lift": head - common, "depth": body - common}
        for name, values in self._lexical.features(chunk).items():
            found[name] = np.zeros(len(head))
            found[name][list(values.keys())] = list(values.values())
        return found

    def probabilities(self, chunk: str) -> list[float]:
        """One probability a snippet; needs the vectors."""
        import numpy as np

        logits = np.full(len(self._lexical.places), self._weights.intercept)
        for name, values in self.features(chunk).items():
            logits += self._weights.weight(name) * values
        return [probability(logit) for logit in logits.tolist()]

    def _start(self) -> None:
        with self._lock:
            if self._thread is None and self._stack is None and not self.fault:
                self._thread = threading.Thread(target=self._prepare, name="admit-guidance", daemon=True)
                self._thread.start()

    def _prepare(self) -> None:
        try:
            self.fault = encoder_fault(self._vectors.encoder, self._weights)
            if not self.fault:
                self._stack = stack([self._vectors.make(views) for views in self._lexical.views])
        except Exception as error:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        """From here on without embeddings; errors of the runtime are of its own classes."""
        self.fault = f"the embedder failed: {type(error).__name__}"
        self._stack = None


def encoder_fault(encoder: TextEncoder, weights: Weights) -> str:
    """Why an encoder cannot serve these weights; empty where it can. Loads it."""
    try:
        encoder.load()
    except EncoderUnavailable as error:
        return str(error)
    pins = (weights.provenance.get("model_sha256"), weights.provenance.get("tokenizer_sha256"))
    if pins != (encoder.model_sha256, TOKENIZER_SHA256):
        return "the matcher was fitted with another model"
    check = weights.selfcheck or {}
    here, there = encoder.cosines(check.get("texts", ())), tuple(check.get("cosines", ()))
    if len(here) != SELFCHECK_PAIRS or len(there) != SELFCHECK_PAIRS:
        return f"the matcher has no self-check of {SELFCHECK_PAIRS} cosines"
    worst = max(abs(a - b) for a, b in zip(here, there, strict=True))
    return f"cosines differ by {worst:.3f} on this machine" if worst > SELFCHECK_TOLERANCE else ""
