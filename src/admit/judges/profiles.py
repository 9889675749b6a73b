"""Profiles: who answers at which door, over how many candidates, from which value on, and by when.

A profile's cap is a value of the client: the door applies it before the judge is asked, and a judge never
counts. Deadlines do not grow with the count; `deadline_warning` says where the two cannot go together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from admit.config.judge_keys import BASE_PROFILES
from admit.config.keys import PROFILE_FIELDS, PROFILES, shipped
from admit.core.question import NO_LIMITS, Judge, RequestLimits
from admit.errors import ConfigError

from .hostnames import literal

_PORTS = MappingProxyType({"http": 80, "https": 443})
STATE_TOKENS = 30_000
"""What servers of the SystemOne interface take of the state with the longest question, less a margin."""

_MOVING = ("latest",)
_HOST = re.compile(r"[\w-]+(\.[\w-]+)*\.?")


class DoorProfile(NamedTuple):
    """What a profile says for one door.

    Attributes:
        max_candidates: The most candidates one ask may judge, a count; None at the evidence door, where the
            criterion's budget counts.
        threshold: The least value that admits: a probability, at the outputs door an expectation of 0..3.
            None is that of the judge's calibration; a judge without one only records.
        timeout_ms: The deadline of one ask, in ms.
    """

    max_candidates: int | None
    threshold: float | None
    timeout_ms: int


class Profile(NamedTuple):
    """A backend, its pinned model, and a table a door. A door that is absent cannot be judged.

    Attributes:
        destination: URL of the server, without `path`; empty for a judge on this machine's own.
        form: How a chat model's answer is forced: ``schema``, ``tool`` or ``messages``.
        price_in, price_out: USD per million tokens; None is unknown.
        argv, env: The program of a `command` judge, and the variables it gets beside PATH, HOME and LANG.
        key_variable: A variable that may hold the key, for commands only.
        limits: What one request may carry.
    """

    name: str
    backend: str
    model: str
    doors: Mapping[str, DoorProfile]
    destination: str = ""
    path: str = ""
    form: str = ""
    temperature: float | None = None
    price_in: float | None = None
    price_out: float | None = None
    argv: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    key_variable: str | None = None
    limits: RequestLimits = NO_LIMITS

    @property
    def url(self) -> str:
        """The endpoint."""
        return self.destination.rstrip("/") + self.path

    @property
    def address(self) -> str:
        """``scheme://host:port`` of the destination, which consent and limits go by; else its kind."""
        return address_of(self.destination) if self.destination else f"{self.backend}:{self.name}"

    def shadow(self, door: str) -> str | None:
        """Why answers at a door may only be recorded; None where they act.

        ``alias``: the model's name may move to another model. ``unverified``: no threshold is known for
        this model. A local judge's threshold is that of its calibration; grounding has none.
        """
        if self.backend == "local":
            return None
        if self.model.startswith("~") or self.model.endswith(_MOVING):
            return "alias"
        cell = self.doors.get(door)
        if door != "evidence" and (cell is None or cell.threshold is None):
            return "unverified"
        return None


class Line(NamedTuple):
    """How long an ask takes: `a_ms` + `b_ms` a candidate, and where that is known from."""

    a_ms: float
    b_ms: float
    source: str


ASSUMED = Line(600, 100, "assumed")
"""Of a chat judge until its calls are fitted."""


def address_of(url: str) -> str:
    """``scheme://host:port`` of a URL, in lower case, the port always named.

    Raises:
        ConfigError: It is no http or https URL with a host, or holds a user or a password.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    host = parts.hostname or ""
    is_host = literal(host) is not None if ":" in host else _HOST.fullmatch(host)
    if parts.scheme not in _PORTS or not is_host or port == 0:
        raise ConfigError(f"{url!r} is no URL of a server; write https://HOST or http://127.0.0.1:PORT")
    if parts.username is not None or parts.password is not None:
        raise ConfigError("a destination holds no user or password; store the key with `admit judge key`")
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}:{port or _PORTS[parts.scheme]}"


def names(values: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """The profiles there are: the shipped ones, then the user's own, in the order of the settings."""
    own = (name.split(".")[2] for name in values or () if name.startswith("judge.profiles."))
    return tuple(dict.fromkeys((*PROFILES, *own)))


