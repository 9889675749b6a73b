"""Estimates with their intervals: whole clusters drawn again, exact tests, and how many cases a bar takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

from admit.errors import LabError
from admit.report.stats import wilson

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED = 20_240_607
DRAWS = 5_000
LEAST_CLUSTERS = 5


class Estimate(NamedTuple):
    """A value with the ends of its 95 % interval; None where it cannot be said.

    Attributes:
        n: What it is over, a count: cases, or required instances.
        unit: Of the value: ``share``, ``tools``, ``tokens``, ``bits``, ``ms``, ``count``.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    unit: str


def share(hits: int, n: int) -> Estimate:
    """A share with Wilson's score interval (Wilson 1927)."""
    value, low, high, _ = wilson(hits, n)
    return Estimate(value, low, high, n, "share")


class Resample:
    """Draws of whole clusters with replacement, the same for every metric, so that differences are paired.

    Fewer than five clusters are too few to draw from, and give no interval.

    Args:
        clusters: One a case, in the cases' order.
        draws: How many samples; their spread is the interval (percentile bootstrap, Efron 1979).
    """

    def __init__(self, clusters: Sequence[str], *, draws: int = DRAWS, seed: int = SEED) -> None:
        try:
            import numpy as np
        except ImportError:
            raise LabError("the lab needs some packages: pip install 'admit[lab]'") from None

        names = {name: place for place, name in enumerate(sorted(set(clusters)))}
        self.clusters = len(names)
        self._place = np.array([names[name] for name in clusters], dtype=int)
        n = max(self.clusters, 1)
        self._weights = np.random.default_rng(seed).multinomial(n, [1 / n] * n, size=draws).astype(float)

    def ratio(self, over: Sequence[float], under: Sequence[float], unit: str) -> Estimate:
        """The sum of `over` by the sum of `under`, both one a case; a mean where `under` is all 1.

        A share of exactly 0 or 1 leaves nothing to draw; its interval is Wilson's over the clusters.
        """
        total = sum(under)
        if not total:
            return Estimate(None, None, None, 0, unit)
        value = math.fsum(over) / total
        n = round(total)
        if unit == "share" and value in (0.0, 1.0):
            counted = len({place for place, one in zip(self._place, under, strict=True) if one})
            _, low, high, _ = wilson(round(value * counted), counted)
            return Estimate(value, low, high, n, unit)
        return Estimate(value, *self._ends(self._drawn(over, under)), n, unit)

    def difference(
        self, over: Sequence[float], other: Sequence[float], under: Sequence[float], unit: str
    ) -> Estimate:
        """How much `over` exceeds `other` by `under`, case by case on the same cases."""
        total = sum(under)
        if not total:
            return Estimate(None, None, None, 0, unit)
        apart = [one - two for one, two in zip(over, other, strict=True)]
        return Estimate(math.fsum(apart) / total, *self._ends(self._drawn(apart, under)), round(total), unit)

    def quantile(self, values: Sequence[int], q: float, unit: str) -> Estimate:
        """The least value that at least the share `q` of the cases does not exceed."""
        import numpy as np

        if not values:
            return Estimate(None, None, None, 0, unit)
        steps = np.array(sorted(set(values)))
        counts = np.zeros((max(self.clusters, 1), len(steps)))
        np.add.at(counts, (self._place, np.searchsorted(steps, values)), 1.0)

        def at(rows: NDArray[Any]) -> NDArray[Any]:
            running = rows.cumsum(axis=-1)
            reached = running >= q * running[..., -1:] - 1e-9
            return steps[reached.argmax(axis=-1)].astype(float)

        drawn = at(self._weights @ counts)
        return Estimate(float(at(counts.sum(axis=0))), *self._ends(drawn), len(values), unit)

    def _drawn(self, over: Sequence[float], under: Sequence[float]) -> NDArray[Any]:
        import numpy as np

        sums = np.zeros((2, max(self.clusters, 1)))
        np.add.at(sums[0], self._place, np.asarray(over, dtype=float))
        np.add.at(sums[1], self._place, np.asarray(under, dtype=float))
        tops, bottoms = self._weights @ sums[0], self._weights @ sums[1]
        return tops[bottoms > 0] / bottoms[bottoms > 0]

    def _ends(self, drawn: NDArray[Any]) -> tuple[float | None, float | None]:
        import numpy as np

        if self.clusters < LEAST_CLUSTERS or not len(drawn):
            return None, None
        low, high = np.percentile(drawn, (2.5, 97.5))
        return float(low), float(high)


def mcnemar(only_first: int, only_second: int) -> float:
    """The two-sided exact p of McNemar's test, from the cases that only one of two arms passed."""
    n, least = only_first + only_second, min(only_first, only_second)
    tail = sum(math.comb(n, k) for k in range(least + 1)) / 2**n
    return min(1.0, 2 * tail)


def clusters_needed(margin: float, discordant_share: float, chance: float) -> int:
    """Clusters that a paired comparison of passes takes, to show with this chance that it loses no more than
    `margin` where there is no true loss; 95 % two-sided interval, normal approximation (Julious 2004).

    Args:
        margin: In passes a case, above 0.
        discordant_share: Of the cases, on which the two arms differ.
    """
    normal = NormalDist()
    z = normal.inv_cdf(0.975) + normal.inv_cdf(chance)
    return math.ceil(z * z * discordant_share / (margin * margin))
