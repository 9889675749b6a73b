"""A run in figures: every metric of every policy at every size, and each policy against the control."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .compare import Difference, compare
from .metrics import Columns, columns, metrics
from .plan import Plan
from .run import Run
from .score import Row
from .statistics import Estimate, Resample
from .surface import Case, Surface

AGAINST = "FIXED-5"
COMPARED = ("full_coverage", "exposed", "tokens")


class Summary(NamedTuple):
    """The figures of a run.

    Attributes:
        metrics: By size, then policy, then metric.
        against: Each other policy against `AGAINST`, by size, policy and measure.
        strata: Recall (or, where nothing is needed, mean exposed) by size, policy and stratum.
        flips: Rows of the repeat arm whose exposed routes changed, of `repeats`.
    """

    metrics: Mapping[int, Mapping[str, Mapping[str, Estimate]]]
    against: Mapping[int, Mapping[str, Mapping[str, Difference]]]
    strata: Mapping[int, Mapping[str, Mapping[str, Estimate]]]
    flips: int
    repeats: int


def summarise(plan: Plan, surface: Surface, run: Run) -> Summary:
    """All figures of a run over the surface that it was run on."""
    draw = Resample([one.cluster for one in surface.cases], draws=plan.draws, seed=plan.seed)
    rows: dict[tuple[int, str], dict[str, Row]] = defaultdict(dict)
    times: dict[tuple[int, str], dict[str, float]] = defaultdict(dict)
    for row, ms in zip(run.rows, run.ms, strict=True):
        rows[row.size, row.policy][row.case] = row
        times[row.size, row.policy][row.case] = ms
    repeats: dict[tuple[int, str], dict[str, Row]] = defaultdict(dict)
    for row in run.repeats:
        repeats[row.size, row.policy][row.case] = row
    found: dict[int, dict[str, dict[str, Estimate]]] = {}
    against: dict[int, dict[str, dict[str, Difference]]] = {}
    strata: dict[int, dict[str, dict[str, Estimate]]] = {}
    for size in plan.shape.sizes:
        found[size], against[size], strata[size] = {}, {}, {}
        for policy in plan.policies:
            own = rows[size, policy]
            ms = [times[size, policy][one.id] for one in surface.cases]
            found[size][policy] = metrics(surface.cases, own, size, draw, ms)
            strata[size][policy] = _strata(surface.cases, own, draw)
            if policy != AGAINST and AGAINST in plan.policies:
                against[size][policy] = _against(
                    surface.cases, own, rows[size, AGAINST], repeats[size, policy], draw
                )
    flips = sum(row.exposed != rows[row.size, row.policy][row.case].exposed for row in run.repeats)
    return Summary(found, against, strata, flips, len(run.repeats))


def _against(
    cases: Sequence[Case],
    rows: Mapping[str, Row],
    others: Mapping[str, Row],
    repeats: Mapping[str, Row],
    draw: Resample,
) -> dict[str, Difference]:
    own, other = columns(cases, rows), columns(cases, others)
    twice = [one for one in cases if one.id in repeats]
    first, second = columns(twice, rows), columns(twice, repeats)
    every = [1] * len(cases)
    plain = {
        "full_coverage": ("full", own.supported, "share"),
        "exposed": ("exposed", every, "tools"),
        "tokens": ("tokens", every, "tokens"),
    }
    return {
        name: compare(
            getattr(own, column),
            getattr(other, column),
            under,
            draw,
            unit,
            _moved(first, second, column),
        )
        for name, (column, under, unit) in plain.items()
    }


def _moved(first: Columns, second: Columns, column: str) -> list[float]:
    return [two - one for one, two in zip(getattr(first, column), getattr(second, column), strict=True)]


def _strata(cases: Sequence[Case], rows: Mapping[str, Row], draw: Resample) -> dict[str, Estimate]:
    own = columns(cases, rows)
    found = {}
    for stratum in dict.fromkeys(one.stratum for one in cases):
        mask = [int(one.stratum == stratum) for one in cases]
        needed = [n * kept for n, kept in zip(own.needed, mask, strict=True)]
        if any(needed):
            hits = [n * kept for n, kept in zip(own.hits, mask, strict=True)]
            found[stratum] = draw.ratio(hits, needed, "share")
        else:
            shown = [n * kept for n, kept in zip(own.exposed, mask, strict=True)]
            found[stratum] = draw.ratio(shown, mask, "tools")
    return found
