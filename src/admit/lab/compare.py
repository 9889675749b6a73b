"""Two arms on the same cases: the difference, and whether it stands out from chance and the repeat arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from admit.report.stats import wilson

from .statistics import Estimate, Resample, mcnemar

SURE = 0.05


class Difference(NamedTuple):
    """One arm less another.

    Attributes:
        p: Exact McNemar, for what each case passes or fails; None for other measures.
        noise: How far the same arm, unchanged, moved this measure from one run to the next.
        flips: Cases of the repeat arm that moved, of `repeats`.
        verdict: ``difference`` only where the interval is apart from 0, the test (where there is one) is
            significant, and the difference exceeds the noise.
    """

    delta: Estimate
    p: float | None
    noise: float
    flips: int
    repeats: int
    verdict: Literal["difference", "not shown"]


def compare(
    arm: Sequence[float],
    other: Sequence[float],
    under: Sequence[float],
    draw: Resample,
    unit: str,
    repeat: Sequence[float] = (),
) -> Difference:
    """Compare two arms case by case.

    Args:
        under: What each case counts for: 0 leaves it out.
        repeat: How far each repeated case moved, 0 where it did not.
    """
    delta = draw.difference(arm, other, under, unit)
    kept = [(one, two) for one, two, n in zip(arm, other, under, strict=True) if n]
    passes = unit == "share" and {value for pair in kept for value in pair} <= {0, 1}
    p = None
    if passes:
        p = mcnemar(sum(one > two for one, two in kept), sum(two > one for one, two in kept))
    flips = sum(one != 0 for one in repeat)
    noise = _noise(flips, repeat, unit)
    apart = delta.low is not None and delta.high is not None and not delta.low <= 0 <= delta.high
    shown = apart and (p is None or p < SURE) and abs(delta.value or 0.0) > noise
    return Difference(delta, p, noise, flips, len(repeat), "difference" if shown else "not shown")


def _noise(flips: int, repeat: Sequence[float], unit: str) -> float:
    """Of a share the upper end of its interval, for a short repeat arm knows its own noise badly."""
    if not flips:
        return 0.0
    if unit == "share":
        return wilson(flips, len(repeat)).high or 0.0
    return sum(map(abs, repeat)) / len(repeat)
