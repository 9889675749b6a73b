"""Codex's transcripts (rollouts): one JSON line a record, kept as a session.

``response_item`` records are what the model exchanged; ``event_msg`` records are copies for the screen and
are read only for what the first do not hold. Very old lines have no envelope around the item.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Mapping
from typing import Any

from admit.text.machine import is_machine

from . import codex_results, model
from .files import open_lines
from .find import Transcript
from .lines import JsonLines
from .model import Said, Session, ToolKind, ToolUse, UserTurn, time_ms, word
from .task import TaskTracker

KINDS: Mapping[str, ToolKind] = {
    "exec_command": "command",
    "write_stdin": "command",
    "shell_command": "command",
    "shell": "command",
    "local_shell": "command",
    "container.exec": "command",
    "apply_patch": "edit",
    "read_file": "file_read",
    "grep_files": "search",
    "spawn_agent": "agent",
}
CALLS = frozenset(("function_call", "custom_tool_call", "local_shell_call"))
RESULTS = frozenset(("function_call_output", "custom_tool_call_output"))
ITEMS = CALLS | RESULTS | {"message", "reasoning"}
KNOWN_ITEMS = frozenset(("compaction", "ghost_snapshot", "other", "web_search_call", "image_generation_call"))
STATE_TYPES = frozenset(("turn_context", "world_state", "token_usage_record"))
PERSON = "user.text"
HOST_OPENINGS = ("<", "# AGENTS.md instructions")


def read(transcript: Transcript, seen: set[str]) -> Session:
    """Read one session. A file that cannot be read is counted as ``unreadable``.

    Args:
        transcript: Its file.
        seen: Ids of every call in the sessions before; those of this one are added.
    """
    reader = _Reader(seen)
    try:
        with open_lines(transcript.path) as file:
            lines = JsonLines(file)
            try:
                for record in lines:
                    reader.record(record)
            finally:
                reader.odd.update(lines.counts)
    except OSError:
        reader.odd["unreadable"] += 1
    seen.update(reader.uses)
    return reader.session(transcript)


class _Reader:
    """The state while one file is read."""

    def __init__(self, seen: set[str]) -> None:
        self.uses: dict[str, ToolUse] = {}
        self.odd: Counter[str] = Counter()
        self._seen = seen
        self._order = 0
        self._early: dict[str, tuple[Any, int]] = {}  # outputs that came before their call
        self._outputs: dict[str, Any] = {}
        self._events: dict[str, dict[str, Any]] = {}
        self._turns: list[UserTurn] = []
        self._said: list[Said] = []
        self._compactions: list[tuple[int, str]] = []
        self._answer = 0
        self._answering = False
        self._tracker = TaskTracker()
        self._copies = False  # requests stand in events alone
        self._cwd = self._version = ""

    def record(self, record: dict[str, Any]) -> None:
        """Take in one line."""
        self._order += 1
        kind = word(record.get("type"))
        payload = record.get("payload")
        if not isinstance(payload, dict):
            if kind in ITEMS:
                self._item(record, record)
            elif kind or "payload" in record:
                self.odd[f"type:{kind}"] += 1
            return
        if kind == "response_item":
            self._item(payload, record)
        elif kind == "event_msg":
            self._event(payload, record)
        elif kind == "session_meta":
            self._cwd = self._cwd or model.text(payload.get("cwd"))
            self._version = self._version or word(payload.get("cli_version"))
        elif kind == "compacted":
            self._compactions.append((self._order, ""))
            self._said.append(Said(self._order, "", codex_results.text_of(payload.get("message"))[0]))
        elif kind not in STATE_TYPES:
            self.odd[f"type:{kind}"] += 1

    def session(self, transcript: Transcript) -> Session:
        """What was read; events may come after the result they describe, so results are read last."""
        self.odd["no call"] += len(self._early)
        for use_id, output in self._outputs.items():
            read = codex_results.result(output, self._events.get(use_id, {}))
            self.uses[use_id] = self.uses[use_id]._replace(**read._asdict())
        return Session(
            "codex",
            transcript.session,
            transcript.path,
            self._cwd,
            self._version,
            tuple(self._turns),
            tuple(sorted(self.uses.values(), key=lambda use: use.order)),
            tuple(self._said),
            tuple(self._compactions),
            self._answer,
            odd={name: n for name, n in sorted(self.odd.items()) if n},
        )

    def _item(self, item: dict[str, Any], record: dict[str, Any]) -> None:
        kind = word(item.get("type"))
        if kind == "message":
            self._message(item, record)
        elif kind == "reasoning":
            self._answers()
            text = codex_results.text_of(item.get("summary"))[0]
            self._said += [Said(self._order, "", text)] if text else []
        elif kind in CALLS:
            self._answers()
            self._call(item, record)
        elif kind in RESULTS:
            self._answering = False
            use_id = model.text(item.get("call_id"))
            if use_id in self.uses:
                self._join(use_id, item.get("output"), self._order)
            else:
                self._early.setdefault(use_id, (item.get("output"), self._order))
        elif kind not in KNOWN_ITEMS:
            self.odd[f"payload:{kind}"] += 1

    def _message(self, item: dict[str, Any], record: dict[str, Any]) -> None:
        role = word(item.get("role"))
        if role == "assistant":
            self._answers()
        if role != "user":
            self._said.append(Said(self._order, "", codex_results.text_of(item.get("content"))[0]))
            return
        self._answering = False
        content, kinds = item.get("content"), _kinds(item)
        if isinstance(kinds, list) and isinstance(content, list):
            typed = [block for block, kind in zip(content, kinds, strict=False) if kind == PERSON]
            text = codex_results.text_of(typed)[0]
            rest = [block for block, kind in zip(content, kinds, strict=False) if kind != PERSON]
            other = codex_results.text_of(rest)[0]
            self._said += [Said(self._order, "", other)] if other else []
            machine = False
        else:
            text = codex_results.text_of(content)[0]
            machine = text.lstrip().startswith(HOST_OPENINGS)
        if text.strip():
            if self._copies and not machine:  # the events before were copies of such messages
                self._turns, self._tracker, self._copies = [], TaskTracker(), False
            self._prompt(text, record, machine)

    def _prompt(self, text: str, record: dict[str, Any], machine: bool) -> None:
        machine = machine or is_machine(text)
        self._turns.append(UserTurn(self._order, text, "", machine, time_ms(record.get("timestamp"))))
        if not machine:
            self._tracker.prompt(text)

    def _event(self, payload: dict[str, Any], record: dict[str, Any]) -> None:
        kind = word(payload.get("type"))
        if kind == "user_message" and isinstance(payload.get("message"), str):
            if self._copies or not any(not turn.machine for turn in self._turns):
                self._copies = True
                self._prompt(payload["message"], record, payload["message"].startswith(HOST_OPENINGS))
        elif kind == "exec_command_end":
            self._copy(payload.get("call_id"), payload)
        elif kind == "item_completed" and isinstance(payload.get("item"), dict):
            self._copy(payload["item"].get("id"), payload["item"])

    def _copy(self, use_id: Any, item: dict[str, Any]) -> None:
        text = item.get("aggregated_output")
        self._events[model.text(use_id)] = {"text": text, "exit_code": item.get("exit_code")}

    def _answers(self) -> None:
        """Items of the model up to the next result or request are one answer."""
        if not self._answering:
            self._answering = True
            self._answer += 1

    def _call(self, item: dict[str, Any], record: dict[str, Any]) -> None:
        use_id = model.text(item.get("call_id")) or model.text(item.get("id"))
        if not use_id or use_id in self.uses:
            return
        given = _given(item)
        tool = word(item.get("name")) or ("local_shell" if item.get("type") == "local_shell_call" else "")
        namespace = word(item.get("namespace"))
        if namespace:
            tool = f"{namespace}__{tool}"
        kind: ToolKind = "mcp" if namespace.startswith("mcp__") or "__" in tool else KINDS.get(tool, "other")
        self.uses[use_id] = ToolUse(
            self._order,
            use_id,
            tool,
            kind,
            given,
            answer=f"{self._answer}",
            command=_command(given) if kind == "command" else "",
            task=self._tracker.current(),
            ts_ms=time_ms(record.get("timestamp")),
            repeated=use_id in self._seen,
        )
        if use_id in self._early:
            self._join(use_id, *self._early.pop(use_id))

    def _join(self, use_id: str, output: Any, order: int) -> None:
        if use_id not in self._outputs:
            self._outputs[use_id] = output
            self.uses[use_id] = self.uses[use_id]._replace(result_order=order)


def _kinds(item: dict[str, Any]) -> Any:
    """What each block of a message is; None in older versions."""
    passed = item.get("internal_chat_message_metadata_passthrough")
    return (passed if isinstance(passed, dict) else item).get("content_item_kinds")


def _given(item: dict[str, Any]) -> Mapping[str, Any]:
    """The arguments of a call; text that is no JSON object stands under ``input``."""
    action = item.get("action")
    if isinstance(action, dict):
        return action
    text = item.get("arguments", item.get("input"))
    if isinstance(text, dict):
        return text
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"input": text} if isinstance(text, str) else {}


def _command(given: Mapping[str, Any]) -> str:
    """The command line: a text, or a list of words, of which a shell's own are left out."""
    value = given.get("cmd", given.get("command"))
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return ""
    shell = len(value) == 3 and value[1] in ("-c", "-lc") and value[0].endswith("sh")
    return value[2] if shell else shlex.join(value)
