"""Select: what is eligible at every size, then the plan's order; exactly one policy, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from admit.errors import LabError, PlanError

from . import canon
from .bars import ORDERS, holds, refuse_diagnostic
from .freeze import FrozenPlan, surface_of
from .journal import Journal
from .plan import Plan
from .run import held
from .summary import Summary, summarise

FILE = "selection.json"


class Selection(NamedTuple):
    """What was chosen.

    Attributes:
        policy: None where nothing is eligible, which ends the line.
        failed: For each candidate the bars that it does not keep, as ``recall_min at 250``.
        order: The eligible, best first, with the values that they were put in order by: means over the sizes.
    """

    policy: str | None
    failed: Mapping[str, tuple[str, ...]]
    order: tuple[tuple[str, Mapping[str, float]], ...]
    run: str

    @property
    def result(self) -> str:
        return "nothing_eligible" if self.policy is None else "selected"


def choose(plan: Plan, summary: Summary, run: str) -> Selection:
    """Apply a plan's rule to figures. Controls and what is outside the family are never chosen.

    Raises:
        PlanError: The order names something that may not decide.
    """
    for metric in plan.order:
        refuse_diagnostic("select.order", metric.lstrip("-"))
        if metric.lstrip("-") not in ORDERS:
            raise PlanError(f"select.order: {metric} may not decide", key="select.order")
    failed = {
        policy: tuple(
            f"{one.key} at {size}"
            for size in plan.shape.sizes
            for one in plan.eligible
            if not holds(one, summary.metrics[size], policy)
        )
        for policy in plan.candidates
    }
    left = [policy for policy in plan.candidates if not failed[policy]]
    values = {policy: _values(plan, summary, policy) for policy in left}

    def key(policy: str) -> list[Any]:
        return [
            policy
            if metric == "id"
            else (-1 if metric.startswith("-") else 1) * values[policy][metric.lstrip("-")]
            for metric in plan.order
        ]

    ordered = sorted(left, key=key)
    return Selection(
        ordered[0] if ordered else None, failed, tuple((one, values[one]) for one in ordered), run
    )


def select(frozen: FrozenPlan, journal: Journal) -> Selection:
    """Choose from the run of a plan, once: a later call gives the same choice.

    Raises:
        LabError: There is no whole run, or another run was chosen from before.
    """
    run = held(frozen)
    before = journal.steps("select", frozen.hash)
    if before and before[0].body.get("result_hash") != run.hash:
        raise LabError(
            "a policy was chosen from another run of this plan, and there is no retuning after a choice; "
            "freeze a new plan to measure anew"
        )
    chosen = choose(frozen.plan, summarise(frozen.plan, surface_of(frozen, "dev"), run), run.hash)
    canon.write(frozen.folder / FILE, as_json(chosen))
    if not before:
        journal.write(
            "select",
            **frozen.body(
                data={"dev": run.data},
                code=run.code,
                result=chosen.result,
                result_hash=run.hash,
                policy=chosen.policy,
            ),
        )
    return chosen


def recorded(frozen: FrozenPlan, journal: Journal) -> Selection:
    """The choice that was made by `select`.

    Raises:
        LabError: None was, or as `select`.
    """
    if not journal.steps("select", frozen.hash):
        raise LabError(f"nothing was chosen yet; admit lab select {frozen.plan.path}")
    return select(frozen, journal)


def as_json(chosen: Selection) -> dict[str, Any]:
    """The selection as a JSON value."""
    return {
        "policy": chosen.policy,
        "result": chosen.result,
        "failed": {policy: list(bars) for policy, bars in chosen.failed.items()},
        "order": [{"policy": policy, **values} for policy, values in chosen.order],
        "run": chosen.run,
    }


def _values(plan: Plan, summary: Summary, policy: str) -> dict[str, float]:
    """The mean over the sizes of each metric of the order, rounded so that no rounding error decides."""
    found = {}
    for metric in (one.lstrip("-") for one in plan.order if one != "id"):
        each = [summary.metrics[size][policy][metric].value for size in plan.shape.sizes]
        known = [one for one in each if one is not None]
        found[metric] = round(sum(known) / len(known), 9) if known else 0.0
    return found
