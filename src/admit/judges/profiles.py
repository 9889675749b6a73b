"""Profiles: who answers at which door, over how many candidates, from which value on, and by when.

A profile's cap is a value of the client: the door applies it before the judge is asked, and a judge never
counts. Deadlines do not grow with the count; `deadline_warning` says where the two cannot go together.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from admit.config.keys import PROFILES, shipped
from admit.core.question import Judge
from admit.errors import ConfigError

from .bounded import BoundedJudge
from .clock import Clock

BACKENDS = ("local",)
MODELS = MappingProxyType({"local": "minilm-int8"})


class DoorProfile(NamedTuple):
    """What a profile says for one door.

    Attributes:
        max_candidates: The most candidates one ask may judge, a count.
        threshold: The least value that admits: a probability, at the outputs door an expectation of 0..3.
            None is that of the judge's calibration.
        timeout_ms: The deadline of one ask, in ms.
    """

    max_candidates: int
    threshold: float | None
    timeout_ms: int


class Profile(NamedTuple):
    """A backend, its pinned model, and a table a door. A door that is absent cannot be judged."""

    name: str
    backend: str
    model: str
    doors: Mapping[str, DoorProfile]


class Line(NamedTuple):
    """How long an ask takes: `a_ms` + `b_ms` a candidate, and where that is known from."""

    a_ms: float
    b_ms: float
    source: str


ASSUMED = Line(600, 100, "assumed")
"""Of a chat judge until its calls are fitted."""


def profile(name: str, values: Mapping[str, Any] | None = None) -> Profile:
    """A profile by name, with the settings over what ships.

    Args:
        name: A shipped profile, or one of the user's own that names its backend; that one inherits from the
            shipped profile of the backend.
        values: Settings by full key; None is what ships.

    Raises:
        ConfigError: There is no such profile or backend.
    """
    values = shipped() if values is None else values
    backend = values.get(f"judge.profiles.{name}.backend", name if name in PROFILES else None)
    if backend is None:
        raise ConfigError(f"no profile {name!r}; there are: {', '.join(PROFILES)}", key="judge.profile")
    if backend not in BACKENDS:
        key = f"judge.profiles.{name}.backend"
        raise ConfigError(f"no backend {backend!r}; there are: {', '.join(BACKENDS)}", key=key)
    doors: dict[str, DoorProfile] = {}
    for door, (most, least, deadline) in PROFILES[backend].items():
        key = f"judge.profiles.{name}.{door}"
        doors[door] = DoorProfile(
            _given(values, f"{key}.max_candidates", most),
            _given(values, f"{key}.threshold", least),
            _given(values, f"{key}.timeout_ms", deadline),
        )
    return Profile(name, backend, MODELS[backend], MappingProxyType(doors))


def threshold(profile: Profile, door: str, judge: Judge) -> float | None:
    """The least value that admits at a door: the profile's, else that of the judge's calibration.

    None where neither has one: the door then has nothing to act on.
    """
    cell = profile.doors.get(door)
    if cell is not None and cell.threshold is not None:
        return cell.threshold
    inner = judge.judge if isinstance(judge, BoundedJudge) else judge
    of_calibration = getattr(inner, "threshold", None)
    return of_calibration(door) if of_calibration is not None else None


def load_judge(
    profile_or_name: str | Profile,
    *,
    config: Mapping[str, Any] | None = None,
    ledger: object | None = None,
    clock: Clock | None = None,
) -> BoundedJudge:
    """The judge of a profile, with its deadline kept from outside. Loads no model; the first ask does.

    Args:
        profile_or_name: A profile, or the name of one.
        config: Settings by full key; None is what ships.
        ledger: Where a priced backend looks up its calls; the local one has none to look up.
        clock: What deadlines are counted on; None is the machine's.

    Raises:
        ConfigError: There is no such profile or backend.
    """
    values = shipped() if config is None else config
    if isinstance(profile_or_name, str):
        profile_or_name = profile(profile_or_name, values)
    judge = _backend(profile_or_name, values)
    return BoundedJudge(judge, clock, min_call_ms=values.get("judge.min_call_ms", 150))


def deadline_warning(profile: Profile, door: str, line: Line | None = None) -> str | None:
    """What to say where a full ask cannot be answered in time; None where it can, or nothing is known.

    Args:
        line: The profile's own line at this door; None is the assumed one for a chat judge, and no
            warning for any other until its calls are fitted.
    """
    cell = profile.doors.get(door)
    line = line or (ASSUMED if profile.backend == "chat" else None)
    if cell is None or line is None:
        return None
    takes = line.a_ms + line.b_ms * cell.max_candidates
    if takes <= cell.timeout_ms:
        return None
    return (
        f"{profile.name}.{door}: {cell.max_candidates} candidates take about {takes / 1000:.1f} s "
        f"({line.a_ms / 1000:.1f} s + {line.b_ms / 1000:.1f} s × {cell.max_candidates}, {line.source}), "
        f"timeout_ms is {cell.timeout_ms:,}: requests will fall back"
    )


def _given(values: Mapping[str, Any], key: str, shipped_value: Any) -> Any:
    """A setting, or what ships where it is absent or not set."""
    value = values.get(key)
    return shipped_value if value is None else value


def _backend(profile: Profile, values: Mapping[str, Any]) -> Judge:
    if profile.backend == "local":
        from .local import LocalJudge, local_config

        return LocalJudge(local_config(values))
    raise ConfigError(
        f"no backend {profile.backend!r}; there are: {', '.join(BACKENDS)}",
        key=f"judge.profiles.{profile.name}.backend",
    )
