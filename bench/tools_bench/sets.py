"""Catalogs and queries of the benchmark, read from a folder that is named on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from admit.lab import published_form
from admit.tools.model import Param, Route
from admit.tools.sources import json_list

SURFACES = Path(__file__).parents[1] / "surfaces"
OWN = ("office-240", "hard")
SIZES = (100, 250, 500)
REAL = ("sealtools", "metatool", "mcpproxy-golden")


class Query(NamedTuple):
    """A request with the routes it needs; none where no tool fits.

    Attributes:
        stratum: What kind of request it is, by the set's own word.
    """

    id: str
    text: str
    required: tuple[str, ...]
    stratum: str = ""
    language: str = ""


class ToolSet(NamedTuple):
    """A catalog with its requests."""

    name: str
    routes: tuple[Route, ...]
    queries: tuple[Query, ...]


def surface(data: Path, size: int) -> ToolSet:
    """The capability surface at one size."""
    folder = data / "capability-240-dev"
    routes = tuple(published_form.routes(json.loads((folder / f"catalog-{size}.json").read_text())))
    queries = tuple(map(_query, map(published_form.task, _lines(folder / "tasks.jsonl"))))
    return ToolSet(f"surface-{size}", routes, queries)


def real(data: Path) -> ToolSet:
    """The real catalogs in one: every query meets the tools of all."""
    routes: list[Route] = []
    queries: list[Query] = []
    for name in REAL:
        ids: dict[str, str] = {}
        for row in _lines(data / name / "catalog.jsonl"):
            route = _tool(name, row)
            ids[row["id"]] = route.id
            routes.append(route)
        for row in _lines(data / name / "queries.jsonl"):
            required = tuple(ids[one] for one in row["relevant"])
            queries.append(Query(row["id"], row["query"], required, name, "en"))
    return ToolSet("real", tuple(routes), tuple(queries))


def own(name: str) -> ToolSet:
    """A surface written for this project, over the largest of its catalogs; never the sealed one."""
    folder = SURFACES / name
    lists = json.loads((SURFACES / "catalog" / "catalog-500.json").read_text(encoding="utf-8"))
    routes = tuple(route for one in lists for route in json_list.from_json(one["source"], one["tools"]))
    queries = tuple(map(_query, _lines(folder / "tasks.jsonl")))
    return ToolSet(name, routes, queries)


def _query(row: Mapping[str, Any]) -> Query:
    return Query(row["id"], row["query"], tuple(row["required"]), row["stratum"], row["language"])


def _tool(collection: str, row: Mapping[str, Any]) -> Route:
    source = row.get("server") or collection
    properties = row["parameters"].get("properties") or {}
    return Route(
        id=f"{collection}/{row['id'].replace('/', '%2F')}",
        source=source,
        source_kind="mcp",
        name=row["name"],
        description=row["description"],
        params=tuple(Param(name, description=one.get("description", "")) for name, one in properties.items()),
        input_schema=row["parameters"],
    )


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
