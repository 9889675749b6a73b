"""Intervals: percentile bootstrap over cases or clusters with a fixed seed, and Wilson's for shares."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

DRAWS = 5_000
SEED = 20_240_607


class Interval(NamedTuple):
    """A mean with the ends of its 95 % interval."""

    mean: float
    low: float
    high: float


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean; ``nan`` for no values."""
    return math.fsum(values) / len(values) if values else math.nan


def bootstrap(values: Sequence[float], clusters: Sequence[str] | None = None) -> Interval:
    """Return the mean of ``values`` with its 95 % percentile bootstrap interval.

    Clusters are drawn whole, with replacement, 5,000 times from a fixed seed; without ``clusters`` each
    value is one. The mean is over values, so a larger cluster weighs more. Fewer than two clusters give
    ``nan`` ends.
    """
    if clusters is None:
        clusters = [str(i) for i in range(len(values))]
    sums: dict[str, tuple[float, int]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        total, count = sums.get(cluster, (0.0, 0))
        sums[cluster] = (total + value, count + 1)
    groups = list(sums.values())
    if len(groups) < 2:
        return Interval(mean(values), math.nan, math.nan)
    draw = random.Random(SEED)
    means = []
    for _ in range(DRAWS):
        sample = draw.choices(groups, k=len(groups))
        means.append(math.fsum(total for total, _ in sample) / sum(count for _, count in sample))
    means.sort()
    return Interval(mean(values), percentile(means, 0.025), percentile(means, 0.975))


def paired(ours: Sequence[float], theirs: Sequence[float], clusters: Sequence[str] | None = None) -> Interval:
    """Return the mean of ``ours - theirs`` case by case, with its bootstrap interval."""
    return bootstrap([a - b for a, b in zip(ours, theirs, strict=True)], clusters)


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the value at ``share`` (0..1) of an ascending sequence, linear between neighbours."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def wilson(successes: float, trials: int, z: float = 1.959964) -> Interval:
    """Return a share with Wilson's 95 % score interval (Wilson 1927); ``nan`` for no trials."""
    if not trials:
        return Interval(math.nan, math.nan, math.nan)
    share = successes / trials
    spread = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    centre = share + z * z / (2 * trials)
    scale = 1 + z * z / trials
    return Interval(share, max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale))
