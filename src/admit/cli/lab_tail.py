"""What `admit lab` does with a plan of the evidence door: check, freeze, and the run that answers it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from admit.cli.frame import DONE, FINDING, USAGE, counted, print_json
from admit.config.layers import load
from admit.errors import PlanError
from admit.text.plain import one_line

if TYPE_CHECKING:
    from admit.evidence.base import Base
    from admit.lab.journal import Journal
    from admit.lab.statistics import Estimate
    from admit.lab.tail import Tail
    from admit.lab.tail_plan import TailPlan

DOOR = "evidence"


def check(path: str, values: dict[str, Any], as_json: bool) -> int:
    """Say what is wrong with a plan, or how many pairs it would review."""
    from admit.lab.tail_plan import built, faults, pairs

    found = [message for _, message in faults(values)]
    n = 0
    if not found:
        plan = built(Path(path), values)
        with _base(plan) as base:
            n = len(pairs(plan, base))
    if as_json:
        print_json({"schema": 1, "plan": path, "findings": found, "pairs": n})
    else:
        for one in found:
            click.echo(one)
        ready = f"{path} can be frozen: {counted(n, 'pair')}."
        click.echo(f"{counted(len(found), 'finding')}." if found else ready)
    return USAGE if found else DONE


def freeze(path: str, values: dict[str, Any], as_json: bool) -> int:
    """Fix a plan and what its pairs offer."""
    from admit.lab.tail_plan import built
    from admit.lab.tail_plan import freeze as fix

    plan = built(Path(path), values)
    with _base(plan) as base:
        frozen = fix(plan, base, _journal())
    if as_json:
        print_json({"schema": 1, "plan": frozen.hash, "pairs": len(frozen.pairs)})
    else:
        click.echo(f"Frozen before any review: {frozen.hash}, {counted(len(frozen.pairs), 'pair')}")
    return DONE


def run(path: str, values: dict[str, Any], workers: int, as_json: bool) -> int:
    """Review every arm that is not reviewed yet, and print the answer; 1 where pairs stayed unjudged."""
    from admit.cli.evidence_gate import close, open_judge
    from admit.lab.tail import as_json as as_value
    from admit.lab.tail_plan import built, frozen
    from admit.lab.tail_run import run as measure

    plan = built(Path(path), values)
    with _base(plan) as base:
        fixed = frozen(plan, base, _journal())
        asked = open_judge(base, plan.judge)
        try:
            found = measure(fixed, _journal(), asked.gate.try_plan, workers=workers)
        finally:
            close(asked, base.config)
    if as_json:
        print_json({"schema": 1, "plan": fixed.hash, **as_value(found)})
    else:
        for line in lines(found, fixed.hash):
            click.echo(line)
    return FINDING if found.unjudged else DONE


def refuse(step: str) -> None:
    """Raise PlanError: plans of this door end with their run."""
    raise PlanError(
        f"a plan of the door {DOOR} has no step {step}: its run prints whether to reopen", key="door"
    )


def lines(found: Tail, plan: str) -> Iterator[str]:
    """A result for people."""
    yield f"{counted(found.pairs, 'pair')} with more offers than the budget; {found.judged} judged both ways"
    for arm, n in found.unjudged.items():
        yield f"  {counted(n, 'review')} without a verdict in the arm {arm}; the next run asks again"
    yield f"verdicts moved by the cap          {_share(found.capped)}"
    yield f"verdicts moved by repeating        {_share(found.repeat)}"
    yield f"verdicts moved by occurrences-v0   {_share(found.occurrences)}"
    yield f"more by the cap than by repeating  {_share(found.excess)}"
    yield f"findings only the uncapped review has: {found.lost}"
    for one in found.divergences:
        lost = f"; without {', '.join(one.lost)}" if one.lost else ""
        gained = f"; and new {', '.join(one.gained)}" if one.gained else ""
        yield one_line(f"  {one.note}, {one.arm}: {one.uncapped} became {one.verdict}{lost}{gained}")
    yield f"reopen: {found.reopen}"
    yield f"plan {plan}"


def _share(one: Estimate) -> str:
    if one.value is None:
        return "not measured"
    if one.low is None or one.high is None:
        return f"{one.value:.1%} of {one.n}; too few for an interval"
    return f"{one.value:+.1%} of {one.n} ({one.low:.1%} to {one.high:.1%})"


@contextmanager
def _base(plan: TailPlan) -> Iterator[Base]:
    from admit.evidence.base import Base

    with Base.open(str(plan.root)) as base:
        yield base


def _journal() -> Journal:
    from admit.lab.journal import Journal
    from admit.ledger import open_ledger

    return Journal(open_ledger(load().values), DOOR)
