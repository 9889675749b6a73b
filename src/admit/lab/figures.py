"""The figures of a run as one JSON value: what stands in a report, and beside every figure of a document."""

from __future__ import annotations

from typing import Any

from admit.tools.policy import ToolPolicy

from .compare import Difference
from .freeze import FrozenPlan
from .metrics import METRICS
from .run import Run
from .selection import Selection, as_json
from .statistics import Estimate
from .summary import AGAINST, Summary
from .surface import Surface

DECIMALS = 6
MEASURED = ("p95_latency",)
"""Times, which differ from one machine and run to the next."""


def figures(
    frozen: FrozenPlan, surface: Surface, run: Run, summary: Summary, chosen: Selection, command: str = ""
) -> dict[str, Any]:
    """The figures with all that they come from; without times the same run gives the same value."""
    plan = frozen.plan
    return {
        "schema": 1,
        "name": plan.name,
        "question": plan.question,
        "claim_boundary": plan.claim_boundary,
        "command": command,
        "plan": frozen.hash,
        "code": run.code,
        "data": {role: dict(files) for role, files in frozen.data.items() if role == run.role},
        "surface": {
            "name": surface.name,
            "role": run.role,
            "cases": len(surface.cases),
            "synthetic": surface.synthetic,
            "source": surface.source,
            "licence": surface.licence,
        },
        "draws": plan.draws,
        "seed": plan.seed,
        "pad": plan.pad,
        "counter": ToolPolicy().counter,
        "power": {"cases_needed": plan.needed, "waiver": plan.power.waiver},
        "repeat": {"changed": summary.flips, "of": summary.repeats},
        "populations": {name: population for name, (population, _) in METRICS.items()},
        "families": {policy: plan.family(policy) for policy in plan.policies},
        "estimates": {
            str(size): {
                policy: {name: _estimate(one) for name, one in values.items() if name not in MEASURED}
                for policy, values in summary.metrics[size].items()
            }
            for size in plan.shape.sizes
        },
        "against": {
            "control": AGAINST,
            "sizes": {
                str(size): {
                    policy: {name: _difference(one) for name, one in values.items()}
                    for policy, values in summary.against[size].items()
                }
                for size in plan.shape.sizes
            },
        },
        "strata": {
            str(size): {
                policy: {name: _estimate(one) for name, one in values.items()}
                for policy, values in summary.strata[size].items()
            }
            for size in plan.shape.sizes
        },
        "oracle": {str(size): _rounded(_oracle(surface)) for size in plan.shape.sizes},
        "selection": {**_untimed(as_json(chosen)), "run": run.hash},
    }


def times(summary: Summary) -> dict[str, Any]:
    """The measured times, by size and policy."""
    return {
        str(size): {policy: {name: _estimate(values[name]) for name in MEASURED if name in values}
                    for policy, values in policies.items()}
        for size, policies in summary.metrics.items()
    }  # fmt: skip


def _oracle(surface: Surface) -> float:
    """Tools exposed in a case where each is shown exactly what it needs."""
    return sum(len(one.required) for one in surface.cases) / len(surface.cases)


def _untimed(chosen: dict[str, Any]) -> dict[str, Any]:
    order = [{name: one for name, one in row.items() if name not in MEASURED} for row in chosen["order"]]
    return {**chosen, "order": order}


def _estimate(one: Estimate) -> dict[str, Any]:
    return {
        "value": _rounded(one.value),
        "low": _rounded(one.low),
        "high": _rounded(one.high),
        "n": one.n,
        "unit": one.unit,
    }


def _difference(one: Difference) -> dict[str, Any]:
    return {
        **_estimate(one.delta),
        "p": _rounded(one.p),
        "noise": _rounded(one.noise),
        "verdict": one.verdict,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DECIMALS)
