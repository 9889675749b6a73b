"""Claude Code's hook events: a tolerant reader and a strict writer.

The reader ignores fields it does not know. The writer knows, for each event, the fields that the host
documents, and writes no other: what the host does not expect it drops without a word.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from admit.core.events import NO_FIELDS
from admit.hosts.model import (
    MOST_PAYLOAD_BYTES,
    MOST_REPLY_BYTES,
    NOTHING,
    Capability,
    HookAnswer,
    HostEvent,
    Moment,
    Odd,
    Recent,
    Scope,
    Sent,
    Start,
    ToolCall,
    ToolOutput,
)
from admit.text.machine import is_machine
from admit.transcripts.claude_results import STORED_FOLDER, exit_code
from admit.transcripts.files import MOST_BYTES, open_own

from . import delivery, shapes, transcript
from .wrap import wrapped

NAME = "claude-code"
MOST_ID_CHARS = 256
MOST_PATH_CHARS = 4_096

EVENTS: Mapping[str, Moment] = MappingProxyType(
    {
        "SessionStart": "session_start",
        "UserPromptSubmit": "prompt",
        "PreToolUse": "before_tool",
        "PostToolUse": "after_tool",
        "PostToolUseFailure": "after_failure",
        "PostToolBatch": "other",
        "SubagentStart": "agent_start",
        "Stop": "stop",
        "SubagentStop": "stop",
        "PreCompact": "before_compaction",
        "PostCompact": "after_compaction",
        "SessionEnd": "session_end",
    }
)
# What an event's answer may hold. `permissionDecision` stands nowhere: Admit approves nothing for the user.
CONTEXT, INPUT, OUTPUT = "additionalContext", "updatedInput", "updatedToolOutput"
ANSWERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "SessionStart": (CONTEXT,),
        "UserPromptSubmit": (CONTEXT,),
        "PreToolUse": (CONTEXT, INPUT),
        "PostToolUse": (OUTPUT,),
        "PostToolUseFailure": (CONTEXT,),
        "PostToolBatch": (CONTEXT,),
        "SubagentStart": (CONTEXT,),
    }
)
# Who a prompt may come from without being a machine's; older versions do not say.
PEOPLE = ("", "user", "sdk")
STARTERS = ("Agent", "Task")
# Tools that write the file one of their arguments names.
WRITERS: Mapping[str, str] = MappingProxyType(
    {"Edit": "file_path", "Write": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}
)
# A model's name ends so where its window is the long one.
LONG_MARK, LONG_WINDOW = "[1m]", 1_000_000
DEFAULT_AGENT = "general-purpose"
_SEEN = Capability("yes", "no", "yes", "unproven", "no")


class ClaudeCode:
    """The adapter."""

    name = NAME

    def moment(self, event: str) -> Moment | None:
        """What an event is to the doors; None for a name that the host does not have."""
        return EVENTS.get(event)

    def read(self, raw: bytes, event: str) -> HostEvent:
        """The event of a payload.

        Raises:
            Odd: ``too_large``, ``unknown_event``, ``bad_json``, or ``encode`` for lone surrogates.
        """
        if len(raw) > MOST_PAYLOAD_BYTES:
            raise Odd("too_large")
        moment = self.moment(event)
        if moment is None:
            raise Odd("unknown_event")
        given = _payload(raw)
        if given.get("hook_event_name", event) != event:
            raise Odd("unknown_event")
        prompt = _text(given, "prompt")
        return HostEvent(
            NAME,
            event,
            moment,
            _word(given, "session_id"),
            raw,
            agent=_word(given, "agent_id"),
            agent_type=_word(given, "agent_type"),
            cwd=_path(given, "cwd"),
            prompt=prompt,
            prompt_id=_word(given, "prompt_id"),
            machine=_text(given, "source") not in PEOPLE or is_machine(prompt),
            cause=_word(given, "source") or _word(given, "trigger") or _word(given, "reason"),
            tool=_tool(given, moment),
            transcript=_path(given, "transcript_path"),
            context_tokens=_count(given, "context_tokens"),
            window=LONG_WINDOW if LONG_MARK in _word(given, "model").lower() else None,
        )

    def write(self, ev: HostEvent, answer: HookAnswer) -> bytes:
        """The answer of that event as one line; empty where nothing would change.

        Raises:
            Odd: ``too_large`` beyond 64 KiB, ``encode`` for what JSON cannot hold.
        """
        said: dict[str, Any] = {}
        for field in ANSWERS.get(ev.event, ()):
            if field == CONTEXT and answer.context:
                said[field] = answer.context
            elif field == INPUT and answer.rewrite_input is not None:
                said[field] = dict(answer.rewrite_input)
            elif field == OUTPUT and answer.replace:
                output = ev.tool.output if ev.tool is not None else None
                value = shapes.rebuild(output, answer.replace) if output is not None else None
                # The last of several rewrites wins, so one that changes nothing could undo another tool's.
                if output is not None and value != output.original:
                    said[field] = value
        if not said:
            return NOTHING
        data = _line({"hookSpecificOutput": {"hookEventName": ev.event, **said}})
        if len(data) > MOST_REPLY_BYTES:
            raise Odd("too_large")
        return data

    def capabilities(self, version: str | None) -> Capability:
        """What was seen in 2.1.332; of any other version it is taken to be the same until it is proven."""
        return _SEEN

    def wrap(
        self, call: ToolCall, commands: Sequence[str], admit: str, ticket: Callable[[], str]
    ) -> dict[str, Any] | None:
        """The input of a Bash call with its command run by `admit run`; None leaves it alone."""
        if call.name != "Bash":
            return None
        return wrapped(call.input, commands, admit=admit, ticket=ticket, find=shutil.which)

    def recent(self, path: str, start: int | None) -> Recent:
        """What was said since `start` bytes."""
        return transcript.recent(path, start)

    def transcript_of(self, ev: HostEvent) -> str:
        """The session's file, or the subagent's own."""
        return transcript.agent_transcript(ev.transcript, ev.agent) if ev.agent else ev.transcript

    def agent_prompt(self, ev: HostEvent) -> str:
        """The first message of the subagent's file."""
        return transcript.agent_prompt(self.transcript_of(ev))

    def delivered(self, waiting: Sequence[Sent]) -> Iterator[tuple[Sent, str]]:
        """Which answers the transcript proves, each with the id of the record that does."""
        for one, proof in delivery.delivered(waiting):
            yield one, proof.uuid


