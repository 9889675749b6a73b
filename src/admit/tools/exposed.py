"""What a gate has shown in each of an agent's contexts: a new context, as after a compaction, has nothing."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable

MOST_EPOCHS = 64
"""Contexts that are remembered, those used last."""


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
