"""Whether a plan may start now: what it depends on, what it may not read, and arms that came too late."""

from __future__ import annotations

from admit.core.events import Event
from admit.errors import PlanError

from .freeze import FrozenPlan
from .journal import Journal


def refuse_early(frozen: FrozenPlan, journal: Journal) -> None:
    """Refuse a step of a plan whose conditions do not hold.

    Raises:
        PlanError: A run that it depends on did not end with its result; a surface is forbidden; an arm passed
            its confirmation after the held-out surface was known, or never. Names the run, hash or arm.
    """
    plan = frozen.plan
    for one in plan.depends_on:
        ended = journal.results(one.run)
        if one.result not in ended.values():
            how = (
                ", ".join(f"{step}: {result}" for step, result in ended.items())
                or "nothing is recorded of it"
            )
            raise PlanError(
                f"depends_on: {one.run} must have ended with {one.result}; {how}", key="depends_on"
            )
    known = _surfaces(journal.steps("freeze", frozen.hash))
    for hash in plan.forbidden_surfaces:
        if hash in known:
            raise PlanError(
                f"forbidden_surfaces: {hash} may not be read by this plan", key="forbidden_surfaces"
            )
    if plan.arms_close_before:
        for arm in plan.arms:
            _refuse_late(arm.policy, arm.plan, plan.arms_close_before, journal)


def _refuse_late(policy: str, confirmed_by: str, surface: str, journal: Journal) -> None:
    for step in journal.steps():
        passed = step.type == "lab.confirm" and step.body.get("result") == "passed"
        if passed and (step.body.get("plan"), step.body.get("policy")) == (confirmed_by, policy):
            return
        if surface in _surfaces([step]):
            break
    raise PlanError(
        f"arms: {policy} did not pass its confirmation ({confirmed_by}) before the surface {surface} was "
        "registered, so it may not enter",
        key="arms",
    )


def _surfaces(steps: list[Event]) -> set[str]:
    return {str(hash) for one in steps for hash in dict(one.body.get("data") or {}).values()}
