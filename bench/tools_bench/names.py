"""Requests that name their tools: each name alone at rank 1, and six in one request, all in."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from admit.tools.index import Index
from admit.tools.rank import Ranker

from .sets import ToolSet

ALONE = 1000
TOGETHER = 500
SIX = 6


def measure(tools: ToolSet) -> Mapping[str, tuple[int, int]]:
    """Requests that got what they named, of those asked; six names stand in backticks."""
    ranker = Ranker(Index(tools.routes))
    draw = Random(1)
    names: dict[str, set[str]] = {}
    for route in tools.routes:
        names.setdefault(route.name.lower(), set()).add(route.id)
    alone = draw.sample(tools.routes, min(ALONE, len(tools.routes)))
    first = sum(ranker.rank(one.name, 1)[0].route_id in names[one.name.lower()] for one in alone)
    found = 0
    for _ in range(TOGETHER):
        six = draw.sample(tools.routes, SIX)
        shown = {one.route_id for one in ranker.rank(" ".join(f"`{one.name}`" for one in six), SIX)}
        found += all(names[one.name.lower()] & shown for one in six)
    return {"one name, at rank 1": (first, len(alone)), "six names, all in": (found, TOGETHER)}


def print_table(tools: ToolSet) -> None:
    """The figures as Markdown."""
    print("| named in the request | got it | of |\n|---|---|---|")
    for what, (got, asked) in measure(tools).items():
        print(f"| {what} | {got} | {asked} |")
    print()
