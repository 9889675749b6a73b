"""Promote: the one step that writes a setting, and only where every gate holds. It is recorded either way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from admit.errors import LabError

from . import canon
from .bars import Bar
from .confirm import FILE as CONFIRMED
from .freeze import FrozenPlan
from .journal import Journal
from .outcomes import Outcomes, pass_difference
from .statistics import Estimate
from .summary import AGAINST

KEY = "tools.depth"


class Gate(NamedTuple):
    """One gate of a promotion.

    Attributes:
        state: ``held``, ``failed``, or ``not shown``: its interval reaches below the bar, or there are no
            outcomes.
        says: The figures, as a sentence.
    """

    bar: str
    state: str
    says: str


class Promotion(NamedTuple):
    """Whether a number was written, and what of it was not shown.

    Attributes:
        key, value: The setting.
    """

    policy: str
    promoted: bool
    gates: tuple[Gate, ...]
    key: str
    value: str


def gates(
    frozen: FrozenPlan,
    confirmation: Mapping[str, Any],
    outcomes: Outcomes | None,
    clusters: Mapping[str, str],
) -> tuple[Gate, ...]:
    """Each gate of a promotion: the confirmation as a whole, then the bars on what agents did."""
    policy = confirmation["policy"]
    failed = confirmation["failed"]
    said = f"failed on the sealed surface: {', '.join(failed)}" if failed else "passed on the sealed surface"
    found = [Gate("confirmation", "failed" if failed else "held", said)]
    for one in frozen.plan.promote:
        if one.metric == "task_pass_delta":
            found.append(_passes(frozen, one, policy, outcomes, clusters))
        elif one.metric == "unauthorised_destructive":
            found.append(_destructive(one, policy, outcomes))
    return tuple(found)


def promote(
    frozen: FrozenPlan,
    journal: Journal,
    write: Callable[[str, str], None],
    *,
    outcomes: Outcomes | None = None,
    clusters: Mapping[str, str] | None = None,
) -> Promotion:
    """Write the number where all gates hold, and record what was done.

    Args:
        write: Puts a value under a key of the user's file.
        clusters: Of each case, for the interval of task passes.

    Raises:
        LabError: There is no recorded confirmation of this plan, or the kept one is another.
    """
    held = canon.read(frozen.folder / CONFIRMED)
    recorded = journal.steps("confirm", frozen.hash)
    if held is None or not recorded:
        raise LabError(f"nothing is confirmed; admit lab confirm {frozen.plan.path}")
    step = recorded[-1].body
    if (step.get("policy"), step.get("result"), step.get("result_hash")) != (
        held["policy"],
        held["result"],
        held["run"],
    ):
        raise LabError("the confirmation beside the plan is not the recorded one; it was altered")
    found = gates(frozen, held, outcomes, clusters or {})
    value = str(held["policy"]).lower()
    bad = [f"{one.bar}: {one.state}" for one in found if one.state != "held"]
    if bad:
        journal.write("promote_refused", **frozen.body(policy=held["policy"], result="refused", failed=bad))
    else:
        write(KEY, value)
        journal.write(
            "promote", **frozen.body(policy=held["policy"], result="promoted", key=KEY, value=value)
        )
    return Promotion(held["policy"], not bad, found, KEY, value)


def _passes(
    frozen: FrozenPlan, bar: Bar, policy: str, outcomes: Outcomes | None, clusters: Mapping[str, str]
) -> Gate:
    found = None
    if outcomes is not None:
        plan = frozen.plan
        found = pass_difference(outcomes, policy, AGAINST, clusters, draws=plan.draws, seed=plan.seed)
    if found is None:
        return Gate(
            bar.key, "not shown", f"no outcomes of {policy} and {AGAINST} on the same cases were given"
        )
    delta, bound = found.delta, float(bar.bound)
    says = f"{_points(delta)} against {AGAINST}, the floor is {100 * bound:+.2f}"
    if delta.value is None or delta.value < bound:
        return Gate(bar.key, "failed", says)
    if delta.low is None or delta.low < bound or (found.flips and found.noise > -bound):
        return Gate(bar.key, "not shown", f"{says}; {delta.n} cases cannot show it")
    return Gate(bar.key, "held", says)


def _destructive(bar: Bar, policy: str, outcomes: Outcomes | None) -> Gate:
    if outcomes is None or policy not in outcomes.passed:
        return Gate(bar.key, "not shown", f"no outcomes of {policy} were given")
    n = outcomes.destructive.get(policy, 0)
    says = f"{n} unauthorised destructive execution{'' if n == 1 else 's'}, at most {bar.bound:g} may be"
    return Gate(bar.key, "held" if n <= float(bar.bound) else "failed", says)


def _points(delta: Estimate) -> str:
    if delta.value is None:
        return "unknown"
    ends = "no interval"
    if delta.low is not None and delta.high is not None:
        ends = f"{100 * delta.low:+.2f} to {100 * delta.high:+.2f}"
    return f"{100 * delta.value:+.2f} points ({ends}, {delta.n} cases)"
