"""The outputs door as the commands use it: settings, store, record, key and gate of this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from time import time_ns
from typing import TYPE_CHECKING, Any, NamedTuple

from admit.config.layers import Config, load
from admit.outputs.model import OutputConfig
from admit.outputs.settings import output_config, output_judge

if TYPE_CHECKING:
    from admit.core.question import Judge
    from admit.judges.profiles import Profile
    from admit.ledger.outputs import FileOutputs
    from admit.ledger.port import Ledger
    from admit.outputs.gate import OutputGate


class Place(NamedTuple):
    """Where outputs and decisions are kept, and the install key."""

    store: FileOutputs
    ledger: Ledger
    key: bytes

    def settle(self, config: Config) -> None:
        """Wait for the record, at most `ledger.close_wait_ms`; call it after the answer has been given."""
        self.ledger.flush(config.values["ledger.close_wait_ms"])


def settings(overrides: Mapping[str, object] | None = None) -> Config:
    """The settings in force here, with the command line's values on top.

    Raises:
        ConfigError: A value of the command line is out of range.
    """
    return load(overrides=overrides)


def open_place(config: Config) -> Place:
    """Open the record, the store and the key. A record that cannot be opened costs only the record."""
    from admit.ledger import open_ledger
    from admit.ledger.key import install_key
    from admit.ledger.outputs import FileOutputs

    ledger = open_ledger(config.values)
    return Place(FileOutputs(config.values, ledger), ledger, install_key(config.values))


def open_gate(
    config: Config,
    place: Place,
    *,
    outputs: OutputConfig | None = None,
    estimate: bool = False,
    recall_way: str = "admit recall {id}",
) -> OutputGate:
    """The gate over a place, with a judge where the filter is on or an estimate needs one."""
    from admit.outputs.gate import OutputGate

    chosen = outputs or output_config(config)
    judge, profile = output_judge(config, _load) if chosen.filter.enabled or estimate else (None, None)
    return OutputGate(
        chosen,
        store=place.store,
        judge=judge,
        ledger=place.ledger,
        key=place.key,
        profile=profile,
        recall_way=recall_way,
    )


def _load(profile: Profile, values: Mapping[str, Any]) -> Judge:
    """The judge of a profile; in a command a key may come from the variable that the profile names."""
    from admit.judges.load import load_judge

    return load_judge(profile, config=values, variables=True)


def now_ms() -> int:
    """UTC epoch milliseconds."""
    return time_ns() // 1_000_000


def fresh_id() -> str:
    """128 random bits as hex."""
    return os.urandom(16).hex()
