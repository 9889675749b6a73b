"""One hook, in process: read the event, keep the state, ask the door, write the answer.

On anything odd the host gets nothing, which means: as without Admit. The answer comes first; records, claims
and proofs follow when it has left (`Handled.after`).
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType

from admit import __version__
from admit.core.events import Event
from admit.ledger.port import Record
from admit.ledger.record import new_id, now_ms
from admit.text.cut import utf16_length

from . import moments
from .deadlines import chain, class_of
from .deps import Deps, build_deps
from .hook import Hook
from .model import NOTHING, Handled, HostAdapter, HostEvent, Odd
from .outcome import Outcome
from .outputs import context_of
from .recalls import MARK

__all__ = ["Deps", "adapter_of", "build_deps", "handle", "prefilter"]

# Every host, and where its adapter is.
HOSTS: Mapping[str, str] = MappingProxyType({"claude-code": "admit.hosts.claude_code.adapter"})
CLIENT_MARGIN_MS = 250
# Events of these names carry an output, which is of no interest below the floor.
OUTPUT_EVENTS = frozenset(("PostToolUse", "PostToolUseFailure"))
FLOOR_BYTES = 2_000
PASSED = (MARK, b"persistedOutputPath", b'"Agent"', b'"Task"')
UNKNOWN = "unknown"  # an event's name that no host has; what it was is not recorded


def adapter_of(host: str) -> HostAdapter | None:
    """The adapter of a host; None for a name that is none."""
    if host not in HOSTS:
        return None
    from importlib import import_module

    return import_module(HOSTS[host]).ADAPTER


def prefilter(event: str, raw: bytes, *, floor_chars: int = FLOOR_BYTES) -> bool:
    """Whether an event may have an answer or keeps state, by its name and size alone.

    A character takes at least one byte, so an output's payload of fewer bytes than the floor has no large
    text in it, unless it names a file: one of the host's that holds the whole, or a stored one, read again.
    The end of a call that starts a subagent is heard whatever its size.
    """
    return event not in OUTPUT_EVENTS or len(raw) >= floor_chars or any(mark in raw for mark in PASSED)


def handle(host: str, event: str, raw: bytes, *, deps: Deps, budget_ms: int | None = None) -> Handled:
    """Serve one hook.

    Never raises; the data is empty on anything odd. Nothing is recorded before `Handled.after` is called.

    Args:
        host: The adapter's name, such as ``claude-code``.
        event: The host's name of the event.
        raw: The payload.
        deps: See `build_deps`.
        budget_ms: What the client waits, in ms; 250 less than this, or the configured deadline where that
            is lower, is what the door has.
    """
    known = UNKNOWN
    try:
        adapter = adapter_of(host)
        if adapter is None or adapter.moment(event) is None:
            raise Odd("unknown_event")
        known = event
        if not prefilter(event, raw, floor_chars=deps.floor_chars):
            return Handled(NOTHING, _nothing)
        return _served(adapter, event, raw, deps, budget_ms)
    except Odd as odd:
        cause = odd.cause
    except Exception as fault:  # whatever is wrong in here, the host goes on
        _log(known, fault)
        cause = "exception"
    return Handled(NOTHING, lambda written: _append_odd(deps, known, cause), cause)


def _served(adapter: HostAdapter, event: str, raw: bytes, deps: Deps, budget_ms: int | None) -> Handled:
    started = deps.clock.monotonic()
    ev = adapter.read(raw, event)
    settings = deps.projects.at(ev.cwd)
    if settings.config.pause is not None or not settings.values[f"hosts.{adapter.name}.enabled"]:
        return Handled(NOTHING, _nothing)
    door_ms = chain(settings.values, class_of(ev.moment)).door
    if budget_ms is not None:
        door_ms = min(door_ms, budget_ms - CLIENT_MARGIN_MS)
    state = deps.sessions.at(adapter.name, ev.session)
    ev = ev._replace(deadline_at=started + max(0, door_ms) / 1000, host_version=state.version)
    hook = Hook(ev, adapter, settings, state, deps)
    outcome, odd, data = Outcome(), "", NOTHING
    serve = moments.SERVE.get(ev.moment)
    if serve is not None:
        outcome, odd = serve(hook)
    most = settings.values["hosts.inject_max_chars"]
    if utf16_length(outcome.answer.context) > most:  # whole or not at all, and then it counts as not shown
        _withdraw_guidance(outcome)
        outcome = outcome._replace(answer=outcome.answer._replace(context="", note="size"), guidance=())
    try:
        data = adapter.write(ev, outcome.answer)
    except Odd as fault:
        odd = fault.cause
    except Exception as fault:  # the door's word is given, and has to be taken back
        _log(event, fault)
        odd = "exception"
    if data and deps.clock.monotonic() > ev.deadline_at:
        data, odd = NOTHING, "deadline"
    if not data:
        _withdraw(hook, outcome)
    return Handled(data, _after(hook, outcome, odd, bool(data)), odd)


def _after(hook: Hook, outcome: Outcome, odd: str, answered: bool) -> Callable[[bool], None]:
    """What is to be done when the answer has left, or was not taken."""

    def after(written: bool) -> None:
        try:
            taken = answered and written
            if answered and not written:
                _withdraw(hook, outcome)
            for claim in outcome.claims:
                hook.state.settle(claim, taken)
            for rec in outcome.records:
                hook.deps.ledger.append(_completed(rec, hook.ev, () if taken else outcome.shown))
            if taken:
                for gate, result_id in outcome.guidance:
                    gate.delivered(result_id)
                for one in outcome.sent:
                    hook.state.sent(one)
            elif outcome.shown or answered:
                cause = "not_taken" if answered else odd or outcome.answer.note or "unchanged"
                _append(hook.deps, "admit.not_delivered", {"cause": cause}, hook.ev.session)
            if odd:
                _append_odd(hook.deps, hook.ev.event, odd)
            later = moments.LATER.get(hook.ev.moment)
            if later is not None:
                later(hook)
        except Exception as fault:
            _log(hook.ev.event, fault)
            _append_odd(hook.deps, hook.ev.event, "exception")

    return after


def _withdraw(hook: Hook, outcome: Outcome) -> None:
    """What did not reach the host was not shown: the same output again is no repeat."""
    context = context_of(hook.ev) or ""  # without one nothing was marked
    for output_id in outcome.marks:
        hook.settings.gate.withdraw(context, output_id)
    _withdraw_guidance(outcome)


def _withdraw_guidance(outcome: Outcome) -> None:
    for gate, result_id in outcome.guidance:
        gate.withdrawn(result_id)


def _completed(rec: Record, ev: HostEvent, not_shown: tuple[str, ...]) -> Record:
    """A door's record with what the host alone knows: where it happened, and whether it was delivered."""
    session = ev.session or None
    row = rec.decision
    if row is not None:
        row = row._replace(
            host=ev.host,
            host_event=ev.event,
            session=session,
            agent=ev.agent or None,
            project=ev.cwd or None,
            delivered="no" if row.decision_id in not_shown else row.delivered,
        )
    return rec._replace(
        decision=row,
        events=tuple(event._replace(session=session) for event in rec.events),
        outputs=tuple(output._replace(session=session) for output in rec.outputs),
    )


def _append(deps: Deps, type: str, body: Mapping[str, object], session: str = "") -> None:
    event = Event(new_id(), type, now_ms(), body, session=session or None)
    deps.ledger.append(Record(events=(event,)))


def _append_odd(deps: Deps, event: str, cause: str) -> None:
    _append(deps, "host.hook_odd", {"event": event, "cause": cause})


def _log(event: str, fault: BaseException) -> None:
    """What went wrong, for the log that stderr is in the daemon."""
    with suppress(Exception):
        text = "".join(traceback.format_exception(fault))
        python = sys.version.split()[0]
        print(f"admit {__version__}, python {python}: {event}\n{text}", file=sys.stderr, flush=True)


def _nothing(written: bool) -> None:
    """There is nothing to be done."""
