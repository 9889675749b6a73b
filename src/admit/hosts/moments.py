"""What is done at each moment of a session: first what the answer needs, then what can wait.

Beside what the doors say, the moments keep the state that they need: what was asked for, who works on what,
and what is no longer in view.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from admit.core.events import Event
from admit.guidance.before import FRESH_STARTS
from admit.judges.bounded import BoundedJudge
from admit.judges.door import DoorJudge, door_judge
from admit.ledger.port import Record
from admit.ledger.record import new_id, now_ms
from admit.outputs.model import Task
from admit.outputs.once import filter_output
from admit.text.cut import tail
from admit.text.machine import without_machine
from admit.transcripts.model import input_texts

from . import guidance, outputs, tickets
from .hook import Hook, size_of
from .model import Moment, ToolCall
from .outcome import Outcome
from .outputs import Door
from .recalls import MARK, is_recall, path_recall

MOST_SENTENCE = 500
FLUSH_MS = 500

Served = tuple[Outcome, str]
"""What a door says, and what was odd: a word of `HOOK_ODD_CAUSES`, or nothing."""


def _prompt(hook: Hook) -> Served:
    ev = hook.ev
    more = hook.settings.values["guidance.envelopes"]
    text = "" if ev.machine else without_machine(ev.prompt, more).strip()
    if not text:
        return Outcome(), ""
    if hook.state.read_to(ev.transcript) is not None:
        hook.catch_up()  # what was typed before this comes before it
    hook.state.prompt(text)
    return guidance.at_prompt(hook, text), ""


def _before_tool(hook: Hook) -> Served:
    call = hook.ev.tool
    if call is None:
        return Outcome(), ""
    if call.starts is not None:
        hook.state.agent_called(call.starts, call.use_id, hook.deps.clock.monotonic())
    outcome = guidance.before_tool(hook, call)
    rewritten = _wrapped(hook, call)
    return outcome._replace(answer=outcome.answer._replace(rewrite_input=rewritten)), ""


def _wrapped(hook: Hook, call: ToolCall) -> Mapping[str, Any] | None:
    """The input of a call whose command is to be run by `admit run`."""
    wrapping = hook.settings.values["hosts.wrap"] == "list" and "command" in call.input
    if not wrapping or hook.settings.gate.config.mode == "off":
        return None
    task = hook.task()
    # A host that holds its deny rules against the new text alone would run what its user forbade: the wrap
    # waits for a self-test that saw this version keep them.
    if hook.capability().rewrite_input != "yes":
        return None

    def ticket() -> str:
        ev, words = hook.ev, outputs.call_words(call, ())
        return tickets.issue(tickets.Ticket(ev.host, ev.session, ev.agent, task.text, words))

    try:
        commands = hook.settings.values["hosts.wrap_commands"]
        return hook.adapter.wrap(call, commands, hook.deps.admit, ticket)
    except OSError:
        return None  # without a ticket the command runs as it is


def _after_tool(hook: Hook) -> Served:
    call, settings = hook.ev.tool, hook.settings
    if call is not None and call.starts is not None and not call.starts.background:
        hook.state.agent_ended(call.use_id)
    if call is None or not outputs.is_looked_at(call.name, settings, hook.ev.host):
        return Outcome(), ""
    output = call.output
    if output is None:
        return Outcome(), ""
    if output.shape == "unknown":
        return Outcome(), "shape_unknown"
    if not outputs.large(output, settings.gate.config) or not hook.deps.recall_way or _goes_back(hook, call):
        return Outcome(), ""
    door = _door(hook, call)
    able = hook.capability().replace_ok
    if able in ("no", "refusal_channel") or (able == "mcp_only" and output.shape != "mcp_blocks"):
        return Outcome(), ""
    return outputs.look(door, output), ""


def _after_failure(hook: Hook) -> Served:
    call, settings = hook.ev.tool, hook.settings
    if call is not None and call.starts is not None:
        hook.state.agent_ended(call.use_id)
    if call is None or call.output is None or not outputs.is_looked_at(call.name, settings, hook.ev.host):
        return Outcome(), ""
    if hook.capability().inject == "no":
        return Outcome(), ""
    return outputs.keep_failure(_door(hook, call, task=False), call.output), ""


def _session_start(hook: Hook) -> Served:
    fresh = hook.ev.cause in FRESH_STARTS
    records = _out_of_view(hook) if fresh else ()
    if fresh:
        _begin_anew(hook)
    hook.state.window = hook.ev.window or hook.state.window
    hook.state.tokens = hook.ev.context_tokens or hook.state.tokens
    said = guidance.at_session_start(hook, fresh=fresh)
    return said._replace(records=(*records, *said.records)), ""


def _before_compaction(hook: Hook) -> Served:
    records = _out_of_view(hook)
    _begin_anew(hook)
    guidance.forget(hook)
    return Outcome(records=records), ""


def _after_compaction(hook: Hook) -> Served:
    """By now the session may have started again: what that showed stays."""
    return Outcome(records=_out_of_view(hook)), ""


def _begin_anew(hook: Hook) -> None:
    """The main agent's context has its tokens ahead of it."""
    if hook.ev.agent:
        return
    if hook.state.read_to(hook.ev.transcript) is not None:
        hook.catch_up()  # what is read later is of the new context
    hook.state.tokens, hook.state.context_start = None, hook.transcript_bytes()


