"""The matcher by words and embeddings, which matches by words until the embeddings are there."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from admit.errors import CalibrationError
from admit.judges.encoder import (
    SELFCHECK_PAIRS,
    SELFCHECK_TOLERANCE,
    TOKENIZER_SHA256,
    EncoderUnavailable,
)
from admit.judges.features import latin_share

from .calibration import DECIMALS, FEATURES, Weights
from .chunks import chunks, mean_weight, tokens
from .matcher import LexicalMatcher, matched
from .matching import Matched, SemanticMatcher
from .model import Snippet
from .vectors import DIMENSIONS, Stack, TextEncoder, VectorCache, stack

LEAST_LATIN = 0.5
"""The share of Latin letters in a chunk below which the encoder, trained on English, is not asked."""

MOST_TOKENS_EMBEDDED = 140
ADAPTER = Path(__file__).parent / "adapter.f16"


class FusedMatcher:
    """Matches by words and, of the chunks that say most, by embeddings.

    Vectors that are missing are made in a thread of its own, which the first text starts; until it is done
    and where it fails, `meanwhile` matches.

    Args:
        lexical: Gives the features of words, and matches texts that are not Latin.
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
        if not found or not self._encode_chunks or latin_share(found[-1]) < LEAST_LATIN:
            return self._lexical.match(text, eligible)
        try:
            return matched(self._lexical, self.probabilities(found), eligible)
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
        """The chunks to embed: the whole, which comes last, and then the most telling.

        At most `encode_chunks`, and of those past the first at most 140 tokens with it: an embedding takes
        about a quarter of a millisecond a token.
        """
        kept = [found[-1]]
        left = MOST_TOKENS_EMBEDDED - tokens(found[-1])
        weights = {
            chunk: mean_weight(chunk, self._lexical.weight)
            for chunk in found[:-1]
            if latin_share(chunk) >= LEAST_LATIN
        }
        for chunk in sorted(weights, key=lambda chunk: -weights[chunk]):
            size = tokens(chunk)
            if len(kept) < self._encode_chunks and size <= left:
                kept.append(chunk)
                left -= size
        return kept

    def probabilities(self, found: Sequence[str]) -> list[list[float]]:
        """One row a chunk and one column a snippet; needs the vectors."""
        import numpy as np

        assert self._stack is not None
        some = self.embedded(found)
        vectors = np.asarray(self._vectors.encoder.vectors(some), np.float32)
        x = features(found, some, vectors, self._stack, self._lexical)
        logits = x @ np.array(self._weights.weights) + self._weights.intercept
        return np.round(1 / (1 + np.exp(-logits)), DECIMALS).tolist()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None and self._stack is None and not self.fault:
                self._thread = threading.Thread(target=self._prepare, name="admit-guidance", daemon=True)
                self._thread.start()

    def _prepare(self) -> None:
        try:
            self.fault = encoder_fault(self._vectors.encoder, self._weights)
            if not self.fault:
                rows = [self._vectors.make(views) for views in self._lexical.views]
                self._stack = stack(rows, self._weights.centre, adapter(self._weights))
        except CalibrationError as error:
            self.fault = str(error)
        except Exception as error:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        """From here on without embeddings; errors of the runtime are of its own classes."""
        self.fault = f"the embedder failed: {type(error).__name__}"
        self._stack = None


def features(
    found: Sequence[str], some: Sequence[str], vectors: Any, held: Stack, lexical: LexicalMatcher
) -> Any:
    """The features of chunks, in the order of the weights: an array (chunk, snippet, feature).

    A chunk is taken half for itself and half for the whole, which gives it its context; one that was not
    embedded is taken for the whole.

    Args:
        some: The chunks that were embedded, the whole first.
    """
    import numpy as np

    lift, depth = held.cosines((vectors + vectors[0]) / 2)
    rows = {chunk: row for row, chunk in enumerate(some)}
    x = np.zeros((len(found), lift.shape[1], len(FEATURES["fused"])))
    for number, chunk in enumerate(found):
        row = rows.get(chunk, 0)
        common, length = lexical.features(chunk)
        x[number, :, 0], x[number, :, 1], x[number, :, 3] = lift[row], depth[row], length
        x[number, list(common.share.keys()), 2] = list(common.share.values())
    return x


def adapter(weights: Weights) -> Any | None:
    """The adapter that these weights were fitted with, see `stack`; None where without.

    Raises:
        CalibrationError: The file is not the one.
    """
    pinned = weights.provenance.get("adapter_sha256")
    if pinned is None:
        return None
    try:
        data = ADAPTER.read_bytes()
    except OSError as error:
        raise CalibrationError(f"{ADAPTER.name}: {error.strerror}") from None
    if f"sha256:{sha256(data).hexdigest()}" != pinned:
        raise CalibrationError(f"{ADAPTER.name} is not the one that the matcher was fitted with")
    return matrices(data)


def matrices(data: bytes) -> Any:
    """The two matrices of an adapter's file: half-precision floats, little endian."""
    import numpy as np

    return np.frombuffer(data, "<f2").reshape(2, DIMENSIONS, -1).astype(np.float32)


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
