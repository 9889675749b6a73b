"""Structural retrieval: of named operations with typed results nothing needed is past place ten."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from admit.tools.catalog import Catalog
from admit.tools.evaluate import Query, evaluate, figures
from admit.tools.gate import ToolGate
from admit.tools.sources.json_list import from_json
from tests.unit.tools.gates import tool

SIZES = (100, 250, 500)
DATA = "ADMIT_BENCH_DATA"
VERBS = {
    "create": "Add a new {}",
    "list": "Show me every {}",
    "get": "Read one {} by its id",
    "update": "Change the {}",
    "delete": "Remove the {}",
}
UNITS = {
    "kelvin": "temperature",
    "pascal": "pressure",
    "gram": "mass",
    "lux": "brightness",
    "volt": "tension",
}
KINDS = ("boiler", "reactor", "furnace", "pump", "turbine", "valve", "freezer", "oven", "tank", "press")
PLACES = ("north", "south", "harbour", "airport", "station", "campus", "clinic", "market", "museum", "tower")


def surface(size):
    """Operations over things of several places, some of them sensors with units; a request for each."""
    tools, queries = [], []
    for number in range(size):
        place, kind = PLACES[number // 50], KINDS[number // 5 % 10]
        if number // 5 % 5 == 4:
            unit, what = list(UNITS.items())[number % 5]
            results = {"type": "object", "properties": {what: {"type": "number", "x-unit": unit}}}
            made = tool(f"read_{place}_{kind}_{number}", f"Reads the {place} {kind}", outputSchema=results)
            request = f"{what} of the {place} {kind} in {unit}"
        else:
            verb = list(VERBS)[number % 5]
            made = tool(f"{verb}_{place}_{kind}", f"{verb.capitalize()} a {kind}", f"{kind}_id")
            request = VERBS[verb].format(f"{place} {kind}")
        tools.append(made)
        queries.append(Query(str(number), request, (f"plant/{made['name']}",)))
    catalog = Catalog()
    catalog.add(from_json("plant", tools))
    return ToolGate(catalog), queries


def development(size):
    """The published development surface, from the folder of the benchmark's data."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
    try:
        from tools_bench.sets import surface as published
    finally:
        sys.path.pop(0)
    found = published(Path(os.environ[DATA]) / "tools", size)
    catalog = Catalog()
    catalog.add(found.routes)
    rows = [Query(one.id, one.text, one.required, one.stratum, one.language) for one in found.queries]
    return ToolGate(catalog), rows


def at_ten(gate, queries):
    every = figures(evaluate(gate, queries, depths=[], ks=[10]))
    [found] = [one for one in every if (one.group, one.cut) == ("a tool fits", "@10")]
    return found.recall.value, found.coverage.value


@pytest.mark.parametrize("size", SIZES)
def test_S1_recall_and_full_coverage_at_ten_are_whole_on_a_surface_of_operations(size):
    gate, queries = surface(size)
    assert len(gate.catalog) == len(queries) == size
    assert at_ten(gate, queries) == (1.0, 1.0)


@pytest.mark.skipif(DATA not in os.environ, reason=f"{DATA} names no folder of the published surface")
@pytest.mark.parametrize("size", SIZES)
def test_S1_recall_and_full_coverage_at_ten_are_whole_on_the_development_surface(size):
    assert at_ten(*development(size)) == (1.0, 1.0)
