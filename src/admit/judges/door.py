"""Who is asked at a door, by the settings in force: one answer for every door."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from admit.config.layers import Config
from admit.core.events import canonical, sha256
from admit.core.question import Judge
from admit.errors import ConfigError

from .profiles import DoorProfile, Profile, profile, threshold
from .redact import Redactor

Load = Callable[[Profile, Mapping[str, Any]], Judge]
"""Gives the judge of a profile under settings by full key; raises ConfigError."""


class DoorJudge(NamedTuple):
    """A judge that may be asked, its profile, and what that says of the door.

    Attributes:
        cell: Caps and deadline; the threshold as it is set.
        threshold: The one in force, that of a calibration included; None where there is none.
        profile_hash: ``sha256:`` of the whole profile.
    """

    judge: Judge
    profile: Profile
    cell: DoorProfile
    threshold: float | None
    profile_hash: str


def door_judge(config: Config, door: str, load: Load, name: str | None = None) -> DoorJudge | str:
    """The judge of a door, or why nobody is asked: ``config``, ``off`` or ``unsupported``.

    Args:
        name: The profile to ask; None is ``judge.profile``.

    What is wrong with a profile or a pattern is said by `admit config check` and `admit doctor`.
    """
    if not config.may_ask(door):
        return "config"
    if config.values["judge.mode"] == "off":
        return "off"
    try:
        chosen = profile(name or config.values["judge.profile"], config.values)
        cell = chosen.doors.get(door)
        if cell is None:
            return "unsupported"
        Redactor(config.values["judge.redact_patterns"])  # what cannot be masked must not be asked about
        judge = load(chosen, config.values)
        least = threshold(chosen, door, judge)
    except ConfigError:
        return "config"
    return DoorJudge(judge, chosen, cell, least, sha256(canonical(chosen)))


def own_judge(chosen: Profile, values: Mapping[str, Any]) -> Judge:
    """A judge for one gate alone, as a `Load`; `pool.Judges.load` shares them."""
    from .load import load_judge

    return load_judge(chosen, config=values)
