"""Judges made once a process: one for each profile and the settings it depends on."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from .bounded import BoundedJudge
from .clock import Clock
from .load import load_judge
from .profiles import Profile

MOST_JUDGES = 8
# What a door applies by itself before it asks; the same judge serves every value of it.
_OF_THE_DOOR = (".max_candidates", ".timeout_ms")


class Judges:
    """Gives the same judge, with its model, connections and limits, wherever the same settings hold.

    A project's file may lower how many candidates a door asks about; that changes no judge. At most 8 are
    kept, and the longest unused goes first; an ask that is on its way ends as it would.

    Args:
        clock: What deadlines are counted on; None is the machine's.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._judges: OrderedDict[tuple[Any, ...], BoundedJudge] = OrderedDict()

    def load(self, profile: Profile, values: Mapping[str, Any]) -> BoundedJudge:
        """The judge of a profile under these settings (by full key).

        Raises:
            ConfigError: The profile, or a setting of the judge, cannot be used.
        """
        key = (profile.name, *_settings(values))
        with self._lock:
            judge = self._judges.get(key)
            if judge is None:
                judge = load_judge(profile, config=values, clock=self._clock)
                self._judges[key] = judge
            self._judges.move_to_end(key)
            while len(self._judges) > MOST_JUDGES:
                self._judges.popitem(last=False)
            return judge


def _settings(values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """What a judge is made of: every setting of judges and limits but the doors' own, by key."""
    own = (key for key in values if key.startswith(("judge.", "limits.")) and key != "judge.profile")
    return [(key, _fixed(values[key])) for key in sorted(own) if not key.endswith(_OF_THE_DOOR)]


def _fixed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
