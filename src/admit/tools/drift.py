"""Pins: what was approved of each source's tools, and how what it offers now differs from that.

`pins.json` in the configuration folder holds, by source, the fingerprint and the whole object of every
approved tool, and by server the consent to run it. The file is read again when it changes. One that cannot be
used holds every tool back.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from admit.config.files import Finding
from admit.config.places import config_dir
from admit.config.private import Unsafe, locked, read_private, write_private
from admit.core.events import canonical, parse
from admit.errors import UsageError

from .model import PinState, Route

SCHEMA = 1
MOST_BYTES = 64 << 20
KEPT_BYTES = 262_144
"""UTF-8 bytes of a tool above which only its fingerprint is kept, so that its difference cannot be shown."""
MEND = "move it away, look at the tools with admit tools diff, and approve them again"


class Pin(NamedTuple):
    """One approval.

    Attributes:
        ts_ms: When, UTC epoch ms.
        tool: The object that was approved; None where it was too large to keep.
    """

    fingerprint: str
    by: str
    ts_ms: int
    tool: Any = None


class FieldChange(NamedTuple):
    """One place at which a tool differs from what was approved.

    Attributes:
        path: Its JSON pointer in the tool.
        old, new: Text as it stands, anything else as canonical JSON; None where there is nothing.
    """

    path: str
    old: str | None
    new: str | None


class Drift(NamedTuple):
    """One tool that is not as it was approved.

    Attributes:
        old, new: Fingerprints; empty where there is none.
        fields: Where it differs, in the order of paths; empty where the approved object was not kept.
    """

    route_id: str
    source: str
    state: PinState
    old: str
    new: str
    fields: tuple[FieldChange, ...] = ()


class _Held(NamedTuple):
    """What a file holds: pins by source and key, consents by server."""

    tools: Mapping[str, Mapping[str, Pin]] = {}
    consents: Mapping[str, Pin] = {}


def pins_path() -> str:
    """`pins.json` in the configuration folder."""
    return os.path.join(config_dir(), "pins.json")


def key_of(route_id: str) -> tuple[str, str]:
    """The source of an id, and what stands after it."""
    source, _, rest = route_id.partition("/")
    return source, rest


class Pins:
    """The approvals of this user. Every method may be called from any thread.

    Args:
        path: The file; None keeps them in memory alone.
        now_ms: UTC epoch ms, for the record.
    """

    def __init__(
        self, path: str | None = None, *, now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    ) -> None:
        self.path = path
        self._now_ms = now_ms
        self._lock = threading.RLock()
        self._memory = _Held()
        self._version = 0
        self._read: tuple[object, _Held, Finding | None] = (None, _Held(), None)

    def mark(self) -> object:
        """What changes when the pins do; for caches."""
        return self._current()[0]

    @property
    def finding(self) -> Finding | None:
        """Why everything is held by a file that is there; None where it is good, or there is none."""
        return self._current()[2]

    def has(self, source: str) -> bool:
        """Whether a source has a baseline. With a file that cannot be used every source has one."""
        _, held, finding = self._current()
        return finding is not None or source in held.tools

    def holds(self, route_id: str) -> bool:
        """Whether an id is in its source's baseline."""
        source, key = key_of(route_id)
        return key in self._current()[1].tools.get(source, {})

    def baseline(self, source: str) -> Mapping[str, Pin]:
        """The approved tools of a source, by what stands after it in their ids."""
        return self._current()[1].tools.get(source, {})

    def state(self, route: Route) -> PinState:
        """``approved``, ``new`` or ``changed``. Never raises."""
        return self.states((route,))[route.id]

    def states(self, routes: Iterable[Route]) -> dict[str, PinState]:
        """The state of each, by id. Never raises."""
        tools = self._current()[1].tools
        found: dict[str, PinState] = {}
        for one in routes:
            source, key = key_of(one.id)
            pin = tools.get(source, {}).get(key)
            same = pin is not None and bool(one.fingerprint) and pin.fingerprint == one.fingerprint
            found[one.id] = "new" if pin is None else "approved" if same else "changed"
        return found

    def approve(self, routes: Iterable[Route], *, by: str, gone: Iterable[str] = ()) -> None:
        """Take tools as they are into their baselines, and take `gone` ids out.

        A tool without a fingerprint is passed over: nothing can be told of it later.

        Raises:
            UsageError: The file cannot be used.
            OSError: It cannot be written.
        """
        chosen, left = [one for one in routes if one.fingerprint], list(gone)
        if not chosen and not left:
            return

        def change(held: _Held) -> _Held:
            tools = {name: dict(own) for name, own in held.tools.items()}
            for one in chosen:
                source, key = key_of(one.id)
                pin = Pin(one.fingerprint, by, self._now_ms(), _kept(one.tool))
                tools.setdefault(source, {})[key] = pin
            for id in left:
                source, key = key_of(id)
                tools.get(source, {}).pop(key, None)
            return held._replace(tools=tools)

        self._change(change)

    def forget(self, source: str) -> None:
        """Take a source out with its baseline and its consent.

        Raises:
            UsageError: The file cannot be used.
            OSError: It cannot be written.
        """
        if source not in self._current()[1].tools and source not in self._current()[1].consents:
            return

        def change(held: _Held) -> _Held:
            tools = {name: own for name, own in held.tools.items() if name != source}
            consents = {name: one for name, one in held.consents.items() if name != source}
            return _Held(tools, consents)

        self._change(change)

    def consented(self, server: str, spec: str) -> bool:
        """Whether the user agreed that a server of this description is run; `spec` is its hash."""
        pin = self._current()[1].consents.get(server)
        return pin is not None and bool(spec) and pin.fingerprint == spec

    def consent(self, server: str, spec: str, *, by: str) -> None:
        """Store that the user agreed to it.

        Raises:
            UsageError: The file cannot be used.
            OSError: It cannot be written.
        """
        self._change(
            lambda held: held._replace(consents={**held.consents, server: Pin(spec, by, self._now_ms())})
        )

    def _change(self, change: Callable[[_Held], _Held]) -> None:
        with self._lock:
            if self.path is None:
                self._memory = change(self._memory)
                self._version += 1
                return
            with locked(f"{self.path}.lock"):
                try:
                    held = _parsed(read_private(self.path, MOST_BYTES))
                except Unsafe as unsafe:
                    raise UsageError(f"{unsafe}; {unsafe.finding.fix}") from None
                except ValueError as fault:
                    raise UsageError(f"{self.path} {fault}; {MEND}") from None
                write_private(self.path, _written(change(held)))

    def _current(self) -> tuple[object, _Held, Finding | None]:
        if self.path is None:
            return self._version, self._memory, None
        try:
            info = os.lstat(self.path)
            now = (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
        except FileNotFoundError:
            return None, _Held(), None
        except OSError as fault:
            text = f"cannot be read: {fault.strerror}"
            return text, _Held(), Finding("broken", text, "give this user the right to it", file=self.path)
        with self._lock:
            if self._read[0] != now:
                try:
                    held, finding = _parsed(read_private(self.path, MOST_BYTES)), None
                except Unsafe as unsafe:
                    held, finding = _Held(), unsafe.finding
                except ValueError as fault:
                    held, finding = _Held(), Finding("broken", str(fault), MEND, file=self.path)
                self._read = (now, held, finding)
            return self._read


def drifts(source: str, routes: Iterable[Route], pins: Pins) -> list[Drift]:
    """The tools of a source that are not as they were approved, in the order of ids."""
    baseline = pins.baseline(source)
    found: list[Drift] = []
    seen: set[str] = set()
    for one in routes:
        key = key_of(one.id)[1]
        seen.add(key)
        state, pin = pins.state(one), baseline.get(key)
        if state == "approved":
            continue
        changed = () if pin is None or pin.tool is None else tuple(_differences(pin.tool, one.tool, ""))
        found.append(Drift(one.id, source, state, pin.fingerprint if pin else "", one.fingerprint, changed))
    for key, pin in baseline.items():
        if key not in seen:
            found.append(Drift(f"{source}/{key}", source, "gone", pin.fingerprint, ""))
    return sorted(found, key=lambda drift: drift.route_id)


def _differences(old: Any, new: Any, path: str) -> Iterator[FieldChange]:
    """Where two JSON values differ: member by member in objects, as a whole in anything else."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            place = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in old:
                yield FieldChange(place, None, _shown(new[key]))
            elif key not in new:
                yield FieldChange(place, _shown(old[key]), None)
            else:
                yield from _differences(old[key], new[key], place)
    elif _shown(old) != _shown(new) or type(old) is not type(new):
        yield FieldChange(path, _shown(old), _shown(new))


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else canonical(value).decode("utf-8")


def _kept(tool: Mapping[str, Any]) -> Any:
    """A copy of a tool that later changes of the object do not reach; None where it is too large."""
    data = canonical(tool)
    return parse(data) if len(data) <= KEPT_BYTES else None


def _written(held: _Held) -> bytes:
    sources = {
        name: {
            key: {"fingerprint": p.fingerprint, "by": p.by, "ts_ms": p.ts_ms, "tool": p.tool}
            for key, p in own.items()
        }
        for name, own in held.tools.items()
    }
    consents = {
        name: {"spec": p.fingerprint, "by": p.by, "ts_ms": p.ts_ms} for name, p in held.consents.items()
    }
    value = {"schema": SCHEMA, "sources": sources, "consents": consents}
    return f"{json.dumps(value, indent=1, sort_keys=True)}\n".encode()


def _parsed(data: bytes | None) -> _Held:
    """What a file holds, all of it or nothing.

    Raises:
        ValueError: It is not what Admit writes.
    """
    if data is None:
        return _Held()
    try:
        value = parse(data)
        if value["schema"] != SCHEMA:
            raise ValueError("was written by another version of Admit")
        tools = {
            name: {key: _pin(row["fingerprint"], row, row["tool"]) for key, row in own.items()}
            for name, own in value["sources"].items()
        }
        consents = {name: _pin(row["spec"], row) for name, row in value["consents"].items()}
        return _Held(tools, consents)
    except (KeyError, TypeError, AttributeError, UnicodeDecodeError, json.JSONDecodeError):
        raise ValueError("does not hold pins as Admit writes them") from None


def _pin(printed: Any, row: Mapping[str, Any], tool: Any = None) -> Pin:
    pin = Pin(printed, row["by"], row["ts_ms"], tool)
    if not isinstance(pin.fingerprint, str) or not isinstance(pin.by, str) or type(pin.ts_ms) is not int:
        raise TypeError
    return pin
