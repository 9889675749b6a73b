"""What is done at each moment of a session: first what the answer needs, then what can wait.

The doors of guidance and tools have no answer here yet; their moments keep the state that they and the
outputs door need: what was asked for, who works on what, and what is no longer in view.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from admit.core.events import Event
from admit.ledger.port import Record
from admit.ledger.record import new_id, now_ms
from admit.outputs.model import Task
from admit.outputs.once import filter_output
from admit.text.cut import tail
from admit.transcripts.model import TaskText, input_texts

from . import outputs, routes, tickets
from .deps import Deps
from .model import Capability, HookAnswer, HostAdapter, HostEvent, Moment, ToolCall
from .outputs import Door, Outcome
from .projects import Settings
from .recalls import MARK, is_recall, path_recall
from .state import SessionState

WORDS_CHARS = 500
FLUSH_MS = 500
# How a session starts with a context of its own; after a resume or a fork the old one is in view.
FRESH_STARTS = ("startup", "clear", "compact")

Served = tuple[Outcome, str]
"""What a door says, and what was odd: a word of `HOOK_ODD_CAUSES`, or nothing."""


class Hook(NamedTuple):
    """One event with everything it needs."""

    ev: HostEvent
    adapter: HostAdapter
    settings: Settings
    state: SessionState
    deps: Deps


def _prompt(hook: Hook) -> Served:
    if not hook.ev.machine and hook.ev.prompt.strip():
        hook.state.prompt(hook.ev.prompt)
    return Outcome(), ""


def _before_tool(hook: Hook) -> Served:
    call = hook.ev.tool
    if call is None:
        return Outcome(), ""
    if call.starts is not None:
        hook.state.agent_called(*call.starts, call.use_id)
    wrapping = hook.settings.values["hosts.wrap"] == "list" and "command" in call.input
    if not wrapping or hook.settings.gate.config.mode == "off":
        return Outcome(), ""
    task = _task(hook)
    # A host that holds its deny rules against the new text alone would run what its user forbade: the wrap
    # waits for a self-test that saw this version keep them.
    if _capability(hook).rewrite_input != "yes":
        return Outcome(), ""

    def ticket() -> str:
        ev, words = hook.ev, outputs.call_words(call, ())
        return tickets.issue(tickets.Ticket(ev.host, ev.session, ev.agent, task.text, words))

    try:
        commands = hook.settings.values["hosts.wrap_commands"]
        rewritten = hook.adapter.wrap(call, commands, hook.deps.admit, ticket)
    except OSError:
        rewritten = None  # without a ticket the command runs as it is
    return Outcome(HookAnswer(rewrite_input=rewritten)), ""


def _after_tool(hook: Hook) -> Served:
    call, settings = hook.ev.tool, hook.settings
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
    able = _capability(hook).replace_ok
    if able in ("no", "refusal_channel") or (able == "mcp_only" and output.shape != "mcp_blocks"):
        return Outcome(), ""
    return outputs.look(door, output), ""


def _after_failure(hook: Hook) -> Served:
    call, settings = hook.ev.tool, hook.settings
    if call is None or call.output is None or not outputs.is_looked_at(call.name, settings, hook.ev.host):
        return Outcome(), ""
    if _capability(hook).inject == "no":
        return Outcome(), ""
    return outputs.keep_failure(_door(hook, call, task=False), call.output), ""


def _session_start(hook: Hook) -> Served:
    return _forget(hook) if hook.ev.cause in FRESH_STARTS else (Outcome(), "")


def _forget(hook: Hook) -> Served:
    """A context was replaced: what it was shown is out of view."""
    hook.state.forget(hook.ev.agent)
    context = outputs.context_of(hook.ev)
    entries = hook.deps.projects.forget(context) if context is not None else 0
    if not entries:
        return Outcome(), ""
    body = {"cause": "compaction", "entries": entries}
    event = Event(new_id(), "outputs.forgot", now_ms(), body, None, hook.ev.session, "outputs")
    return Outcome(records=(Record(events=(event,)),)), ""


def _agent_start(hook: Hook) -> Served:
    hook.state.agent_started(hook.ev.agent, hook.ev.agent_type)
    return Outcome(), ""


SERVE: Mapping[Moment, Callable[[Hook], Served]] = MappingProxyType(
    {
        "session_start": _session_start,
        "prompt": _prompt,
        "before_tool": _before_tool,
        "after_tool": _after_tool,
        "after_failure": _after_failure,
        "agent_start": _agent_start,
        "before_compaction": _forget,
        "after_compaction": _forget,
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
        event = Event(new_id(), "admit.delivered", now_ms(), body, one.decision_id, session, "outputs")
        hook.deps.ledger.append(Record(events=(event,)))
    hook.state.proven(waiting)


def _warm(hook: Hook) -> None:
    """Load now what the first large output would wait for."""
    filter_output("one line of many that say the same\n" * 400, "warm up")


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
    text = _task(hook).text if task else ""
    words = outputs.call_words(call, input_texts(call.input))
    plan = _last_sentence(hook.state.agent_words) if hook.settings.values["hosts.use_agent_words"] else ""
    whole = Task(text, hook.state.earlier(), plan, words)
    path = hook.adapter.transcript_of(hook.ev)
    return Door(hook.ev, call, hook.settings, hook.state, hook.deps, whole, path, _size_of(path))


def _task(hook: Hook) -> TaskText:
    """What the agent is doing; the transcript says what the hooks have missed."""
    ev, state = hook.ev, hook.state
    if ev.agent:
        task = state.task(ev.agent)
        prompt = hook.adapter.agent_prompt(ev) if task.source == "none" else ""
        return state.agent_is_doing(ev.agent, prompt) if prompt else task
    if ev.transcript:
        lately = hook.adapter.recent(ev.transcript, state.read_to(ev.transcript))
        state.catch_up(lately.prompts, ev.transcript, lately.offset)
        state.version = lately.version or state.version
        state.agent_words = tail(lately.words, WORDS_CHARS) or state.agent_words
    return state.task()


def _capability(hook: Hook) -> Capability:
    version = hook.state.version
    return routes.proven(hook.adapter.capabilities(version), hook.ev.host, version)


def _size_of(path: str) -> int:
    """Length of a file in bytes; 0 where there is none."""
    try:
        return os.stat(path).st_size if path else 0
    except OSError:
        return 0


def _last_sentence(text: str) -> str:
    """The last sentence, at most 500 characters."""
    parts = [part.strip() for part in _sentence_ends().split(text) if part.strip()]
    return parts[-1] if parts else ""


@lru_cache(maxsize=1)
def _sentence_ends() -> re.Pattern[str]:
    return re.compile(r"(?<=[.!?。！？])\s+|\n+")