def profile(name: str, values: Mapping[str, Any] | None = None) -> Profile:
    """A profile by name, with the settings over what ships.

    Args:
        name: A shipped profile, or one of the user's own that names its backend; that one inherits from the
            shipped profile of the backend, its thresholds only with its model, its prices only with its
            destination.
        values: Settings by full key; None is what ships.

    Raises:
        ConfigError: There is no such profile or backend, or it lacks a model, a destination or a program.
    """
    values = shipped() if values is None else values
    own = f"judge.profiles.{name}"
    backend = values.get(f"{own}.backend") or PROFILE_FIELDS.get(name, {}).get("backend")
    if backend is None:
        raise ConfigError(f"no profile {name!r}; there are: {', '.join(names(values))}", key="judge.profile")
    if backend not in BASE_PROFILES:
        raise ConfigError(
            f"no backend {backend!r}; there are: {', '.join(BASE_PROFILES)}", key=f"{own}.backend"
        )
    base = name if PROFILE_FIELDS.get(name, {}).get("backend") == backend else BASE_PROFILES[backend]
    inherited = PROFILE_FIELDS[base]

    def field(what: str, default: Any = None) -> Any:
        return _given(values, f"{own}.{what}", inherited.get(what, default))

    def price(what: str) -> Any:
        """Of the inherited profile only at its own server: another one has its own prices, or none."""
        return (
            field(what)
            if field("destination") == inherited.get("destination")
            else values.get(f"{own}.{what}")
        )

    same_model = field("model") == inherited.get("model")
    doors: dict[str, DoorProfile] = {}
    for door, (most, least, deadline) in PROFILES[base].items():
        key = f"{own}.{door}"
        set_here = values.get(f"{key}.threshold")
        doors[door] = DoorProfile(
            _given(values, f"{key}.max_candidates", most),
            # The settings of a shipped profile hold its threshold already, or None with another model.
            least if set_here is None and same_model and f"{key}.threshold" not in values else set_here,
            _given(values, f"{key}.timeout_ms", deadline),
        )
    found = Profile(
        name,
        backend,
        field("model", ""),
        MappingProxyType(doors),
        field("destination", ""),
        field("path", ""),
        field("form", ""),
        field("temperature"),
        price("price_in"),
        price("price_out"),
        tuple(field("argv", ())),
        tuple(field("env", ())),
        field("key_variable"),
        RequestLimits(
            field("batch_questions"),
            field("batch_bytes"),
            field("context_tokens"),
            backend == "chat",
            STATE_TOKENS if backend == "systemone" else None,
        ),
    )
    for what in _NEEDED[backend]:
        if not getattr(found, what):
            raise ConfigError(f"{own}.{what} is not set: {_WHAT[what]}", key=f"{own}.{what}")
    if found.destination:
        try:
            address_of(found.destination)
        except ConfigError as error:
            raise ConfigError(str(error), key=f"{own}.destination") from None
        if "?" in found.destination or "#" in found.destination:
            raise ConfigError(
                f"{own}.destination holds a ? or #; write what follows the host into {own}.path",
                key=f"{own}.destination",
            )
    return found


_NEEDED = MappingProxyType(
    {
        "local": (),
        "systemone": ("destination", "model"),
        "chat": ("destination", "model"),
        "command": ("argv",),
    }
)
_WHAT = MappingProxyType(
    {
        "destination": "name the server, such as http://127.0.0.1:8000",
        "model": "name the model, as the server spells it",
        "argv": 'name the program, such as ["my-judge", "--fast"]',
    }
)


def threshold(profile: Profile, door: str, judge: Judge) -> float | None:
    """The least value that admits at a door: the profile's, else that of the judge's calibration.

    None where neither has one: the door then has nothing to act on.
    """
    cell = profile.doors.get(door)
    if cell is not None and cell.threshold is not None:
        return cell.threshold
    of_calibration = getattr(getattr(judge, "judge", judge), "threshold", None)
    return of_calibration(door) if of_calibration is not None else None


def deadline_warning(profile: Profile, door: str, line: Line | None = None) -> str | None:
    """What to say where a full ask cannot be answered in time; None where it can, or nothing is known.

    Requests of one ask go at once, so the largest one is what takes long; a guidance ask is never split.

    Args:
        line: The profile's own line at this door; None is the assumed one for a chat judge, and no
            warning for any other until its calls are fitted.
    """
    cell = profile.doors.get(door)
    line = line or (ASSUMED if profile.backend == "chat" else None)
    if cell is None or cell.max_candidates is None or line is None:
        return None
    most = cell.max_candidates
    split = profile.limits.batch_questions if door != "guidance" else None
    largest = min(most, split or most)
    takes = line.a_ms + line.b_ms * largest
    if takes <= cell.timeout_ms:
        return None
    parts = "" if largest == most else f", {largest} a request,"
    return (
        f"{profile.name}.{door}: {most} candidates{parts} take about {takes / 1000:.1f} s "
        f"({line.a_ms / 1000:.1f} s + {line.b_ms / 1000:.1f} s × {largest}, {line.source}), "
        f"timeout_ms is {cell.timeout_ms:,}: requests will fall back"
    )


def _given(values: Mapping[str, Any], key: str, shipped_value: Any) -> Any:
    """A setting, or what ships where it is absent or not set."""
    value = values.get(key)
    return shipped_value if value is None else value
