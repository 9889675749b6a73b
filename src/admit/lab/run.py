"""Develop: every policy of a frozen plan on every case of an open surface, in one pass that resumes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from admit.errors import LabError, SealError

from . import canon
from .batch import code_version, shards, work
from .freeze import FrozenPlan, surface_of
from .journal import Journal
from .launch import refuse_early
from .score import Row
from .surface import Surface


class Run(NamedTuple):
    """What a run gave.

    Attributes:
        rows: By case, size and policy, in a fixed order.
        repeats: The same of the repeat arm.
        ms: What the door took for each of `rows`; it is in no hash.
        missing: A sentence for each shard that is not there; empty where the run is complete.
        hash: Of everything but `ms`.
    """

    plan: str
    role: str
    code: str
    data: str
    rows: tuple[Row, ...]
    repeats: tuple[Row, ...]
    ms: tuple[float, ...]
    missing: tuple[str, ...]
    attempt: int
    hash: str


def run(frozen: FrozenPlan, journal: Journal, role: str = "dev", *, workers: int = 1) -> Run:
    """Score all cases, and write down that it began and how it ended.

    Raises:
        SealError: The surface is sealed, or stands in the plan for confirmation.
        PlanError, SurfaceError: The plan may not start (`launch`), or its data changed.
    """
    surface = surface_of(frozen, role)
    if role == "confirm" or surface.state == "sealed":
        raise SealError(
            f"{surface.name} is sealed and is opened once, by admit lab confirm, after one policy is chosen"
        )
    refuse_early(frozen, journal)
    attempt = 1 + len([one for one in journal.steps("run", frozen.hash) if one.body.get("result") == "start"])
    journal.write(
        "run", **frozen.body(data={role: surface.hash}, surface=role, attempt=attempt, result="start")
    )
    done = scored(frozen, surface, role, workers=workers, attempt=attempt)
    journal.write(
        "run",
        **frozen.body(
            data={role: surface.hash},
            surface=role,
            attempt=attempt,
            code=done.code,
            result="incomplete" if done.missing else "complete",
            result_hash=done.hash,
            missing=list(done.missing) or None,
        ),
    )
    return done


def scored(frozen: FrozenPlan, surface: Surface, role: str, *, workers: int = 1, attempt: int = 1) -> Run:
    """Score all cases of a surface; nothing is written to the ledger."""
    plan, code = frozen.plan, code_version()
    every = shards(
        frozen.hash,
        code,
        surface,
        plan.shape.sizes,
        plan.policies,
        pad=plan.pad,
        seed=plan.seed,
        repeat_share=plan.repeat_share,
    )
    results, missing = work(every, frozen.folder / role, workers)
    value = {
        "schema": 1,
        "plan": frozen.hash,
        "role": role,
        "code": code,
        "data": surface.hash,
        "rows": [row for one in results for row in one["rows"]],
        "repeats": [row for one in results for row in one["repeats"]],
        "missing": missing,
    }
    hash = canon.hash_of(value)
    ms = [one for result in results for one in result["ms"]]
    canon.write(frozen.folder / f"{role}.json", {**value, "ms": ms, "attempt": attempt, "hash": hash})
    return _built({**value, "ms": ms, "attempt": attempt, "hash": hash})


def held(frozen: FrozenPlan, role: str = "dev") -> Run:
    """The run of a plan as it was kept.

    Raises:
        LabError: There is none, it is of another plan or incomplete, or it was altered.
    """
    value: Mapping[str, Any] | None = canon.read(frozen.folder / f"{role}.json")
    command = f"admit lab run {frozen.plan.path}"
    if value is None:
        raise LabError(f"{frozen.plan.path} has no run yet; {command}")
    if value["plan"] != frozen.hash:
        raise LabError(f"the run beside {frozen.plan.path} is of the plan {value['plan']}; {command}")
    content = {key: one for key, one in value.items() if key not in ("ms", "attempt", "hash")}
    if canon.hash_of(content) != value["hash"]:
        raise LabError(f"the run beside {frozen.plan.path} was altered; {command}")
    if value["missing"]:
        raise LabError(
            f"the run is incomplete, so nothing is chosen from it: {value['missing'][0]}; {command}"
        )
    return _built(value)


def _built(value: Mapping[str, Any]) -> Run:
    return Run(
        plan=value["plan"],
        role=value["role"],
        code=value["code"],
        data=value["data"],
        rows=tuple(_row(row) for row in value["rows"]),
        repeats=tuple(_row(row) for row in value["repeats"]),
        ms=tuple(value["ms"]),
        missing=tuple(value["missing"]),
        attempt=value["attempt"],
        hash=value["hash"],
    )


def _row(cells: list[Any]) -> Row:
    row = Row(*cells)
    return row._replace(exposed=tuple(row.exposed))
