"""The settings of this door, as its gate takes them."""

from __future__ import annotations

from typing import NamedTuple

from admit.config.layers import Config, section

LANES = ("queued", "command", "file", "state", "task")


class GateSettings(NamedTuple):
    """What a scan goes by.

    Attributes:
        mode: ``enforce``, ``shadow`` or ``off``; None leaves it to the backend: off with the local one.
        lanes: The lanes that are on; a prompt always is.
        envelopes: Openings of machine notices beside the built-in ones.
        budget: UTF-16 units that one hook may add.
        veto_floor: Probability below which a pattern of a described snippet does not fire.
    """

    mode: str | None
    lanes: frozenset[str]
    envelopes: tuple[str, ...]
    overflow: str
    fill: str
    turns: int
    max_turn_chars: int
    max_description_chars: int
    refire_floor: float
    window_default: int
    max_per_turn: int
    max_per_tool_call: int
    veto_floor: float
    reply_chars: int
    budget: int


def gate_settings(config: Config) -> GateSettings:
    """The `[guidance]` settings in force."""
    values = section(config.values, "guidance")
    return GateSettings(
        mode=values["mode"],
        lanes=frozenset(("prompt", *(lane for lane in LANES if values[f"lanes.{lane}"]))),
        envelopes=values["envelopes"],
        overflow=values["gate.overflow"],
        fill=values["gate.fill"],
        turns=values["gate.turns"],
        max_turn_chars=values["gate.max_turn_chars"],
        max_description_chars=values["gate.max_description_chars"],
        refire_floor=values["refire_floor"],
        window_default=values["window_default"],
        max_per_turn=values["max_per_turn"],
        max_per_tool_call=values["max_per_tool_call"],
        veto_floor=values["matcher.veto_floor"],
        reply_chars=values["matcher.reply_chars"],
        budget=config.values["hosts.inject_max_chars"],
    )
