"""Freezing a plan before anything is scored, and refusing one that was edited since.

Beside ``PLAN.toml`` come ``PLAN.frozen.json``, the plan with the hashes of its data as RFC 8785 JSON, and
``PLAN.frozen.sha256``, the hash of those bytes; the ledger holds the same hash.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from admit.core.events import sha256
from admit.errors import LabError, PlanError, SurfaceError

from . import canon
from .balance import shared, surface_faults
from .journal import Journal
from .plan import Plan, underpowered
from .surface import Surface, load

STATUS = "frozen_before_scoring"


class FrozenPlan(NamedTuple):
    """A plan that can no longer change.

    Attributes:
        data: For each role the hashes of its files, by name.
    """

    plan: Plan
    hash: str
    data: Mapping[str, Mapping[str, str]]

    def body(self, **more: Any) -> dict[str, Any]:
        """What every step of this plan says of itself in the ledger."""
        return {"plan": self.hash, "name": self.plan.name, **more}

    @property
    def folder(self) -> Path:
        """Where its runs are kept: ``PLAN.runs`` beside the plan."""
        return self.plan.path.with_suffix(".runs")


def surfaces_of(plan: Plan) -> dict[str, Surface]:
    """The surfaces of a plan by role.

    Raises:
        PlanError: The plan does not say where one is.
        SurfaceError: One cannot be read.
    """
    found: dict[str, Surface] = {}
    for role, place in plan.surfaces.items():
        if not place:
            key = f"surfaces.{role}.path"
            raise PlanError(f"{key}: is empty; write the folder there, or give --path {role}=DIR", key=key)
        found[role] = load(place)
    return found


def check(plan: Plan) -> list[str]:
    """Why a plan cannot be frozen, all findings at once; empty where it can.

    Raises:
        PlanError, SurfaceError: A surface is not there, or cannot be read.
    """
    surfaces = surfaces_of(plan)
    found = [short] if (short := underpowered(plan)) else []
    for role, surface in surfaces.items():
        found += [f"{role}: {fault}" for fault in surface_faults(surface, plan.shape)]
        if surface.hash in plan.forbidden_surfaces:
            found.append(f"{role}: {surface.hash} is one of forbidden_surfaces")
    if "dev" in surfaces and surfaces["dev"].state == "sealed":
        found.append("dev: the surface is sealed, and may be used for confirmation alone")
    if "confirm" in surfaces and surfaces["confirm"].state != "sealed":
        found.append('confirm: the surface is not sealed; say so in its surface.json: {"state": "sealed"}')
    for first, second, twins, requests in shared(surfaces):
        if twins:
            found.append(f"{second}: tasks of {first} by semantic_id: {', '.join(twins[:5])}")
        if len(requests) > plan.overlap_max:
            found.append(
                f"{second}: {len(requests)} requests stand in {first} too, at most {plan.overlap_max} may "
                f"(overlap_max): {', '.join(requests[:5])}"
            )
    return found


def freeze(plan: Plan, journal: Journal) -> FrozenPlan:
    """Freeze a plan, or make a frozen one known to this ledger.

    Raises:
        PlanError: It was frozen otherwise before; names the first key that differs, and both hashes.
        LabError: Something is wrong with it or its surfaces (`check`), or the ledger does not take it.
    """
    if (found := check(plan)) != []:
        raise LabError(f"{plan.path} cannot be frozen:\n  " + "\n  ".join(found))
    surfaces = surfaces_of(plan)
    content = _content(plan, surfaces)
    hash = fix(plan.path, content)
    frozen = FrozenPlan(plan, hash, content["data"])
    data = {role: surface.hash for role, surface in surfaces.items()}
    journal.write("freeze", **frozen.body(data=data, result="frozen", waiver=plan.power.waiver or None))
    return frozen


def frozen(plan: Plan, journal: Journal) -> FrozenPlan:
    """The plan as it was frozen.

    Raises:
        PlanError: It never was, or not in this ledger, or was edited since; names the first key that differs,
            and both hashes.
    """
    held = fixed(plan.path)
    refuse_edited(plan.path, held, {**held, "plan": plan.values})
    return FrozenPlan(plan, known_hash(plan.path, journal), held["data"])


def fix(plan: Path, content: Mapping[str, Any]) -> str:
    """Write what a plan is frozen to beside it, with its hash, and give that.

    Raises:
        PlanError: It was frozen otherwise before.
    """
    path = _path(plan)
    held = canon.read(path)
    if held is not None:
        refuse_edited(plan, held, content)
    hash = canon.write(path, content)
    path.with_suffix(".sha256").write_text(f"{hash}\n", encoding="ascii")
    return hash


def fixed(plan: Path) -> dict[str, Any]:
    """What a plan was frozen to.

    Raises:
        PlanError: It never was.
    """
    held = canon.read(_path(plan))
    if held is None:
        raise PlanError(f"{plan} is not frozen; admit lab freeze {plan}")
    return held


def known_hash(plan: Path, journal: Journal) -> str:
    """The hash of a frozen plan.

    Raises:
        PlanError: This ledger does not know it.
    """
    path = _path(plan)
    hash = sha256(path.read_bytes())
    if not journal.steps("freeze", hash):
        raise PlanError(f"{path}: this ledger knows no plan {hash}; admit lab freeze {plan} makes it known")
    return hash


def surface_of(frozen: FrozenPlan, role: str) -> Surface:
    """One surface of a frozen plan, unchanged since.

    Raises:
        PlanError: The plan has none of this role.
        SurfaceError: A file is no longer as it was frozen; names it, and both hashes.
    """
    place = frozen.plan.surfaces.get(role)
    if role not in frozen.data or place is None:
        raise PlanError(f"the plan has no surface {role!r}; it has {', '.join(frozen.data)}", key="surfaces")
    if not place:
        raise PlanError(
            f"surfaces.{role}.path: is empty; give --path {role}=DIR", key=f"surfaces.{role}.path"
        )
    surface = load(place)
    was = frozen.data[role]
    for name in sorted({*was, *surface.files}):
        if was.get(name) != surface.files.get(name):
            raise SurfaceError(
                f"{surface.folder}: {name} changed since the plan was frozen: it was "
                f"{was.get(name, 'not there')}, it is {surface.files.get(name, 'not there')}; put it "
                "back, or freeze a new plan"
            )
    return surface


def _content(plan: Plan, surfaces: Mapping[str, Surface]) -> dict[str, Any]:
    return {
        "schema": 1,
        "status": STATUS,
        "plan": dict(plan.values),
        "data": {role: dict(one.files) for role, one in surfaces.items()},
        "balance": {role: one.balance for role, one in surfaces.items()},
        "needed": plan.needed,
    }


def _path(plan: Path) -> Path:
    return plan.with_suffix(".frozen.json")


def refuse_edited(plan: Path, held: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise PlanError where a plan, or the data that it was frozen over, is no longer the same."""
    for key in _differing(now["plan"], held["plan"]):
        raise PlanError(
            f"{plan} was edited after it was frozen: {key} differs; frozen {canon.hash_of(held)}, now "
            f"{canon.hash_of(now)}. Put it back, or freeze a new plan under another name",
            key=key,
        )
    for key in _differing(now, held):
        raise PlanError(
            f"{plan} was frozen over other data: {key} differs; frozen {canon.hash_of(held)}, now "
            f"{canon.hash_of(now)}. Put it back, or freeze a new plan under another name",
            key=key,
        )


def _differing(now: Mapping[str, Any], held: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Keys whose values differ, in the order of the plan, then those that it has no more."""
    for key in dict.fromkeys((*now, *held)):
        one, other = now.get(key), held.get(key)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from _differing(one, other, f"{above}{key}.")
        elif canon.dump(one) != canon.dump(other):
            yield f"{above}{key}"
