"""Embeddings of snippets: made once, kept in the cache folder, and stacked for a whole index."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

from admit.config.places import cache_dir
from admit.judges.encoder import Encoder

from .sections import HEADS, MOST_SECTIONS, Views

DIMENSIONS = 384
BEST_SECTIONS = 3
KEPT = 5000
"""Snippets whose vectors stay in memory."""


class TextEncoder(Protocol):
    """What texts are embedded by."""

    model_sha256: str

    def is_installed(self) -> bool: ...

    def load(self) -> None:
        """Raises EncoderUnavailable."""
        ...

    def vectors(self, texts: Sequence[str]) -> list[Any]:
        """One vector of length 1 a text."""
        ...

    def cosines(self, texts: Sequence[str]) -> tuple[float, ...]: ...


@lru_cache(maxsize=1)
def shared_encoder() -> Encoder:
    """The encoder that all matchers of a process share; loads at the first text."""
    return Encoder()


@lru_cache(maxsize=1)
def shared_vectors() -> VectorCache:
    """The vectors that all matchers of a process share."""
    return VectorCache(shared_encoder(), os.path.join(cache_dir(), "guidance"))


class VectorCache:
    """The vectors of snippets by what is embedded and by the encoder; in memory, and as files below a folder.

    A file that is damaged is made anew; one that cannot be written costs only time at the next start.
    """

    def __init__(self, encoder: TextEncoder, folder: str) -> None:
        self.encoder = encoder
        self._folder = folder
        self._held: dict[str, Any] = {}

    def find(self, views: Views) -> Any | None:
        """The vectors of a snippet, one row a text, heads first; None where they were never made."""
        key = self._key(views)
        if key not in self._held:
            rows = _read(self._path(key), len(views.heads) + len(views.body))
            if rows is None:
                return None
            self._keep(key, rows)
        return self._held[key]

    def make(self, views: Views) -> Any:
        """The same, made where they are missing. Some 10 ms of CPU a text.

        Raises:
            EncoderUnavailable: See `Encoder.load`.
        """
        found = self.find(views)
        if found is None:
            import numpy as np

            vectors = self.encoder.vectors([*views.heads, *views.body])
            found = np.asarray(vectors, dtype=np.float32)
            self._keep(self._key(views), found)
            _write(self._path(self._key(views)), found.astype("<f4").tobytes())
        return found

    def _keep(self, key: str, rows: Any) -> None:
        while len(self._held) >= KEPT:
            self._held.pop(next(iter(self._held)), None)
        self._held[key] = rows

    def _key(self, views: Views) -> str:
        texts = "\0".join((self.encoder.model_sha256, *views.heads, *views.body))
        return sha256(texts.encode("utf-8", "surrogatepass")).hexdigest()

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, f"{key}.f32")


class Stack(NamedTuple):
    """The vectors of an index, one row a snippet or a section.

    Attributes:
        heads: The mean of each snippet's heads, less the centre and through the adapter.
        sections: All sections, treated likewise, and a last row of zeros.
        places: Per snippet the rows of its sections, padded with the last.
        counts: Per snippet how many of its best sections count; 0 where it has none.
    """

    heads: Any
    sections: Any
    places: Any
    counts: Any

    def cosines(self, vectors: Any) -> tuple[Any, Any]:
        """The products with heads, and the means of those with the three best sections.

        One row a vector, one column a snippet. A snippet without a body counts by its heads.
        """
        import numpy as np

        # One vector at a time: a product of two matrices wakes threads that cost more than they save.
        lift, each = (np.array([rows @ vector for vector in vectors]) for rows in (self.heads, self.sections))
        each[:, -1] = -np.inf
        best = -np.sort(np.partition(-each[:, self.places], BEST_SECTIONS - 1)[..., :BEST_SECTIONS])
        counted = np.arange(BEST_SECTIONS) < self.counts[:, None]
        total = np.where(counted, best, 0.0).sum(axis=-1)
        return lift, np.where(self.counts > 0, total / np.maximum(self.counts, 1), lift)


def stack(rows: Sequence[Any], centre: Sequence[float], adapter: Any | None) -> Stack:
    """The vectors of snippets, in their order; see `VectorCache.make`.

    Args:
        centre: What is taken off each vector: the mean of many other snippets.
        adapter: Two matrices (dimensions, rank); a vector then gains the first times the second's transpose
            times itself. None adds nothing.
    """
    import numpy as np

    def lift(vectors: Any) -> Any:
        vectors = vectors - np.asarray(centre, np.float32)
        return vectors if adapter is None else vectors + (vectors @ adapter[1]) @ adapter[0].T

    sections = [one[HEADS:] for one in rows]
    last = sum(map(len, sections))
    places = np.full((len(rows), MOST_SECTIONS), last)
    start = 0
    for number, some in enumerate(sections):
        places[number, : len(some)] = np.arange(start, start + len(some))
        start += len(some)
    zeros = np.zeros((1, DIMENSIONS), np.float32)
    heads = np.array([one[:HEADS].mean(axis=0) for one in rows], np.float32).reshape(-1, DIMENSIONS)
    counts = np.array([min(len(some), BEST_SECTIONS) for some in sections])
    return Stack(lift(heads), lift(np.concatenate([*sections, zeros])), places, counts)


def _read(path: str, rows: int) -> Any | None:
    import numpy as np

    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    if len(data) != rows * DIMENSIONS * 4:
        return None
    found = np.frombuffer(data, "<f4").reshape(rows, DIMENSIONS)
    lengths = np.linalg.norm(found, axis=1)
    return found if np.allclose(lengths, 1, atol=1e-3) else None


def _write(path: str, data: bytes) -> None:
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        return
