"""The settings in force where an event happened, and the gate that goes with them.

An agent's working folder may hold a project's file, so each folder has settings of its own. They are looked
at again at most once per second; folders with the same settings share a gate.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from admit.config.layers import Config
from admit.judges.clock import Clock
from admit.outputs.model import OutputConfig
from admit.outputs.render import HEADER_CHARS
from admit.outputs.settings import output_config

from .deadlines import chain

if TYPE_CHECKING:
    from admit.outputs.gate import OutputGate

FRESH_S = 1.0
MOST_FOLDERS = 64
MOST_GATES = 8
STREAMS = 2  # the headers of stdout and stderr


class Settings(NamedTuple):
    """What holds at one event: every value by full key, and the gate."""

    config: Config
    gate: OutputGate

    @property
    def values(self) -> Any:
        """Every value by its full key."""
        return self.config.values


def hosted(config: Config) -> OutputConfig:
    """The settings of the outputs door where a host shows the result: within its caps and deadlines."""
    chosen = output_config(config)
    most = config.values["hosts.replace_max_chars"] - STREAMS * HEADER_CHARS
    judge_ms = chain(config.values, "after_tool").judge or chosen.filter.timeout_ms
    return chosen._replace(
        max_kept_chars=min(chosen.max_kept_chars, most),
        filter=chosen.filter._replace(
            max_kept_chars=min(chosen.filter.max_kept_chars, most),
            timeout_ms=min(chosen.filter.timeout_ms, judge_ms),
        ),
    )


class Projects:
    """The settings by working folder.

    Args:
        load: Reads them; an empty folder is none, and no project's file counts.
        make_gate: Makes the gate of a configuration.
        clock: Says when they are to be looked at again.
    """

    def __init__(
        self,
        load: Callable[[str], Config],
        make_gate: Callable[[Config, OutputConfig], OutputGate],
        clock: Clock,
    ) -> None:
        self._load = load
        self._make_gate = make_gate
        self._clock = clock
        self._lock = threading.Lock()
        self._folders: OrderedDict[str, tuple[float, Settings]] = OrderedDict()
        self._gates: OrderedDict[tuple[Any, ...], OutputGate] = OrderedDict()

    def at(self, cwd: str) -> Settings:
        """What holds in this folder now."""
        now = self._clock.monotonic()
        with self._lock:
            kept = self._folders.get(cwd)
            if kept is not None and now - kept[0] < FRESH_S:
                return kept[1]
            config = self._load(cwd)
            if kept is not None and kept[1].config == config:
                settings = kept[1]
            else:
                settings = Settings(config, self._gate(config))
            self._folders[cwd] = (now, settings)
            self._folders.move_to_end(cwd)
            while len(self._folders) > MOST_FOLDERS:
                self._folders.popitem(last=False)
            return settings

    def forget(self, session: str) -> int:
        """Empty the memory of what a session was shown, in every gate; gives the number of entries."""
        with self._lock:
            gates = list(self._gates.values())
        return sum(gate.forget(session, cause=None) for gate in gates)

    def _gate(self, config: Config) -> OutputGate:
        outputs = hosted(config)
        judge = [value for key, value in config.values.items() if key.startswith(("judge.", "limits."))]
        key = (outputs, config.may_ask("outputs"), *judge)
        gate = self._gates.get(key) or self._make_gate(config, outputs)
        self._gates[key] = gate
        self._gates.move_to_end(key)
        while len(self._gates) > MOST_GATES:
            self._gates.popitem(last=False)
        return gate
