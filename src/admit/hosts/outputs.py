"""The outputs door at a hook: what of a tool's output is put in its place."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import NamedTuple

from admit.errors import StoreFailed
from admit.ledger.port import OutputMeta
from admit.outputs.model import OutputConfig, OutputResult, RawOutput, Task
from admit.outputs.nonce import header_id, header_line, nonce
from admit.outputs.own import is_own
from admit.outputs.render import HEADER_CHARS
from admit.text.cut import utf16_length
from admit.transcripts.claude_results import find

from .deps import Deps
from .model import HookAnswer, HostEvent, Sent, ToolCall, ToolOutput
from .outcome import Outcome
from .projects import Settings
from .state import SessionState

KINDS = {"bash": "command", "text": "other", "read": "file_read", "mcp_blocks": "mcp"}
LEAST_SHARE_CHARS = 500


class Door(NamedTuple):
    """One event at the door: what is known of it."""

    ev: HostEvent
    call: ToolCall
    settings: Settings
    state: SessionState
    deps: Deps
    task: Task
    transcript: str
    transcript_bytes: int


def is_looked_at(tool: str, settings: Settings, host: str) -> bool:
    """Whether the outputs of this tool come to the door at all."""
    values = settings.values
    if "outputs" not in values[f"hosts.{host}.doors"] or settings.gate.config.mode == "off":
        return False
    return any(fnmatchcase(tool, pattern) for pattern in values[f"hosts.{host}.tools"])


def large(output: ToolOutput, config: OutputConfig) -> bool:
    """Whether any text of an output reaches the floor."""
    return any(len(text) >= config.floor_chars for _, text in output.texts)


def context_of(ev: HostEvent) -> str | None:
    """Whose memory of shown outputs applies: the session's, or the subagent's own."""
    if not ev.session:
        return None
    return f"{ev.session}/{ev.agent}" if ev.agent else ev.session


def look(door: Door, output: ToolOutput) -> Outcome:
    """Decide what stands in the output's place, within the host's cap; nothing where nothing is gained."""
    with door.deps.held.holding() as records:
        results = _admitted(door, output)
    replaced = [(pointer, result) for pointer, result in results if result.changed]
    replace = tuple((pointer, result.text) for pointer, result in replaced)
    shown = tuple(result.decision_id for _, result in replaced if result.decision_id)
    # A repeat has no mark of its own: what it points to is in view.
    marks = tuple(result.id for _, result in replaced if result.id and result.how != "duplicate")
    most = door.settings.values["hosts.replace_max_chars"]
    if sum(utf16_length(text) for _, text in replace) > most:
        return Outcome(HookAnswer(note="size"), tuple(records), shown=shown, marks=marks)
    sent = (_sent(door, result.text, result.decision_id or None, "replace") for _, result in replaced)
    waiting = tuple(filter(None, sent))
    return Outcome(HookAnswer(replace=replace), tuple(records), sent=waiting, shown=shown, marks=marks)


def keep_failure(door: Door, output: ToolOutput) -> Outcome:
    """Store what a failed call left, and name the stored copy where it is long enough to be cut away later.

    The host replaces nothing here, and what it left out of the middle is nowhere.
    """
    _, error = output.texts[0]
    config = door.settings.gate.config
    # A command run by `admit run` has been here; the host puts its exit code in front.
    bodies = (error, error.partition("\n")[2])
    if len(error) < config.floor_chars or any(
        is_own(body.encode("utf-8", "surrogatepass"), door.deps.key, door.deps.store) for body in bodies
    ):
        return Outcome()
    data = error.encode("utf-8", "surrogatepass")
    meta = OutputMeta(door.call.name, door.ev.session or None, output.exit_code)
    with door.deps.held.holding() as records:
        try:
            ref = door.deps.store.put(data, meta)
        except StoreFailed:
            return Outcome()
    stored = tuple(records)
    claim = door.state.claim(f"stored:{ref.id}", door.ev.agent) if len(error) >= config.gate_chars else None
    if claim is None or not door.deps.recall_way:
        return Outcome(records=stored, claims=(claim,) if claim is not None else ())
    cut = find(door.call.name, error, None, "", failed=True).cut_by_host
    what = "all but the middle, which the host left out" if cut else "word for word"
    digits = nonce(door.deps.key, hashlib.sha256(data).digest(), error)
    way = door.deps.recall_way.format(id=ref.id)
    line = header_line(digits, f"{len(error):,} chars of this failed call can be read again, {what}: {way}")
    sent = _sent(door, line, None, "context")
    return Outcome(HookAnswer(context=line), stored, (claim,), (sent,) if sent is not None else ())


def _admitted(door: Door, output: ToolOutput) -> list[tuple[str, OutputResult]]:
    gate, config = door.settings.gate, door.settings.gate.config
    session = context_of(door.ev)
    texts = [(pointer, text) for pointer, text in output.texts if text]
    raws = {pointer: _raw(door, output, pointer, text) for pointer, text in texts}
    if output.shape == "bash" and len(texts) == 2:
        stdout, stderr = raws["/stdout"], raws["/stderr"]
        both = gate.admit_streams(stdout, stderr, door.task, session=session)
        return list(zip(raws, both, strict=True))
    over = sum(len(text) >= config.gate_chars for _, text in texts)
    room = door.settings.values["hosts.replace_max_chars"] // max(1, over) - HEADER_CHARS
    if room < LEAST_SHARE_CHARS:
        return []
    return [
        (pointer, gate.admit(raws[pointer], door.task, session=session, budget=_budget(text, room, config)))
        for pointer, text in texts
        if len(text) >= config.floor_chars
    ]


def _raw(door: Door, output: ToolOutput, pointer: str, text: str) -> RawOutput:
    # Bytes of a file that are no UTF-8 came as surrogates and become the same bytes again.
    data = text.encode("utf-8", "surrogateescape")
    shown, chars = output.size_host, sum(len(one) for _, one in output.texts)
    command = door.call.input.get("command")
    return RawOutput(
        data,
        output.exit_code,
        door.call.name,
        command if isinstance(command, str) else None,
        KINDS[output.shape],  # type: ignore[arg-type]
        "stderr" if pointer == "/stderr" else "merged",
        len(text) if shown == chars else shown,
    )


def _budget(text: str, room: int, config: OutputConfig) -> int | None:
    """Characters to keep so that the result stays within `room` UTF-16 units, whichever lines are chosen.

    None where the configured number stays within it anyway.
    """
    double = 0 if text.isascii() else utf16_length(text) - len(text)  # characters of two units
    most = max(room // 2, room - double)
    configured = (config.max_kept_chars, config.filter.max_kept_chars)
    return None if most >= max(configured) else min(most, *configured)


def _sent(door: Door, text: str, decision_id: str | None, channel: str) -> Sent | None:
    """The answer as it waits for proof; its first line holds the nonce."""
    named = header_id(text)
    if named is None or not door.transcript:
        return None
    return Sent(
        named[0],
        decision_id,
        door.call.use_id,
        len(text),
        channel,
        door.transcript,
        door.transcript_bytes,
    )


def call_words(call: ToolCall, texts: Iterable[str]) -> str:
    """Tool, description and command of a call, or its other arguments, at most 500 characters."""
    given = call.input
    said = [given[name] for name in ("description", "command") if isinstance(given.get(name), str)]
    return " ".join([call.name, *(said or texts)])[:500]
