"""The guidance door at a hook: what of the stored guidance goes into the agent's context."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from admit.errors import LedgerError
from admit.guidance.before import take_up
from admit.guidance.model import GuidanceResult, Lane, Surface
from admit.ledger.port import Record
from admit.text.cut import utf16_length

from .deadlines import APART_MS
from .guides import Guide
from .hook import Hook
from .model import HookAnswer, Sent, Start, ToolCall
from .outcome import Outcome, Shown

# The start of a session is kept among the texts that were shown, as a context of its own.
START, STARTED = "the start", "guidance"


def at_session_start(hook: Hook, *, fresh: bool) -> Outcome:
    """What the state of a session calls for; in a fresh one nothing that was shown is in view any more."""
    guide = _guide(hook, fresh=fresh)
    if guide is None:
        return Outcome()
    surface = _start(hook, guide, hook.ev.cause)
    if fresh and not _repeated(guide, surface):
        guide.gate.reset(hook.ev.session, hook.ev.agent)
        hook.state.forget(START)
    return _started(hook, _said(hook, guide, (surface,)))


def forget(hook: Hook) -> None:
    """The context of an agent is about to be replaced."""
    guide = _guide(hook, fresh=True)
    if guide is not None:
        guide.gate.reset(hook.ev.session, hook.ev.agent)


def at_prompt(hook: Hook, text: str) -> Outcome:
    """What a person's request calls for; the judge reads what the agent is to do, and is asked in time.

    Before it comes what the start of the session called for, where none of it has reached the agent: there
    was no daemon yet, or the host waited no longer.
    """
    guide = _guide(hook)
    if guide is None:
        return Outcome()
    task = hook.task().text
    # The same words typed again are another prompt: by then the transcript has grown.
    key = hook.ev.prompt_id or f"{_digest(text)}:{hook.transcript_bytes()}"
    reply = hook.state.agent_words
    surface = _surface(hook, guide, "prompt", key, text=text, judge_task=task, reply=reply)
    if hook.state.is_shown(STARTED, START) or not _has_start(guide):
        return _said(hook, guide, (surface,), ask=bool(task))
    return _started(hook, _said(hook, guide, (_start(hook, guide, "startup"), surface), ask=bool(task)))


def before_tool(hook: Hook, call: ToolCall) -> Outcome:
    """What a command or a file calls for, and what was typed meanwhile. No judge is asked before a tool."""
    guide = _guide(hook)
    if guide is None:
        return Outcome()
    surfaces: list[Surface] = []
    if not hook.ev.agent:
        hook.catch_up()
        surfaces += [
            _surface(hook, guide, "queued", _digest(text), text=text) for text in hook.state.queued()
        ]
    command, words = call.input.get("command"), call.input.get("description")
    if call.writes:
        surfaces.append(_surface(hook, guide, "file", call.use_id, paths=call.writes))
    elif isinstance(command, str):
        said = words if isinstance(words, str) else ""
        surfaces.append(_surface(hook, guide, "command", call.use_id, text=command, description=said))
    return _said(hook, guide, surfaces)


def at_agent_start(hook: Hook, start: Start) -> Outcome:
    """What the prompt of a subagent calls for, shown to that subagent."""
    guide = _guide(hook)
    if guide is None:
        return Outcome()
    return _said(hook, guide, (_surface(hook, guide, "task", "start", text=start.prompt),))


def _guide(hook: Hook, *, fresh: bool = False) -> Guide | None:
    """The gate in force; None where the door is off or there is no guidance at all."""
    ev, state = hook.ev, hook.state
    if "guidance" not in hook.settings.values[f"hosts.{ev.host}.doors"]:
        return None
    guide = hook.deps.guides.at(ev.host, ev.cwd, hook.settings.config)
    index = guide.gate.library.guidance
    if not index.snippets and not index.disabled:
        return None
    known_before, state.known_before = state.known_before, True
    if ev.session and not known_before and not fresh:
        with suppress(LedgerError):  # without the record something may be shown a second time
            take_up(guide.gate.memory, hook.deps.ledger, ev.session)
    return guide


def _surface(hook: Hook, guide: Guide, lane: Lane, key: str, **fields: Any) -> Surface:
    """The surface of an event; `key` names it among those of its kind in a session, empty is unknown."""
    ev = hook.ev
    tokens, estimated = hook.position()
    return Surface(
        lane,
        session=ev.session or None,
        agent=ev.agent or None,
        agent_kind=hook.state.scope(ev.agent) if ev.agent else "agent",
        cwd=ev.cwd,
        project=guide.project if ev.cwd else "",
        tokens_used=tokens,
        window=None if ev.agent else hook.state.window,
        hook_event=ev.event,
        delivery_key="\0".join((ev.session, ev.agent, ev.event, lane, key)) if ev.session and key else None,
        estimated=estimated,
        delivers=hook.capability().inject != "no",
        **fields,
    )


def _start(hook: Hook, guide: Guide, cause: str) -> Surface:
    """The state of a session at its start."""
    return _surface(hook, guide, "state", f"{cause}:{hook.transcript_bytes()}", state=cause)


def _has_start(guide: Guide) -> bool:
    snippets = guide.gate.library.guidance.snippets
    return any(trigger.text == "session-start" for one in snippets for trigger in one.triggers)


def _started(hook: Hook, outcome: Outcome) -> Outcome:
    """The start of the session is dealt with, once the host has what it called for."""
    claim = hook.state.claim(STARTED, START)
    if claim is None:
        return outcome
    if outcome.answer.context:
        return outcome._replace(claims=(claim,))
    hook.state.settle(claim, True)
    return outcome


def _said(hook: Hook, guide: Guide, surfaces: Iterable[Surface], *, ask: bool = False) -> Outcome:
    """What surfaces call for, in their order, each whole; past the cap of the host one is not shown."""
    gate, ev = guide.gate, hook.ev
    left_ms = int((ev.deadline_at - hook.deps.clock.monotonic()) * 1000) - APART_MS
    room = hook.settings.values["hosts.inject_max_chars"]
    shown: list[GuidanceResult] = []
    lost: set[str] = set()
    with hook.deps.held.holding() as records:
        for surface in surfaces:
            result = gate.scan(surface, ask=ask and surface.delivers, judge_ms=max(1, left_ms))
            units = utf16_length(result.text) + len("\n")
            if result.text and units <= room:
                shown.append(result)
                room -= units
            elif result.text:
                gate.withdrawn(result.result_id)
                lost.add(result.decision_id)
    path, size = hook.adapter.transcript_of(ev), hook.transcript_bytes()
    use_id = ev.tool.use_id if ev.tool is not None else ""
    return Outcome(
        HookAnswer("\n".join(result.text for result in shown)),
        tuple(_undelivered(rec, lost) for rec in records),
        sent=tuple(_sent(result, use_id, path, size) for result in shown if path),
        shown=tuple(result.decision_id for result in shown),
        guidance=tuple(Shown(gate, result.result_id) for result in shown),
    )


def _sent(result: GuidanceResult, use_id: str, path: str, size: int) -> Sent:
    """The answer as it waits for proof: the heading of its first text names it, as far as it is plain."""
    named = result.text.partition("·")[0]
    chars = len(result.text)
    return Sent(named, result.decision_id, use_id, chars, "context", path, size, "guidance")


def _undelivered(rec: Record, lost: set[str]) -> Record:
    row = rec.decision
    return (
        rec
        if row is None or row.decision_id not in lost
        else rec._replace(decision=row._replace(delivered="no"))
    )


def _repeated(guide: Guide, surface: Surface) -> bool:
    key = surface.delivery_key
    return key is not None and guide.gate.memory.answer(key) is not None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
