"""The work of a run in shards: each is finished or not there, so a killed run goes on where it was."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import admit
from admit.core.events import sha256
from admit.errors import AdmitError, SurfaceError

from . import canon
from .score import again, gate_over, score
from .surface import Surface, load

SHARD_CASES = 40
CODE = ("core", "text", "tools", "lab")


class Shard(NamedTuple):
    """Some cases at one size.

    Attributes:
        key: Hash of all that its result depends on: plan, data, code, cases.
        files: Hashes of the surface's files, which must be those on the disk.
    """

    key: str
    folder: str
    files: tuple[tuple[str, str], ...]
    size: int
    cases: tuple[str, ...]
    policies: tuple[str, ...]
    pad: bool
    seed: int
    repeat_share: float


def code_version() -> str:
    """The version, and the hash of the modules that rank, cut and score."""
    root = Path(admit.__file__).parent
    files = sorted(path for part in CODE for path in (root / part).rglob("*.py"))
    parts = [f"{path.relative_to(root).as_posix()} {sha256(path.read_bytes())}" for path in files]
    return f"{admit.__version__} {sha256(chr(10).join(parts).encode())}"


def shards(
    plan_hash: str,
    code: str,
    surface: Surface,
    sizes: Sequence[int],
    policies: Sequence[str],
    *,
    pad: bool,
    seed: int,
    repeat_share: float,
) -> list[Shard]:
    """The work of a run, in a fixed order."""
    found = []
    files = tuple(sorted(surface.files.items()))
    for size in sizes:
        for first in range(0, len(surface.cases), SHARD_CASES):
            cases = tuple(one.id for one in surface.cases[first : first + SHARD_CASES])
            key = canon.hash_of([plan_hash, code, [*map(list, files)], size, list(cases)])
            found.append(
                Shard(key, surface.folder, files, size, cases, tuple(policies), pad, seed, repeat_share)
            )
    return found


def work(every: Sequence[Shard], folder: Path, workers: int = 1) -> tuple[list[dict[str, Any]], list[str]]:
    """Do what is not done yet; a shard that fails leaves the others be.

    Returns:
        The results of the shards that are there, in their order, and a sentence for each that is not.
    """
    held: dict[str, dict[str, Any] | None] = {shard.key: _held(folder, shard) for shard in every}
    todo = [shard for shard in every if held[shard.key] is None]
    missing: list[str] = []
    for shard, result in _done(todo, workers):
        if isinstance(result, str):
            missing.append(f"{shard.size} routes, {shard.cases[0]} to {shard.cases[-1]}: {result}")
        else:
            canon.write(_path(folder, shard), result)
            held[shard.key] = result
    return [one for one in held.values() if one is not None], missing


def run_shard(shard: Shard) -> dict[str, Any] | str:
    """The rows of a shard as JSON, or why there are none."""
    try:
        surface = _surface(shard.folder, shard.files)
        routes = surface.catalogs[shard.size]
        gate = gate_over(routes, shard.pad)
        cases = [one for one in surface.cases if one.id in set(shard.cases)]
        scored = [pair for case in cases for pair in score(gate, case, shard.size, shard.policies)]
        twice = again(surface.cases, shard.seed, shard.repeat_share)
        # Another door over the same catalog, so that nothing that it remembers takes part.
        fresh = gate_over(routes, shard.pad) if twice else gate
        repeats = [
            row
            for case in cases
            if case.id in twice
            for row, _ in score(fresh, case, shard.size, shard.policies)
        ]
        return {
            "key": shard.key,
            "rows": [_listed(row) for row, _ in scored],
            "repeats": [_listed(row) for row in repeats],
            "ms": [round(ms, 3) for _, ms in scored],
        }
    except AdmitError as fault:
        return str(fault)
    except Exception as fault:  # one broken case must not end the others; it is named with its place
        place = traceback.extract_tb(fault.__traceback__)[-1]
        return f"{type(fault).__name__}: {fault} ({Path(place.filename).name}:{place.lineno})"


def _done(todo: Sequence[Shard], workers: int) -> Iterator[tuple[Shard, dict[str, Any] | str]]:
    if workers <= 1 or len(todo) <= 1:
        yield from ((shard, run_shard(shard)) for shard in todo)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Spawned, not forked: threads of this process would not come along.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(todo)), mp_context=context) as pool:
        yield from zip(todo, pool.map(run_shard, todo), strict=True)


@lru_cache(maxsize=2)
def _surface(folder: str, files: tuple[tuple[str, str], ...]) -> Surface:
    surface = load(folder)
    if surface.files != dict(files):
        raise SurfaceError(f"{folder} changed while it was read; run again")
    return surface


def _held(folder: Path, shard: Shard) -> dict[str, Any] | None:
    value = canon.read(_path(folder, shard))
    return value if value is not None and value.get("key") == shard.key else None


def _path(folder: Path, shard: Shard) -> Path:
    return folder / f"shard-{shard.key.removeprefix('sha256:')[:16]}.json"


def _listed(row: Any) -> list[Any]:
    return [list(cell) if isinstance(cell, tuple) else cell for cell in row]
