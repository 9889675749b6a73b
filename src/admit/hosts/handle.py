"""One hook, in process: read the event, keep the state, ask the door, write the answer."""

from __future__ import annotations

from typing import NamedTuple

from .model import NOTHING, Handled


class Deps(NamedTuple):
    """What a hook needs; made once a process by `build_deps`."""


def prefilter(event: str, raw: bytes) -> bool:
    """Whether an event may have an answer, or keeps state; looks at its name and size alone."""
    return True


def handle(host: str, event: str, raw: bytes, *, deps: Deps, budget_ms: int | None = None) -> Handled:
    """Serve one hook.

    Never raises; the data is empty on anything odd. Nothing is written before `Handled.after` is called.

    Args:
        host: The adapter's name, such as ``claude-code``.
        event: The host's name of the event.
        raw: The payload.
        deps: See `build_deps`.
        budget_ms: What the caller has left, in ms; the lower of this and the configured deadline holds.
    """
    return Handled(NOTHING, lambda confirmed: None)
