"""Signals of a route's shape: its whole name, or its whole group, is what the request says.

Each is added once to a route, by the best word that gives it, in multiples of that word's idf.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .variants import is_verb
from .words import singular

if TYPE_CHECKING:
    from .index import View
    from .lexical import Concept


class Signal(NamedTuple):
    """What a signal adds, by route, and the word that gave it."""

    name: str
    values: dict[str, float]
    words: dict[str, str]


def signals(view: View, concepts: Sequence[Concept], weight: float) -> tuple[Signal, Signal]:
    """The whole names and the whole groups that the concepts say: ``jobs`` says ``job``, not ``aux_job_076``.

    A verb alone is no name: ``update`` counts for a route of a group only where the request says the group.
    """
    name = Signal("whole_name", {}, {})
    group = Signal("whole_group", {}, {})
    for concept in concepts:
        key = singular(concept.word)
        for signal, table in ((name, view.index.whole_names), (group, view.index.whole_groups)):
            value = weight * concept.idf
            for route_id in view.within(table.get(key, {})):
                if value > signal.values.get(route_id, 0.0):
                    signal.values[route_id] = value
                    signal.words[route_id] = concept.word
    routes = view.index.routes
    for route_id in [one for one in name.values if routes[one].group and one not in group.values]:
        if is_verb(name.words[route_id]):
            del name.values[route_id]
    return name, group
