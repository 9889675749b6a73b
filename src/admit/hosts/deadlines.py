"""The chain of time-outs: judge, door, hook client, host, each at least 250 ms inside the next.

A hook that outlives the host's own time-out loses its answer, so every stage gives up before the one around
it does. All times are milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

from .model import Moment

APART_MS = 250
HOST_MARGIN_MS = 500


class Chain(NamedTuple):
    """The deadlines of one class of events.

    Attributes:
        judge: None where no judge is asked.
        host: What `admit init` writes into the host's settings.
    """

    judge: int | None
    door: int
    client: int
    host: int


class _Class(NamedTuple):
    """What is fixed for a class: the door whose judge is asked, its usual deadline, the host's time-out."""

    door: str
    judge: int | None
    host: int


CLASSES: Mapping[str, _Class] = MappingProxyType(
    {
        "prompt": _Class("guidance", 2_000, 5_000),
        "before_tool": _Class("", None, 3_000),
        "after_tool": _Class("outputs", 4_000, 10_000),
        "session": _Class("", None, 2_000),
    }
)
_OF_MOMENT: Mapping[Moment, str] = MappingProxyType(
    {
        "prompt": "prompt",
        "before_tool": "before_tool",
        "after_tool": "after_tool",
        "after_failure": "after_tool",
    }
)


def class_of(moment: Moment) -> str:
    """The class of an event: a key of `CLASSES`."""
    return _OF_MOMENT.get(moment, "session")


def chain(values: Mapping[str, Any], name: str) -> Chain:
    """The deadlines in force for one class.

    A judge's deadline above the usual one moves door and client up with it; what would come nearer than
    500 ms to the host's time-out is cut there, the whole chain by the same amount.
    """
    wished = _wished(values, name)
    over = max(0, wished.client - (wished.host - HOST_MARGIN_MS))
    judge = None if wished.judge is None else max(1, wished.judge - over)
    return Chain(judge, max(1, wished.door - over), wished.client - over, wished.host)


def chain_findings(values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """What is wrong with the chain of any class, as a sentence and its fix."""
    found: list[tuple[str, str]] = []
    for name, fixed in CLASSES.items():
        wished, held = _wished(values, name), chain(values, name)
        keys = f"hosts.deadline_ms.{name}"
        if wished.client != held.client:
            judged = wished.judge is not None and wished.judge > (fixed.judge or 0)
            raised = f"The judge's deadline at the {fixed.door} door" if judged else f"{keys}.client"
            text = (
                f"{raised} is too late for the host, which waits {held.host:,} ms {_when(name)}: "
                f"everything there is cut by {wished.client - held.client:,} ms."
            )
            key = f"judge.profiles.{_profile(values)}.{fixed.door}.timeout_ms" if judged else f"{keys}.client"
            most = (wished.judge or 0) if judged else wished.client
            found.append((text, f"admit config set {key} {most - (wished.client - held.client)}"))
        steps = (("judge", held.judge), ("door", held.door), ("client", held.client), ("host", held.host))
        asked = [(stage, ms) for stage, ms in steps if ms is not None]
        for (inner, early), (outer, late) in pairwise(asked):
            if late - early < APART_MS:
                text = (
                    f"{_when(name).capitalize()} the {inner} gives up at {early:,} ms and the {outer} at "
                    f"{late:,} ms; less than {APART_MS} ms apart, an answer can be lost."
                )
                found.append((text, _fix(keys, inner, outer, early)))
    return tuple(found)


def _fix(keys: str, inner: str, outer: str, early: int) -> str:
    if outer == "host":
        return f"Lower {keys}.client."
    stage = "door" if inner == "judge" else outer
    return f"admit config set {keys}.{stage} {early + APART_MS}"


def _wished(values: Mapping[str, Any], name: str) -> Chain:
    """The chain as the settings have it, uncut."""
    fixed = CLASSES[name]
    door, client = (values[f"hosts.deadline_ms.{name}.{stage}"] for stage in ("door", "client"))
    judge = _judge_ms(values, fixed)
    raised = 0 if judge is None or fixed.judge is None else max(0, judge - fixed.judge)
    return Chain(judge, door + raised, client + raised, fixed.host)


def _judge_ms(values: Mapping[str, Any], fixed: _Class) -> int | None:
    if fixed.judge is None:
        return None
    own = values.get(f"judge.profiles.{_profile(values)}.{fixed.door}.timeout_ms")
    ms = fixed.judge if own is None else int(own)
    return min(ms, values["outputs.filter.timeout_ms"]) if fixed.door == "outputs" else ms


def _profile(values: Mapping[str, Any]) -> str:
    return values["judge.profile"]


def _when(name: str) -> str:
    return {"prompt": "at a prompt", "before_tool": "before a tool", "after_tool": "after a tool"}.get(
        name, "at the start or end of a session"
    )
