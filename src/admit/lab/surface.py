"""Labelled requests over catalogs of several sizes: a folder of files, and what is known of them.

Own form: ``tasks.jsonl`` with ``{"id", "semantic_id", "stratum", "language", "query", "required"}`` a line,
and ``cluster`` where rows belong together; ``catalog-N.json`` for each size N; maybe ``surface.json`` with
``name``, ``state`` (``open`` or ``sealed``), ``synthetic``, ``source``, ``licence``, and ``catalogs``, the
folder of the catalogs. The published form of the capability surface is read as well (`published_form`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from admit.core.events import canonical, parse, sha256
from admit.errors import SourceError, SurfaceError
from admit.tools.model import Route
from admit.tools.sources.json_list import from_json

from . import published_form

TASKS = "tasks.jsonl"
ABOUT = "surface.json"
State = Literal["open", "sealed"]


class Case(NamedTuple):
    """One request and the routes that it needs.

    Attributes:
        required: Ids; empty where no route answers the request.
        semantic_id: Names the task itself, whatever its language.
        cluster: Cases of one cluster are not independent draws.
    """

    id: str
    text: str
    required: tuple[str, ...]
    stratum: str
    language: str
    semantic_id: str
    cluster: str


class Surface(NamedTuple):
    """Cases and catalogs as they are on the disk.

    Attributes:
        files: ``sha256:`` of each file's bytes, by its name.
        catalogs: Routes by size of catalog.
        synthetic: Whether its requests were made up; None is not stated.
    """

    name: str
    folder: str
    state: State
    cases: tuple[Case, ...]
    catalogs: Mapping[int, tuple[Route, ...]]
    files: Mapping[str, str]
    synthetic: bool | None = None
    source: str = ""
    licence: str = ""

    @property
    def hash(self) -> str:
        """``sha256:`` over the names and hashes of the files."""
        return sha256(canonical(dict(self.files)))

    @property
    def balance(self) -> dict[str, int]:
        """Cases in each cell, as ``stratum/language``, by name."""
        return dict(sorted(Counter(f"{one.stratum}/{one.language}" for one in self.cases).items()))


def load(folder: str | Path) -> Surface:
    """Read a surface. Nothing is ranked or scored, so a sealed one may be read here for its form.

    Raises:
        SurfaceError: A file is missing or cannot be read; names it, and the line.
    """
    place = Path(folder)
    about = _about(place)
    catalogs_in = place / str(about.get("catalogs", "."))
    tasks = _bytes(place / TASKS)
    files = {TASKS: sha256(tasks)}
    cases = tuple(
        _case(place / TASKS, number, line)
        for number, line in enumerate(tasks.split(b"\n"), 1)
        if line.strip()
    )
    catalogs: dict[int, tuple[Route, ...]] = {}
    for size, path in _catalog_files(catalogs_in):
        data = _bytes(path)
        files[path.name] = sha256(data)
        catalogs[size] = _routes(path, data)
    state: State = "sealed" if about.get("state") == "sealed" else "open"
    synthetic = about.get("synthetic")
    return Surface(
        name=str(about.get("name", place.resolve().name)),
        folder=str(place),
        state=state,
        cases=cases,
        catalogs=catalogs,
        files=files,
        synthetic=synthetic if isinstance(synthetic, bool) else None,
        source=str(about.get("source", "")),
        licence=str(about.get("licence", "")),
    )


def _about(place: Path) -> Mapping[str, Any]:
    path = place / ABOUT
    if not path.exists():
        return {}
    try:
        value = parse(_bytes(path))
    except ValueError as fault:
        raise SurfaceError(f"{path} is not JSON: {fault}") from None
    if not isinstance(value, dict):
        raise SurfaceError(f'{path} must hold one object, such as {{"state": "open"}}')
    return value


def _catalog_files(folder: Path) -> list[tuple[int, Path]]:
    found = [
        (int(named[1]), path)
        for path in (folder.iterdir() if folder.is_dir() else ())
        if (named := re.fullmatch(r"catalog-(\d+)\.json", path.name))
    ]
    if not found:
        raise SurfaceError(f"{folder} holds no catalog-N.json; put one there for each size of the plan")
    return sorted(found)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as fault:
        raise SurfaceError(f"{path}: {fault.strerror}; a surface needs this file") from None


def _case(path: Path, number: int, line: bytes) -> Case:
    try:
        row = parse(line)
        if "task_id" in row:
            row = published_form.task(row)
        id = _text(row, "id")
        return Case(
            id=id,
            text=_text(row, "query"),
            required=tuple(map(str, row["required"])),
            stratum=_text(row, "stratum"),
            language=_text(row, "language"),
            semantic_id=str(row.get("semantic_id", "")),
            cluster=str(row.get("cluster") or id),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise SurfaceError(
            f"{path}:{number}: not a case ({fault}); it needs id, query, required, stratum and language"
        ) from None


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row[key]
    if not isinstance(value, str) or not value:
        raise ValueError(f"{key} is no text")
    return value


def _routes(path: Path, data: bytes) -> tuple[Route, ...]:
    try:
        value = json.loads(data)
    except ValueError as fault:
        raise SurfaceError(f"{path} is not JSON: {fault}") from None
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise SurfaceError(f'{path} must be a list of servers, {{"source", "tools"}} each')
    try:
        if any("endpoints" in one for one in value):
            return tuple(published_form.routes(value))
        return tuple(route for one in value for route in from_json(str(one["source"]), one["tools"]))
    except (KeyError, TypeError, SourceError) as fault:
        raise SurfaceError(f"{path}: not a catalog ({fault})") from None
