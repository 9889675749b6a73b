"""Confirm: the sealed surface is opened once, after one policy was chosen; the attempt is recorded first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from admit.core.events import sha256
from admit.errors import LabError, PlanError, SealError

from . import canon
from .bars import DOWNSTREAM, Bar, holds
from .freeze import FrozenPlan, surface_of
from .journal import Journal
from .launch import refuse_early
from .run import Run, scored
from .selection import Selection
from .summary import Summary, summarise
from .surface import TASKS

OPENED = "opened.json"
FILE = "confirmation.json"


class Confirmation(NamedTuple):
    """What the sealed surface said of the chosen policy.

    Attributes:
        failed: Bars that it does not keep, as ``recall_min at 250``; empty where it passed.
    """

    policy: str
    failed: tuple[str, ...]
    run: Run
    summary: Summary

    @property
    def result(self) -> str:
        return "failed" if self.failed else "passed"


def confirm(frozen: FrozenPlan, selection: Selection, journal: Journal, *, workers: int = 1) -> Confirmation:
    """Open the sealed surface and hold the chosen policy against the bars of promotion.

    Raises:
        SealError: It was opened before, by this plan or another.
        LabError: Nothing was chosen, or the choice is not the recorded one.
        PlanError: The plan has no surface for confirmation, or may not start.
    """
    if selection.policy is None:
        raise LabError("nothing was eligible, so there is nothing to confirm; that is the result")
    recorded = journal.steps("select", frozen.hash)
    if not recorded or recorded[0].body.get("policy") != selection.policy:
        raise LabError("this choice is not the recorded one; admit lab select comes first")
    if "confirm" not in frozen.data:
        raise PlanError(
            "the plan has no [surfaces.confirm], so it cannot be confirmed", key="surfaces.confirm"
        )
    refuse_early(frozen, journal)
    hash = _hash(frozen.data["confirm"])
    cases = frozen.data["confirm"][TASKS]
    refuse_second_look(frozen, hash, cases, journal)
    # From here on it counts as opened, whatever happens.
    journal.write(
        "surface_opened",
        **frozen.body(
            data={"confirm": hash, "cases": cases}, surface=hash, attempt=1, policy=selection.policy
        ),
    )
    canon.write(frozen.folder / OPENED, {"surface": hash, "plan": frozen.hash, "policy": selection.policy})
    surface = surface_of(frozen, "confirm")
    run = scored(frozen, surface, "confirm", workers=workers)
    if run.missing:
        raise LabError(f"confirmation is incomplete and cannot be repeated: {run.missing[0]}")
    summary = summarise(frozen.plan, surface, run)
    failed = tuple(
        f"{one.key} at {size}"
        for size in frozen.plan.shape.sizes
        for one in exposure_bars(frozen)
        if not holds(one, summary.metrics[size], selection.policy)
    )
    done = Confirmation(selection.policy, failed, run, summary)
    canon.write(
        frozen.folder / FILE,
        {"policy": done.policy, "result": done.result, "failed": list(failed), "run": run.hash, "data": hash},
    )
    journal.write(
        "confirm",
        **frozen.body(
            data={"confirm": hash},
            code=run.code,
            attempt=1,
            result=done.result,
            result_hash=run.hash,
            policy=done.policy,
            failed=list(failed) or None,
        ),
    )
    return done


def refuse_second_look(frozen: FrozenPlan, surface: str, cases: str, journal: Journal) -> None:
    """Refuse to open a surface that was opened before, with these catalogs or others, or was run on.

    Args:
        surface, cases: Hashes of the whole and of the file of cases.

    Raises:
        SealError: The ledger, or the mark beside the plan, says so.
    """
    ran = [one for one in journal.steps("run") if surface in dict(one.body.get("data") or {}).values()]
    if ran:
        raise SealError(f"{surface} was run on by the plan {ran[0].body.get('name')}, so it confirms nothing")
    opened = [
        one
        for one in journal.steps("surface_opened")
        if {surface, cases} & set(dict(one.body.get("data") or {}).values())
    ]
    if opened or (frozen.folder / OPENED).exists():
        by = opened[0].body.get("name") if opened else frozen.plan.name
        raise SealError(
            f"the sealed surface {surface} was opened before, by the plan {by}; it is looked at once. "
            "A new plan needs a surface that nothing was chosen or confirmed on"
        )


def exposure_bars(frozen: FrozenPlan) -> tuple[Bar, ...]:
    """The bars of promotion that the surface alone can show."""
    return tuple(one for one in frozen.plan.promote if one.metric not in DOWNSTREAM)


def _hash(files: Mapping[str, Any]) -> str:
    from admit.core.events import canonical

    return sha256(canonical(dict(files)))
