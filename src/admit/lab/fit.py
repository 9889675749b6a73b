"""Fitting: logistic regression, proportional odds, and the figures that say how good a fit is.

Plain Newton steps on penalised likelihoods; with the same numbers the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

RIDGE = 1.0
"""The penalty on half the squared weights of standardised features, against the summed log-likelihood."""

BOOTSTRAP_DRAWS = 1000


def fit_levels(x: Array, y: Array, levels: int) -> tuple[Array, Array]:
    """Weights and rising cuts of a proportional odds model, P(y ≤ k) = σ(cutₖ − w·x) (McCullagh, 1980).

    With two levels this is logistic regression whose intercept is minus the one cut.
    """
    import numpy as np

    width = x.shape[1]
    share = np.clip([(y <= k).mean() for k in range(levels - 1)], 1e-4, 1 - 1e-4)
    first = np.log(share / (1 - share))
    # The gaps between cuts are fitted as logarithms, so that cuts stay in order.
    start = np.concatenate([np.zeros(width), first[:1], np.log(np.maximum(np.diff(first), 1e-3))])

    def loss(parameters: Array) -> tuple[float, Array]:
        return _ordinal_loss(parameters, x, y, levels)

    fitted = minimise(loss, start)
    return fitted[:width], _cuts(fitted[width:])


def minimise(loss: Callable[[Array], tuple[float, Array]], start: Array, steps: int = 100) -> Array:
    """The minimum of a smooth convex-like function by damped Newton steps.

    `loss` gives value and gradient; the Hessian is taken from differences of the gradient.
    """
    import numpy as np

    point = start.astype(float)
    value, gradient = loss(point)
    for _ in range(steps):
        hessian = np.empty((len(point), len(point)))
        for k in range(len(point)):
            nudged = point.copy()
            nudged[k] += 1e-5
            hessian[k] = (loss(nudged)[1] - gradient) / 1e-5
        hessian = (hessian + hessian.T) / 2 + 1e-8 * np.eye(len(point))
        direction = -np.linalg.solve(hessian, gradient)
        if gradient @ direction > 0:
            direction = -gradient
        length = 1.0
        while length > 1e-8:
            candidate, slope = loss(point + length * direction)
            if candidate <= value + 1e-4 * length * (gradient @ direction):
                break
            length /= 2
        else:
            break
        point = point + length * direction
        done = value - candidate < 1e-10 * (1 + abs(value))
        value, gradient = candidate, slope
        if done:
            break
    return point


def levels_probabilities(x: Array, weights: Array, cuts: Array) -> Array:
    """One row per case, one column per level."""
    import numpy as np

    below = _sigmoid(cuts[None, :] - (x @ weights)[:, None])
    edges = np.hstack([np.zeros((len(x), 1)), below, np.ones((len(x), 1))])
    return np.diff(edges, axis=1)


def auc(scores: Array | Sequence[float], positive: Array | Sequence[bool]) -> float:
    """The chance that a positive scores above a negative, ties counting one half (Mann and Whitney)."""
    import numpy as np

    s, y = np.asarray(scores, float), np.asarray(positive, bool)
    _, inverse, counts = np.unique(s, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    n, m = int(y.sum()), int((~y).sum())
    return float((ranks[y].sum() - n * (n + 1) / 2) / (n * m)) if n and m else 0.5


def auc_interval(scores: Array, positive: Array, groups: Sequence[str], seed: int) -> tuple[float, float]:
    """The 95 % bootstrap interval of the AUC, drawing whole groups."""
    import numpy as np

    names = sorted(set(groups))
    rows = {name: [] for name in names}
    for k, name in enumerate(groups):
        rows[name].append(k)
    random = np.random.default_rng(seed)
    found: list[float] = []
    for _ in range(BOOTSTRAP_DRAWS):
        drawn = np.concatenate([rows[names[k]] for k in random.integers(0, len(names), len(names))])
        found.append(auc(scores[drawn], positive[drawn]))
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


def expected_calibration_error(p: Array, positive: Array, bins: int = 10) -> float:
    """The mean distance between stated probability and share of positives over bins of equal width."""
    import numpy as np

    places = np.minimum((p * bins).astype(int), bins - 1)
    error = 0.0
    for k in range(bins):
        inside = places == k
        if inside.any():
            error += inside.mean() * abs(p[inside].mean() - positive[inside].mean())
    return float(error)


def brier_skill(p: Array, positive: Array) -> float:
    """1 minus the Brier score over that of always stating the base rate."""
    base = ((positive.mean() - positive) ** 2).mean()
    return float(1 - ((p - positive) ** 2).mean() / base)


def threshold_at_recall(scores: Array, positive: Array, recall: float = 0.9) -> float:
    """The largest score from which on at least this share of the positives is kept."""
    import numpy as np

    ranked = np.sort(scores[positive])[::-1]
    return float(ranked[int(np.ceil(recall * len(ranked))) - 1])


def _ordinal_loss(parameters: Array, x: Array, y: Array, levels: int) -> tuple[float, Array]:
    import numpy as np

    width = x.shape[1]
    weights, free = parameters[:width], parameters[width:]
    cuts = _cuts(free)
    z = x @ weights
    upper = np.append(cuts, np.inf)[y] - z
    lower = np.insert(cuts, 0, -np.inf)[y] - z
    high, low = _sigmoid(upper), _sigmoid(lower)
    p = np.maximum(high - low, 1e-12)
    value = -np.log(p).sum() + RIDGE / 2 * weights @ weights
    at_high, at_low = high * (1 - high) / p, low * (1 - low) / p
    by_weight = x.T @ (at_high - at_low) + RIDGE * weights
    by_cut = np.array([-at_high[y == k].sum() + at_low[y == k + 1].sum() for k in range(levels - 1)])
    by_free = np.cumsum(by_cut[::-1])[::-1] * np.concatenate([[1.0], np.exp(free[1:])])
    return float(value), np.concatenate([by_weight, by_free])


def _cuts(free: Array) -> Array:
    import numpy as np

    return np.cumsum(np.concatenate([free[:1], np.exp(free[1:])]))


def _sigmoid(x: Array) -> Array:
    import numpy as np

    return 1 / (1 + np.exp(-np.clip(x, -500, 500)))
