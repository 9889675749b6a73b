"""What is reported of a policy at one size of catalog, each figure with its population and interval.

Populations: *needed* are required instances, *supported* the cases that need a route, *unsupported* those
that need none, *all* every case.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from .score import Row
from .statistics import Estimate, Resample, share
from .surface import Case

TYPED = "typed_numeric_units"
NEAR = "near_domain_unsupported"
FAR = "out_of_domain"

METRICS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "recall": ("needed", "required instances that are exposed"),
        "full_coverage": ("supported", "cases of which every required route is exposed"),
        "mean_exposed": ("all", "tools exposed in a case"),
        "p95_exposed": ("all", "tools exposed in a case, 95th percentile"),
        "mean_tokens": ("all", "schema tokens of what is exposed, as exported"),
        "supported_exposed": ("supported", "tools exposed in a case"),
        "near_domain_exposed": ("near-domain unsupported", "tools exposed in a case"),
        "out_of_domain_exposed": ("out of domain", "tools exposed in a case"),
        "typed_recall": ("needed, typed and unit", "required instances that are exposed"),
        "abstention_precision": ("cases shown nothing", "of them, those that need nothing"),
        "abstention_recall": ("unsupported", "of them, those that are shown nothing"),
        "collisions_at_cut": ("needed", "missing with the score of the last exposed, a count"),
        "below_cut": ("needed", "missing otherwise, a count"),
        "not_in_top_10": ("needed", "of those below the cut, not among the first ten, a count"),
        "filtered": ("needed", "of those below the cut, taken out before ranking, a count"),
        "recall_per_1000_tokens": ("needed, all", "recall by mean schema tokens, × 1,000"),
        "bits_over_random": ("supported", "a diagnostic that falls with every tool; it decides nothing"),
        "p95_latency": ("all", "µs that the door took, 95th percentile"),
    }
)
"""Each metric with its population and meaning."""


class Columns(NamedTuple):
    """A policy's rows as columns, one value a case."""

    hits: list[int]
    needed: list[int]
    full: list[int]
    supported: list[int]
    exposed: list[int]
    tokens: list[int]


def columns(cases: Sequence[Case], rows: Mapping[str, Row]) -> Columns:
    """The columns of one policy at one size; `rows` by case."""
    hits = [len(set(one.required) & set(rows[one.id].exposed)) for one in cases]
    needed = [len(one.required) for one in cases]
    return Columns(
        hits=hits,
        needed=needed,
        full=[int(0 < n == hit) for n, hit in zip(needed, hits, strict=True)],
        supported=[int(n > 0) for n in needed],
        exposed=[len(rows[one.id].exposed) for one in cases],
        tokens=[rows[one.id].tokens for one in cases],
    )


def metrics(
    cases: Sequence[Case], rows: Mapping[str, Row], routes: int, draw: Resample, ms: Sequence[float] = ()
) -> dict[str, Estimate]:
    """All metrics of one policy at one size.

    Args:
        rows: By case.
        routes: In the catalog.
        draw: Over the clusters of `cases`, in their order.
        ms: Time of each case.
    """
    own = columns(cases, rows)
    every = [1] * len(cases)
    recall = draw.ratio(own.hits, own.needed, "share")
    tokens = draw.ratio(own.tokens, every, "tokens")
    silent = [int(n == 0) for n in own.exposed]
    nothing = [1 - one for one in own.supported]
    right = sum(one and two for one, two in zip(silent, nothing, strict=True))
    misses = {
        "collisions_at_cut": sum(rows[one.id].collisions for one in cases),
        "below_cut": sum(rows[one.id].below for one in cases),
        "not_in_top_10": sum(rows[one.id].not_in_top for one in cases),
        "filtered": sum(rows[one.id].filtered for one in cases),
    }
    supported, needed = sum(own.supported), sum(own.needed)
    found = {
        "recall": recall,
        "full_coverage": share(sum(own.full), supported),
        "mean_exposed": draw.ratio(own.exposed, every, "tools"),
        "p95_exposed": draw.quantile(own.exposed, 0.95, "tools"),
        "mean_tokens": tokens,
        "supported_exposed": draw.ratio(_only(own.exposed, own.supported), own.supported, "tools"),
        "near_domain_exposed": _of(draw, own.exposed, cases, NEAR),
        "out_of_domain_exposed": _of(draw, own.exposed, cases, FAR),
        "typed_recall": draw.ratio(
            _only(own.hits, _in(cases, TYPED)), _only(own.needed, _in(cases, TYPED)), "share"
        ),
        "abstention_precision": share(right, sum(silent)),
        "abstention_recall": share(right, sum(nothing)),
        **{name: Estimate(float(n), None, None, needed, "count") for name, n in misses.items()},
        "recall_per_1000_tokens": _per_1000(recall, tokens),
        "bits_over_random": bits_over_random(own, routes),
    }
    if ms:
        found["p95_latency"] = draw.quantile([math.ceil(1000 * one) for one in ms], 0.95, "µs")
    return found


def bits_over_random(own: Columns, routes: int) -> Estimate:
    """``log2(P_obs / P_rand)``: that a needed route is exposed, against as many routes drawn at random.

    ``P_rand = 1 − C(N − R, K) / C(N, K)``; both are means over the cases that need a route, before the
    logarithm.
    """
    pairs = [(n, k, hit) for n, k, hit in zip(own.needed, own.exposed, own.hits, strict=True) if n]
    if not pairs:
        return Estimate(None, None, None, 0, "bits")
    observed = sum(hit > 0 for _, _, hit in pairs) / len(pairs)
    chance = sum(1 - math.comb(routes - n, k) / math.comb(routes, k) for n, k, _ in pairs) / len(pairs)
    value = math.log2(observed / chance) if observed and chance else None
    return Estimate(value, None, None, len(pairs), "bits")


def _of(draw: Resample, values: Sequence[int], cases: Sequence[Case], stratum: str) -> Estimate:
    mask = _in(cases, stratum)
    return draw.ratio(_only(values, mask), mask, "tools")


def _in(cases: Sequence[Case], stratum: str) -> list[int]:
    return [int(one.stratum == stratum) for one in cases]


def _only(values: Sequence[int], mask: Sequence[int]) -> list[int]:
    return [value * kept for value, kept in zip(values, mask, strict=True)]


def _per_1000(recall: Estimate, tokens: Estimate) -> Estimate:
    value = None
    if recall.value is not None and tokens.value:
        value = 1000 * recall.value / tokens.value
    return Estimate(value, None, None, tokens.n, "share by 1,000 tokens")
