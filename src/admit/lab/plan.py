"""A plan: what will be measured and how it will be chosen, written by a person before anything is scored."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from admit.core.depth import PUBLISHED
from admit.errors import PlanError

from .balance import Shape
from .bars import ORDERS, Bar, bar, refuse_diagnostic
from .plan_keys import key_faults
from .statistics import clusters_needed

REFUSED = ("learned", "absolute-threshold")
OUTSIDE = ("budget", "cover")
LATENCY = "p95_latency"


class Dependency(NamedTuple):
    """A plan, by its hash, that must have ended with this result before another starts."""

    run: str
    result: str


class Arm(NamedTuple):
    """A policy with the plan that confirmed it, by its hash."""

    policy: str
    plan: str


class Power(NamedTuple):
    """How many cases a bar on task passes takes; see `statistics.clusters_needed`."""

    discordant_share: float
    chance: float
    waiver: str


class Plan(NamedTuple):
    """A plan as it was read.

    Attributes:
        path: Its file.
        values: All of it as it stands in the file, without the paths of surfaces: what is frozen.
        surfaces: Folders by role, ``dev`` and ``confirm``; empty where the command line has to say.
        order: Metrics by which one is chosen, a leading ``-`` for those of which more is better.
        needed: Cases that the promotion's bar on task passes takes; 0 without one.
    """

    path: Path
    values: Mapping[str, Any]
    name: str
    question: str
    claim_boundary: str
    seed: int
    draws: int
    repeat_share: float
    pad: bool
    controls: tuple[str, ...]
    candidates: tuple[str, ...]
    outside: tuple[str, ...]
    surfaces: Mapping[str, str]
    shape: Shape
    eligible: tuple[Bar, ...]
    order: tuple[str, ...]
    promote: tuple[Bar, ...]
    power: Power
    needed: int
    depends_on: tuple[Dependency, ...]
    forbidden_surfaces: tuple[str, ...]
    arms_close_before: str
    arms: tuple[Arm, ...]
    overlap_max: int

    @property
    def policies(self) -> tuple[str, ...]:
        """All that are measured, in the order of the plan."""
        return (*self.controls, *self.candidates, *self.outside)

    def family(self, policy: str) -> str:
        """``control``, ``candidate`` or ``outside``."""
        if policy in self.controls:
            return "control"
        return "candidate" if policy in self.candidates else "outside"

    @classmethod
    def load(cls, path: str | Path, places: Mapping[str, str] | None = None) -> Plan:
        """Read a plan.

        Args:
            places: Folders of surfaces by role, in place of those of the file.

        Raises:
            PlanError: It cannot be read, or something in it is wrong: all findings, the key of the first.
        """
        values = read(path)
        found = faults(values)
        if found:
            lines = "\n  ".join(message for _, message in found)
            raise PlanError(f"{path}:\n  {lines}", key=found[0][0])
        return _built(Path(path), values, places or {})


def read(path: str | Path) -> dict[str, Any]:
    """The values of a plan's file.

    Raises:
        PlanError: It is not there, or no TOML.
    """
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as fault:
        raise PlanError(f"{path}: {fault.strerror}; admit lab new writes a plan") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise PlanError(f"{path} is no TOML: {fault}") from None


def faults(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is wrong with the values of a plan: the key, and a sentence that begins with it."""
    found = list(key_faults(values))
    if not found:
        found = [*_policy_faults(values), *_bar_faults(values)]
    return found


def underpowered(plan: Plan) -> str:
    """Why a plan's cases are too few for its bar on task passes; empty where they are enough, or waived."""
    if plan.shape.tasks >= plan.needed or plan.power.waiver.strip():
        return ""
    return (
        f"promote.task_pass_delta_min: {plan.shape.tasks} cases; at {plan.power.chance:.0%} power it takes "
        f"about {plan.needed:,}: add cases, take the bar out, or write the reason into power.waiver"
    )


