"""A plan of the evidence door's reopening rule: read, checked and frozen before anything is reviewed."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from admit.errors import LabError, PlanError

from . import canon
from .freeze import STATUS, fix, fixed, known_hash, refuse_edited
from .journal import Journal
from .plan_keys import text, whole

if TYPE_CHECKING:
    from admit.evidence.base import Base
    from admit.evidence.plan import Plan

LEAST_REPEATS = 0.10
"""The published share of unchanged repeats."""

_TEXTS = ("name", "question", "claim_boundary", "root", "criterion", "judge")


class TailPlan(NamedTuple):
    """A plan as it was read; the template says what each key means.

    Attributes:
        path: Its file; `root` is seen from its folder.
    """

    path: Path
    values: Mapping[str, Any]
    name: str
    root: Path
    notes: tuple[str, ...]
    criterion: str
    judge: str
    offers_min: int
    pairs_max: int
    seed: int
    draws: int
    repeat_share: float
    occurrences: int
    margin: float


class FrozenTail(NamedTuple):
    """A plan that can no longer change, with the uncapped plan of every pair it reviews."""

    plan: TailPlan
    hash: str
    pairs: tuple[Plan, ...]


def _number(low: float, high: float) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high

    return check


def _texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(text, value))


_KEYS: Mapping[str, tuple[Callable[[Any], bool], str]] = MappingProxyType(
    {
        "schema": (lambda value: value == 1, "must be 1"),
        "door": (lambda value: value == "evidence", 'must be "evidence"'),
        **dict.fromkeys(_TEXTS, (text, "takes a text")),
        "notes": (_texts, "takes a list of folders and files"),
        "offers_min": (whole(1), "takes a whole number from 1"),
        "pairs_max": (whole(0), "takes a whole number from 0"),
        "seed": (whole(0), "takes a whole number from 0"),
        "draws": (whole(1000), "takes a whole number from 1,000"),
        "repeat_share": (_number(LEAST_REPEATS, 1), f"takes a share from {LEAST_REPEATS} to 1"),
        "occurrences": (whole(0), "takes a whole number from 0"),
        "margin": (_number(0, 1), "takes a share from 0 to 1"),
    }
)  # fmt: skip


def faults(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is wrong with the values of a plan: the key, and a sentence that begins with it."""
    found = [
        (key, f"{key}: {'is missing; it ' if key not in values else ''}{takes}")
        for key, (fits, takes) in _KEYS.items()
        if not fits(values.get(key))
    ]
    return found + [(key, f"{key}: there is no such key") for key in values if key not in _KEYS]


def built(path: Path, values: Mapping[str, Any]) -> TailPlan:
    """A plan from its values.

    Raises:
        PlanError: Something in it is wrong: all findings, the key of the first.
    """
    if (found := faults(values)) != []:
        lines = "\n  ".join(message for _, message in found)
        raise PlanError(f"{path}:\n  {lines}", key=found[0][0])
    own = {name: values[name] for name in TailPlan._fields if name not in ("path", "values", "root", "notes")}
    return TailPlan(
        path=path, values=values, root=path.parent / values["root"], notes=tuple(values["notes"]), **own
    )


def pairs(plan: TailPlan, base: Base) -> tuple[Plan, ...]:
    """The uncapped plans of the notes that offer enough, drawn by the seed where there are too many.

    In byte order of paths.

    Raises:
        LabError: The criterion has no budget, or no note offers more than it.
    """
    from admit.evidence.criteria import applies, load
    from admit.evidence.planning import plan as planned
    from admit.evidence.scope import find

    criterion = load(base, plan.criterion)
    if criterion.budget is None:
        raise LabError(f"criterion: {plan.criterion} has no budget, so there is nothing to compare")
    if plan.offers_min <= criterion.budget:
        raise LabError(
            f"offers_min: {plan.offers_min} is within the budget of {criterion.budget}; write at least "
            f"{criterion.budget + 1}"
        )
    inside = [str(Path(base.root) / one) for one in plan.notes]
    made = (planned(base, note, criterion, cap=None) for note in find(base, inside).notes)
    enough = [
        one for one in made if len(one.offers) >= plan.offers_min and applies(criterion, one.note)
    ]  # fmt: skip
    if not enough:
        raise LabError(f"notes: none of them offers {plan.offers_min} artifacts or more")
    if plan.pairs_max and len(enough) > plan.pairs_max:
        chosen = sorted(random.Random(plan.seed).sample(range(len(enough)), plan.pairs_max))
        enough = [enough[k] for k in chosen]
    return tuple(enough)


def freeze(plan: TailPlan, base: Base, journal: Journal) -> FrozenTail:
    """Freeze a plan with the hash of what every pair offers, or make a frozen one known to this ledger.

    Raises:
        PlanError: It was frozen otherwise before.
        LabError: It cannot be frozen.
    """
    found = pairs(plan, base)
    content = _content(plan, found)
    hash = fix(plan.path, content)
    data = {"evidence": canon.hash_of(content["data"])}
    journal.write("freeze", plan=hash, name=plan.name, data=data, result="frozen")
    return FrozenTail(plan, hash, found)


def frozen(plan: TailPlan, base: Base, journal: Journal) -> FrozenTail:
    """The plan as it was frozen, over notes and artifacts that are as they were.

    Raises:
        PlanError: It never was, or plan or data were edited since.
    """
    held = fixed(plan.path)
    found = pairs(plan, base)
    refuse_edited(plan.path, held, _content(plan, found))
    return FrozenTail(plan, known_hash(plan.path, journal), found)


def _content(plan: TailPlan, found: tuple[Plan, ...]) -> dict[str, Any]:
    return {
        "schema": 1,
        "status": STATUS,
        "plan": dict(plan.values),
        "data": {one.note.path: one.plan_hash for one in found},
    }