ADAPTER = ClaudeCode()


def _payload(raw: bytes) -> dict[str, Any]:
    try:
        given = json.loads(raw.decode("utf-8"), parse_constant=_refused)
    except (ValueError, RecursionError):
        raise Odd("bad_json") from None
    if not isinstance(given, dict):
        raise Odd("bad_json")
    if b"\\ud" in raw or b"\\uD" in raw:
        _line(given)  # half of a surrogate pair stands for no text, and could not be given back
    return given


def _refused(word: str) -> float:
    raise ValueError(f"{word} is not JSON")


def _line(value: object) -> bytes:
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode() + b"\n"
    except (ValueError, RecursionError):
        raise Odd("encode") from None


def _tool(given: Mapping[str, Any], moment: Moment) -> ToolCall | None:
    if moment not in ("before_tool", "after_tool", "after_failure"):
        return None
    name = _word(given, "tool_name")
    arguments = given.get("tool_input")
    arguments = arguments if isinstance(arguments, dict) else NO_FIELDS
    call = ToolCall(
        name, _word(given, "tool_use_id"), arguments, server=_word(given, "mcp_server") or _server(name)
    )
    prompt, kind = arguments.get("prompt"), arguments.get("subagent_type", DEFAULT_AGENT)
    if name in STARTERS and isinstance(prompt, str) and isinstance(kind, str):
        scope: Scope = "teammate" if _text(arguments, "team_name") else "subagent"
        background = arguments.get("run_in_background") is True
        call = call._replace(starts=Start(kind[:MOST_ID_CHARS], prompt, scope, background))
    if name in WRITERS and (path := _path(arguments, WRITERS[name])):
        call = call._replace(writes=(path,))
    if moment == "after_failure":
        error = _text(given, "error")
        code = exit_code(name, error, True)
        return call._replace(
            failed=True, output=ToolOutput("text", (("/error", error),), error, exit_code=code)
        )
    if moment == "after_tool":
        whole_file = partial(_whole_file, _results_folder(given))
        output = shapes.read_output(name, arguments, given.get("tool_response"), whole_file)
        return call._replace(output=output)
    return call


def _server(tool: str) -> str:
    """The server in ``mcp__server__tool``."""
    parts = tool.split("__")
    return parts[1] if len(parts) > 2 and parts[0] == "mcp" else ""


def _results_folder(given: Mapping[str, Any]) -> str:
    """Where the host keeps whole outputs of this session; empty where that is not known."""
    transcript, session = _path(given, "transcript_path"), _word(given, "session_id")
    if not transcript or session in ("", ".", "..") or "/" in session:
        return ""
    own = os.path.join(os.path.dirname(transcript), session)
    folder = os.path.join(own, STORED_FOLDER)
    return "" if os.path.islink(own) or os.path.islink(folder) else folder


def _whole_file(folder: str, path: str) -> str | None:
    """A file in which the host keeps a whole output; None where it cannot be had whole.

    Any other place than the session's own folder is not looked at: the payload may name what it likes.
    Bytes that are no UTF-8 become surrogates, which give the same bytes again when they are stored.
    """
    if not folder or os.path.dirname(path) != folder or len(path) > MOST_PATH_CHARS or "\0" in path:
        return None
    try:
        with open_own(path) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError:
        return None
    return data.decode("utf-8", "surrogateescape") if len(data) <= MOST_BYTES else None


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""


def _word(given: Mapping[str, Any], name: str) -> str:
    value = _text(given, name)
    return value if len(value) <= MOST_ID_CHARS else ""


def _count(given: Mapping[str, Any], name: str) -> int | None:
    value = given.get(name)
    return value if type(value) is int and value > 0 else None


def _path(given: Mapping[str, Any], name: str) -> str:
    value = _text(given, name)
    return value if value.startswith("/") and len(value) <= MOST_PATH_CHARS and "\0" not in value else ""
