"""Which snippets a prompt proposes, when several of its sentences call for several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .matching import Matched


class Bars(NamedTuple):
    """What it takes to be proposed.

    Attributes:
        admit: The least probability.
        per_chunk: The most that one chunk proposes.
        max_scored: The most that a prompt proposes.
    """

    admit: float = 0.5
    per_chunk: int = 3
    max_scored: int = 12


def compete(ids: Sequence[str], chunks: Sequence[Sequence[float]], bars: Bars) -> Matched:
    """Score each snippet by its best chunk, and propose the best of each chunk. Ties are settled by id.

    Args:
        ids: The snippets that may compete.
        chunks: For each chunk one probability a snippet, in the order of `ids`.
    """
    if not chunks:
        return Matched(dict.fromkeys(ids, 0.0))
    scores = dict(zip(ids, map(max, *chunks) if len(chunks) > 1 else chunks[0], strict=True))
    proposed: set[str] = set()
    for values in chunks:
        over = [(-p, id) for id, p in zip(ids, values, strict=True) if p >= bars.admit]
        proposed.update(id for _, id in sorted(over)[: bars.per_chunk])
    admitted = sorted(proposed, key=lambda id: (-scores[id], id))[: bars.max_scored]
    over_bar = frozenset(id for id, p in scores.items() if p >= bars.admit)
    return Matched(scores, tuple(admitted), over_bar.difference(admitted))
