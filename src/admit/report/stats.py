"""Intervals for shares and for paired differences, in a few lines of the standard library."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

DRAWS = 5_000
SEED = 20_240_607
LEAST_CLUSTERS = 5


class Estimate(NamedTuple):
    """A value with the ends of its 95 % interval and its population; None where it cannot be said."""

    value: float | None
    low: float | None
    high: float | None
    n: int


def wilson(hits: int, n: int, z: float = 1.959964) -> Estimate:
    """A share with Wilson's score interval (Wilson 1927)."""
    if not n:
        return Estimate(None, None, None, 0)
    share = hits / n
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    centre, scale = share + z * z / (2 * n), 1 + z * z / n
    return Estimate(share, max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale), n)


def clustered_mean(values: Sequence[float], clusters: Sequence[str]) -> Estimate:
    """The mean with its percentile bootstrap interval; for differences case by case it is the paired one.

    Whole clusters are drawn with replacement, 5,000 times from a fixed seed, so values of one cluster need
    not be independent. Fewer than five clusters are too few to draw from, and give no interval.
    """
    sums: dict[str, tuple[float, int]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        total, count = sums.get(cluster, (0.0, 0))
        sums[cluster] = (total + value, count + 1)
    groups = [sums[cluster] for cluster in sorted(sums)]
    if not groups:
        return Estimate(None, None, None, 0)
    mean = math.fsum(values) / len(values)
    if len(groups) < LEAST_CLUSTERS:
        return Estimate(mean, None, None, len(values))
    draw = random.Random(SEED)
    means = []
    for _ in range(DRAWS):
        sample = draw.choices(groups, k=len(groups))
        means.append(math.fsum(total for total, _ in sample) / sum(count for _, count in sample))
    means.sort()
    return Estimate(mean, _at(means, 0.025), _at(means, 0.975), len(values))


def _at(ordered: Sequence[float], share: float) -> float:
    """The value at a share (0..1) of an ascending sequence, linear between neighbours."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