def _out_of_view(hook: Hook) -> tuple[Record, ...]:
    """A context was replaced: what it was shown is out of view."""
    hook.state.forget(hook.ev.agent)
    context = outputs.context_of(hook.ev)
    entries = hook.deps.projects.forget(context) if context is not None else 0
    if not entries:
        return ()
    body = {"cause": "compaction", "entries": entries}
    event = Event(new_id(), "outputs.forgot", now_ms(), body, None, hook.ev.session, "outputs")
    return (Record(events=(event,)),)


def _agent_start(hook: Hook) -> Served:
    start = hook.state.agent_started(hook.ev.agent, hook.ev.agent_type, hook.deps.clock.monotonic())
    return (Outcome() if start is None else guidance.at_agent_start(hook, start)), ""


SERVE: Mapping[Moment, Callable[[Hook], Served]] = MappingProxyType(
    {
        "session_start": _session_start,
        "prompt": _prompt,
        "before_tool": _before_tool,
        "after_tool": _after_tool,
        "after_failure": _after_failure,
        "agent_start": _agent_start,
        "before_compaction": _before_compaction,
        "after_compaction": _after_compaction,
    }
)


def _count_recall(hook: Hook) -> None:
    """A call that read a stored file went back for it."""
    ev, call = hook.ev, hook.ev.tool
    if call is not None and MARK in ev.raw:
        recall = path_recall(call, hook.deps.outputs_folder, hook.deps.store, ev.session)
        if recall is not None:
            hook.deps.store.recalled(recall)


def _prove(hook: Hook) -> None:
    """Look in the transcripts for what was sent; what is not there by now stays unknown."""
    waiting = hook.state.unproven()
    if hook.ev.agent:
        own = hook.adapter.transcript_of(hook.ev)
        waiting = tuple(one for one in waiting if one.transcript == own)
    if not waiting:
        return
    session = hook.ev.session or None
    for one, record in hook.adapter.delivered(waiting):
        body = {"bytes": one.chars, "channel": one.channel, "proof": record}
        event = Event(new_id(), "admit.delivered", now_ms(), body, one.decision_id, session, one.door)
        hook.deps.ledger.append(Record(events=(event,)))
    hook.state.proven(waiting)


def _warm(hook: Hook) -> None:
    """Load and open now what the first large output and the first ask would wait for."""
    filter_output("one line of many that say the same\n" * 400, "warm up")
    for door in _asking(hook):
        found = door_judge(hook.settings.config, door, hook.deps.judges.load)
        if isinstance(found, DoorJudge) and isinstance(found.judge, BoundedJudge):
            found.judge.warm(door)


def _asking(hook: Hook) -> tuple[str, ...]:
    """The doors here whose judge may be asked."""
    guide = hook.deps.guides.at(hook.ev.host, hook.ev.cwd, hook.settings.config)
    asks = {
        "guidance": guide.gate.judge.mode(guide.gate.settings) != "off",
        "outputs": hook.settings.gate.config.filter.enabled,
    }
    doors = hook.settings.values[f"hosts.{hook.ev.host}.doors"]
    return tuple(door for door, does in asks.items() if does and door in doors)


def _end(hook: Hook) -> None:
    _prove(hook)
    hook.deps.sessions.drop(hook.ev.host, hook.ev.session)
    hook.deps.ledger.flush(FLUSH_MS)


LATER: Mapping[Moment, Callable[[Hook], None]] = MappingProxyType(
    {"session_start": _warm, "after_tool": _count_recall, "stop": _prove, "session_end": _end}
)


def _goes_back(hook: Hook, call: ToolCall) -> bool:
    """Whether the output is one that the agent asked to see again."""
    if is_recall(call):
        return True
    if MARK not in hook.ev.raw:
        return False
    found = path_recall(call, hook.deps.outputs_folder, hook.deps.store, hook.ev.session)
    return found is not None


def _door(hook: Hook, call: ToolCall, *, task: bool = True) -> Door:
    text = hook.task().text if task else ""
    words = outputs.call_words(call, input_texts(call.input))
    plan = _last_sentence(hook.state.agent_words) if hook.settings.values["hosts.use_agent_words"] else ""
    whole = Task(text, hook.state.earlier(), plan, words)
    path = hook.adapter.transcript_of(hook.ev)
    return Door(hook.ev, call, hook.settings, hook.state, hook.deps, whole, path, size_of(path))


def _last_sentence(text: str) -> str:
    """The last sentence, at most 500 characters."""
    parts = [part.strip() for part in _sentence_ends().split(text) if part.strip()]
    return tail(parts[-1], MOST_SENTENCE) if parts else ""


@lru_cache(maxsize=1)
def _sentence_ends() -> re.Pattern[str]:
    return re.compile(r"(?<=[.!?。！？])\s+|\n+")
