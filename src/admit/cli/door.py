"""The outputs door as the commands use it: settings, store, record, key and gate of this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from time import time_ns
from typing import TYPE_CHECKING, NamedTuple

from admit.config.layers import Config, load, section
from admit.errors import ConfigError
from admit.outputs.model import FilterConfig, JudgeProfile, OutputConfig

if TYPE_CHECKING:
    from admit.core.question import Judge
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
        self.ledger.close()


def settings(overrides: Mapping[str, object] | None = None) -> Config:
    """The settings in force here, with the command line's values on top.

    Raises:
        ConfigError: A value of the command line is out of range.
    """
    return load(overrides=overrides)


def output_config(config: Config) -> OutputConfig:
    """The `[outputs]` settings as the gate takes them."""
    values = section(config.values, "outputs")
    flat = {name.replace(".", "_"): value for name, value in values.items()}
    chosen = section(config.values, "outputs.filter")
    return OutputConfig(
        **{name: flat[name] for name in OutputConfig._fields if name != "filter"},
        filter=FilterConfig(**{name: chosen[name] for name in FilterConfig._fields}),
    )


def open_place(config: Config) -> Place:
    """Open the record, the store and the key. A record that cannot be opened costs only the record."""
    from admit.ledger import open_ledger
    from admit.ledger.key import install_key
    from admit.ledger.outputs import FileOutputs

    ledger = open_ledger(config.values)
    return Place(FileOutputs(config.values, ledger), ledger, install_key(config.values))


def open_gate(
    config: Config, place: Place, *, outputs: OutputConfig | None = None, estimate: bool = False
) -> OutputGate:
    """The gate over a place, with a judge where the filter is on or an estimate needs one."""
    from admit.outputs.gate import OutputGate

    chosen = outputs or output_config(config)
    judge, profile = _judge(config) if chosen.filter.enabled or estimate else (None, None)
    return OutputGate(
        chosen, store=place.store, judge=judge, ledger=place.ledger, key=place.key, profile=profile
    )


def _judge(config: Config) -> tuple[Judge | None, JudgeProfile | None]:
    """The judge of the outputs door; none where it may not be asked or its profile cannot be used."""
    from admit.judges.profiles import load_judge, profile

    if not config.may_ask("outputs") or config.values["judge.mode"] == "off":
        return None, None
    try:
        chosen = profile(config.values["judge.profile"], config.values)
        door = chosen.doors.get("outputs")
        if door is None:
            return None, None
        threshold = JudgeProfile().threshold if door.threshold is None else door.threshold
        said = JudgeProfile(door.max_candidates, threshold, door.timeout_ms, chosen.name)
        return load_judge(chosen, config=config.values), said
    except ConfigError:
        return None, None  # `admit doctor` and `admit config check` say what is wrong with it


def now_ms() -> int:
    """UTC epoch milliseconds."""
    return time_ns() // 1_000_000


def fresh_id() -> str:
    """128 random bits as hex."""
    return os.urandom(16).hex()
