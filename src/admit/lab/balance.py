"""What is wrong with a surface: balance, names, ids, twins, catalogs; all findings at once, with ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from .cases import normalised
from .surface import Case, Surface

MOST_NAMED = 5


class Shape(NamedTuple):
    """What a surface must be.

    Attributes:
        tasks: Cases in all.
        per_cell: Cases of each stratum in each language.
        sizes: Catalogs, in routes.
    """

    tasks: int
    per_cell: int
    sizes: tuple[int, ...]
    languages: tuple[str, ...]
    strata: tuple[str, ...]


def surface_faults(surface: Surface, shape: Shape) -> list[str]:
    """Everything that is wrong with a surface, in the order of its cases, as sentences with their fix."""
    return [
        *_names(surface.cases, "stratum", shape.strata),
        *_names(surface.cases, "language", shape.languages),
        *_cells(surface.cases, shape),
        *_repeated(surface.cases),
        *_catalogs(surface, shape),
    ]


def shared(surfaces: Mapping[str, Surface]) -> Iterator[tuple[str, str, list[str], list[str]]]:
    """For each two surfaces: their names, the semantic ids in both, and the cases of the second whose
    normalised request stands in the first."""
    for (first, one), (second, other) in combinations(surfaces.items(), 2):
        known = {normalised(case.text) for case in one.cases}
        tasks = {case.semantic_id for case in one.cases}
        yield (
            first,
            second,
            [case.semantic_id for case in other.cases if case.semantic_id in tasks],
            [case.id for case in other.cases if normalised(case.text) in known],
        )


def _names(cases: Sequence[Case], field: str, allowed: Sequence[str]) -> Iterator[str]:
    wrong: dict[str, list[str]] = {}
    for case in cases:
        if getattr(case, field) not in allowed:
            wrong.setdefault(getattr(case, field), []).append(case.id)
    for name, ids in wrong.items():
        yield f"{field} {name!r} is none of the plan ({', '.join(allowed)}): {_some(ids)}"


def _cells(cases: Sequence[Case], shape: Shape) -> Iterator[str]:
    if len(cases) != shape.tasks:
        yield f"{len(cases)} cases where the plan says {shape.tasks}: add or take out cases, or change tasks"
    counts = Counter((case.stratum, case.language) for case in cases)
    for stratum in shape.strata:
        for language in shape.languages:
            n = counts[stratum, language]
            if n != shape.per_cell:
                yield f"{stratum} in {language} has {n} cases and needs {shape.per_cell}"


def _repeated(cases: Sequence[Case]) -> Iterator[str]:
    ids = Counter(case.id for case in cases)
    for id, n in ids.items():
        if n > 1:
            yield f"the id {id} occurs {n} times: give each case its own"
    missing = [case.id for case in cases if not case.semantic_id]
    if missing:
        yield f"no semantic_id, so that a translated twin could not be told: {_some(missing)}"
    tasks: dict[str, list[Case]] = {}
    for case in cases:
        if case.semantic_id:
            tasks.setdefault(case.semantic_id, []).append(case)
    for task, twins in tasks.items():
        if len(twins) > 1:
            languages = sorted({case.language for case in twins})
            kind = "a translated twin" if len(languages) > 1 else "a repeated task"
            yield (
                f"semantic_id {task} is {kind} ({', '.join(languages)}): keep one of "
                f"{_some([case.id for case in twins])}"
            )


def _catalogs(surface: Surface, shape: Shape) -> Iterator[str]:
    for size in shape.sizes:
        routes = surface.catalogs.get(size)
        if routes is None:
            yield f"there is no catalog-{size}.json: every case needs every size of the plan"
            continue
        if len(routes) != size:
            yield f"catalog-{size}.json holds {len(routes)} routes, not {size}"
        known = {route.id for route in routes}
        for case in surface.cases:
            absent = [id for id in case.required if id not in known]
            if absent:
                yield f"{case.id} requires {_some(absent)}, which catalog-{size}.json has not"


def _some(ids: Iterable[str]) -> str:
    named = list(ids)
    rest = len(named) - MOST_NAMED
    return ", ".join(named[:MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")
