"""What a gate has shown in each of an agent's contexts: a new context, as after a compaction, has nothing."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

MOST_EPOCHS = 64
"""Contexts that are remembered, those used last."""
MOST_FINDS = 256
"""Finds whose places are remembered, the newest."""


class Exposed:
    """Ids shown, by epoch. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shown: OrderedDict[str, set[str]] = OrderedDict()

    def had(self, ids: Collection[str], epoch: str) -> frozenset[str]:
        """Which of these the agent has: all without an epoch, else those that were shown in it."""
        with self._lock:
            return frozenset(ids) & self._shown.get(epoch, set()) if epoch else frozenset(ids)

    def show(self, ids: Iterable[str], epoch: str) -> None:
        """These were shown; without an epoch nothing is remembered."""
        if not epoch:
            return
        with self._lock:
            self._shown.setdefault(epoch, set()).update(ids)
            self._shown.move_to_end(epoch)
            while len(self._shown) > MOST_EPOCHS:
                self._shown.popitem(last=False)


class Place(NamedTuple):
    """Where a find had a route; None where that is not known, or it had no rank."""

    shown: bool | None = None
    rank: int | None = None


class Finds:
    """The order of the newest finds and what each showed, by decision. Any thread may call it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._finds: OrderedDict[str, tuple[frozenset[str], dict[str, int]]] = OrderedDict()

    def add(self, decision_id: str, shown: Iterable[str], ranked: Sequence[tuple[str, int]]) -> None:
        """One find: what it showed, and the rank of each that it had."""
        with self._lock:
            self._finds[decision_id] = (frozenset(shown), dict(ranked))
            while len(self._finds) > MOST_FINDS:
                self._finds.popitem(last=False)

    def place(self, decision_id: str | None, route_id: str) -> Place:
        """Where a find had a route."""
        with self._lock:
            held = self._finds.get(decision_id or "")
        return Place() if held is None else Place(route_id in held[0], held[1].get(route_id))
