"""Bars of a plan: a metric, how it is compared, and with what, such as `recall_min = 0.97`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from admit.errors import PlanError

from .statistics import Estimate

Comparison = Literal["min", "max", "below"]

EXPOSURE = ("recall", "full_coverage", "mean_exposed", "p95_exposed", "mean_tokens")
"""Metrics of one policy on one surface that a bar may stand on."""
DOWNSTREAM = ("task_pass_delta", "unauthorised_destructive")
"""Metrics of an agent's runs, which only a promotion may ask for."""
ORDERS = ("mean_exposed", "recall", "full_coverage", "mean_tokens", "p95_latency", "id")
"""What a plan may choose by."""
DIAGNOSTICS = ("bits_over_random", "bor", "bits", "p_rand")


class Bar(NamedTuple):
    """One bar.

    Attributes:
        key: As it stands in the plan.
        bound: A number, or the policy on the same cases whose value is the bound.
    """

    key: str
    metric: str
    comparison: Comparison
    bound: float | str


def bar(section: str, key: str, value: object, *, policies: tuple[str, ...]) -> Bar:
    """Read one bar.

    Raises:
        PlanError: There is no such metric, it may not decide anything, or its bound is neither a number nor a
            policy of the plan.
    """
    name = f"{section}.{key}"
    metric, _, comparison = key.rpartition("_")
    refuse_diagnostic(name, metric)
    known = EXPOSURE + (DOWNSTREAM if section == "promote" else ())
    if comparison not in ("min", "max", "below") or metric not in known:
        raise PlanError(
            f"{name}: there is no such bar; take one of {', '.join(known)} with _min, _max or _below",
            key=name,
        )
    if isinstance(value, str):
        if value not in policies:
            raise PlanError(f"{name}: {value!r} is no policy of this plan", key=name)
        return Bar(key, metric, comparison, value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise PlanError(f"{name}: takes a number or a policy's id", key=name)
    return Bar(key, metric, comparison, float(value))


def refuse_diagnostic(name: str, metric: str) -> None:
    """Refuse what is only ever reported.

    Raises:
        PlanError: It is Bits-over-Random, which falls with every tool that is added and always votes for one.
    """
    if metric.lower().replace("-", "_") in DIAGNOSTICS or "over_random" in metric.lower().replace("-", "_"):
        raise PlanError(
            f"{name}: bits over random is a diagnostic and decides nothing; choose by {', '.join(ORDERS)}",
            key=name,
        )


def holds(one: Bar, values: Mapping[str, Mapping[str, Estimate]], policy: str) -> bool | None:
    """Whether a policy keeps a bar on one surface at one size; None where its value is not known.

    Args:
        values: Metrics by policy.
    """
    own = values[policy].get(one.metric)
    bound = one.bound
    if isinstance(bound, str):
        other = values.get(bound, {}).get(one.metric)
        bound = None if other is None else other.value
    if own is None or own.value is None or bound is None:
        return None
    if one.comparison == "min":
        return own.value >= bound
    return own.value <= bound if one.comparison == "max" else own.value < bound