def _policy_faults(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for key, family in (("controls", "control"), ("candidates", "candidate"), ("outside", "outside")):
        for one in values[key]:
            id, kind = (one.get("id", ""), one.get("kind", "")) if isinstance(one, dict) else (one, "")
            if kind in REFUSED or kind in values["refused"]:
                yield key, f"{key}: {id or 'a policy'} is of the kind {kind}, which is refused"
            elif isinstance(one, dict):
                yield key, f"{key}: write the id of a published depth, not a table"
            elif family == "outside" and id not in OUTSIDE:
                yield key, f"{key}: {id} is none of {', '.join(OUTSIDE)}"
            elif family != "outside" and (id not in PUBLISHED or PUBLISHED[id].family != family):
                known = ", ".join(name for name, depth in PUBLISHED.items() if depth.family == family)
                yield (
                    key,
                    f"{key}: {id} is none of the published {family}s ({known}); "
                    f"{' and '.join(REFUSED)} policies are refused, and others may stand under outside",
                )
            elif id in seen:
                yield key, f"{key}: {id} stands twice"
            else:
                seen.add(id)
    missing = [kind for kind in REFUSED if kind not in values["refused"]]
    if missing:
        yield "refused", f"refused: {' and '.join(missing)} must stand there"


def _bar_faults(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    policies = tuple(one for one in (*values["controls"], *values["candidates"]) if isinstance(one, str))
    for section in ("eligible", "promote"):
        for key, value in values[section].items():
            try:
                bar(section, key, value, policies=policies)
            except PlanError as fault:
                yield fault.key, str(fault)
    for metric in values["select"]["order"]:
        try:
            refuse_diagnostic("select.order", metric.lstrip("-"))
            if metric.lstrip("-") not in ORDERS:
                raise PlanError(f"select.order: {metric} is none of {', '.join(ORDERS)}", key="select.order")
        except PlanError as fault:
            yield fault.key, str(fault)
    if values["select"]["order"][-1:] != ["id"]:
        yield "select.order", "select.order: must end in id, so that exactly one is chosen"
    shape = values["surface"]
    cells = len(shape["languages"]) * len(shape["strata"]) * shape["per_cell"]
    if cells != shape["tasks"]:
        yield (
            "surface.tasks",
            f"surface.tasks: {shape['tasks']} cases, and strata × languages × per_cell are {cells}",
        )


def _built(path: Path, values: dict[str, Any], places: Mapping[str, str]) -> Plan:
    policies = (*values["controls"], *values["candidates"])
    roles = values["surfaces"]
    given = {role: str(one.get("path", "")) for role, one in roles.items()}
    beside = {role: str(path.parent / place) if place else "" for role, place in given.items()}
    kept = {role: {key: v for key, v in one.items() if key != "path"} for role, one in roles.items()}
    shape, power = values["surface"], values["power"]
    promote = tuple(bar("promote", key, one, policies=policies) for key, one in values["promote"].items())
    margin = next((one.bound for one in promote if one.metric == "task_pass_delta"), None)
    needed = 0
    if isinstance(margin, float) and margin < 0:
        needed = clusters_needed(-margin, power["discordant_share"], power["chance"])
    return Plan(
        path=path,
        values={**values, "surfaces": kept},
        name=values["name"],
        question=values["question"],
        claim_boundary=values["claim_boundary"],
        seed=values["seed"],
        draws=values["draws"],
        repeat_share=values["repeat_share"],
        pad=values["pad"],
        controls=tuple(values["controls"]),
        candidates=tuple(values["candidates"]),
        outside=tuple(values["outside"]),
        surfaces={**beside, **{role: place for role, place in places.items() if role in roles}},
        shape=Shape(
            shape["tasks"],
            shape["per_cell"],
            tuple(shape["catalog_sizes"]),
            tuple(shape["languages"]),
            tuple(shape["strata"]),
        ),
        eligible=tuple(
            bar("eligible", key, one, policies=policies) for key, one in values["eligible"].items()
        ),
        order=tuple(values["select"]["order"]),
        promote=promote,
        power=Power(power["discordant_share"], power["chance"], power["waiver"]),
        needed=needed,
        depends_on=tuple(Dependency(one["run"], one["result"]) for one in values["depends_on"]),
        forbidden_surfaces=tuple(values["forbidden_surfaces"]),
        arms_close_before=values["arms_close_before"],
        arms=tuple(Arm(one["policy"], one["plan"]) for one in values["arms"]),
        overlap_max=values["overlap_max"],
    )
