"""The gates of guidance by host, project and settings."""

from __future__ import annotations

import os
from collections import OrderedDict
from threading import Lock
from typing import Any, NamedTuple

from admit.config.layers import Config
from admit.guidance.gate import GuidanceGate
from admit.guidance.memory import Memory
from admit.guidance.opening import FileLibrary, gate_judge, matcher
from admit.guidance.roots import project_folder
from admit.guidance.settings import gate_settings
from admit.judges.clock import Clock
from admit.judges.pool import Judges
from admit.ledger.port import Ledger

from .deadlines import chain
from .state import put_newest

MOST_FOLDERS = 64
MOST_GATES = 8
# Settings that a gate depends on, by how their names begin.
SETTINGS = ("guidance.", "judge.", "limits.", "hosts.inject_max_chars", "hosts.deadline_ms.prompt.")


class Guide(NamedTuple):
    """The gate of a project, and the project's folder."""

    gate: GuidanceGate
    project: str


class Guides:
    """The gates of guidance by host, project and settings; what was shown is remembered for all together."""

    def __init__(self, judges: Judges, ledger: Ledger, clock: Clock) -> None:
        self._judges = judges
        self._ledger = ledger
        self._clock = clock
        self._memory = Memory()
        self._lock = Lock()
        self._folders: OrderedDict[tuple[str, str], tuple[Config, Guide]] = OrderedDict()
        self._guides: OrderedDict[tuple[Any, ...], Guide] = OrderedDict()

    def at(self, host: str, cwd: str, config: Config) -> Guide:
        """The gate of a working folder under its settings; without a folder no project's files count."""
        with self._lock:
            kept = self._folders.get((host, cwd))
            if kept is not None and kept[0] is config:
                return kept[1]
            guide = self._guide(host, project_folder(cwd) if cwd else os.path.expanduser("~"), config)
            put_newest(self._folders, (host, cwd), (config, guide), MOST_FOLDERS)
            return guide

    def _guide(self, host: str, project: str, config: Config) -> Guide:
        values = [value for name, value in config.values.items() if name.startswith(SETTINGS)]
        theirs = config.added.get("guidance.disable", ())
        key = (host, project, config.may_ask("guidance"), theirs, *values)
        guide = self._guides.get(key)
        if guide is None:
            library = FileLibrary(project, host, config, self._clock, lambda index: matcher(index, config))
            gate = GuidanceGate(
                library,
                gate_settings(config),
                judge=gate_judge(config, self._judges.load).within(chain(config.values, "prompt").judge),
                ledger=self._ledger,
                clock=self._clock,
                memory=self._memory,
            )
            guide = Guide(gate, project)
        put_newest(self._guides, key, guide, MOST_GATES)
        return guide
