"""Claude Code's transcripts: one JSON line a record, kept as a session with its subagents.

One answer of the model may take several ``assistant`` lines. Results are joined to calls by the tool-use id,
in whatever order they come. A fork copies records with their old ``uuid``: each counts once, in the first
file that holds it, and is context in the others. Unknown records, blocks and keys are no error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from admit.text.machine import is_machine

from . import claude_results, model
from .files import open_own, read_text
from .find import Transcript, agent_name
from .lines import JsonLines
from .model import Said, Session, TaskText, ToolKind, ToolUse, Usage, UserTurn, time_ms, word
from .task import TaskTracker, agent_task

KINDS: Mapping[str, ToolKind] = {
    "Bash": "command",
    "Read": "file_read",
    "NotebookRead": "file_read",
    "Grep": "search",
    "WebFetch": "fetch",
    "Edit": "edit",
    "MultiEdit": "edit",
    "Write": "edit",
    "NotebookEdit": "edit",
    "Agent": "agent",
    "Task": "agent",
}
# Records that hold no text of the context; any other type is counted by name.
STATE_TYPES = frozenset(
    """
    agent-color agent-name agent-setting ai-title api-request api-request-blob api-request-shape
    atis-latch cost-state custom-title file-history-snapshot last-prompt mode permission-mode pr-link
    progress summary tag task-summary tools-used worktree-state
    """.split()  # noqa: SIM905
)
KNOWN_BLOCKS = frozenset(
    ("image", "document", "redacted_thinking", "server_tool_use", "web_search_tool_result")
)
MACHINE_SOURCES = frozenset(("system", "loop_wakeup", "schedule_wakeup", "poll_event"))
MACHINE_ORIGINS = frozenset(("task-notification", "system", "coordinator"))
INTERRUPTED = "[Request interrupted"
COMPACTED = frozenset(("compact_boundary", "microcompact_boundary"))


def read(transcript: Transcript, seen: set[str]) -> Session:
    """Read one session. A file that cannot be read is counted as ``unreadable``.

    Args:
        transcript: Its files.
        seen: ``uuid`` of every record in the sessions before; those of this one are added.
    """
    reader = _Reader(transcript.folder, seen)
    if transcript.path not in transcript.agents:
        reader.file(transcript.path, "")
    for path in transcript.agents:
        reader.file(path, agent_name(path))
    seen.update(reader.own)
    return reader.session(transcript)


class _Reader:
    """The state while the files of one session are read."""

    def __init__(self, folder: str, seen: set[str]) -> None:
        self.own: set[str] = set()
        self._folder = folder
        self._seen = seen
        self._order = 0
        self._file_agent = ""
        self._uses: dict[str, ToolUse] = {}
        self._early: dict[str, tuple[dict[str, Any], Any, int]] = {}  # results that came before their call
        self._turns: list[UserTurn] = []
        self._said: list[Said] = []
        self._compactions: list[tuple[int, str]] = []
        self._usage: dict[str, Mapping[str, Any]] = {}
        self._tracker = TaskTracker()
        self._agent_tasks: dict[str, TaskText] = {}
        self._prompts: dict[str, str] = {}  # of the calls that start agents, by tool-use id and by agent id
        self._sidechains: dict[str, str] = {}  # uuid: agent
        self._chains = 0
        self._queued: dict[str, UserTurn] = {}  # typed while the agent worked, not yet delivered
        self._odd: Counter[str] = Counter()
        self._cwd = self._version = ""

    def file(self, path: str, agent: str) -> None:
        """Take in one file; `agent` is empty for the main one."""
        self._file_agent = agent
        if agent:
            prompt = self._prompts.get(_starting_call(path)) or self._prompts.get(agent)
            if prompt:
                self._agent_tasks[agent] = agent_task(prompt)
        try:
            with open_own(path) as file:
                lines = JsonLines(file)
                for record in lines:
                    self._record(record)
                self._odd.update(lines.counts)
        except OSError:
            self._odd["unreadable"] += 1

    def session(self, transcript: Transcript) -> Session:
        """What was read."""
        self._odd["no call"] += len(self._early)
        counts = [
            tuple(_count(usage, f"{name}tokens") for name in ("input_", *_CACHED, "output_"))
            for usage in self._usage.values()
        ]
        return Session(
            "claude-code",
            transcript.session,
            transcript.path,
            self._cwd,
            self._version,
            tuple(self._turns),
            tuple(sorted(self._uses.values(), key=lambda use: use.order)),
            tuple(self._said),
            tuple(self._compactions),
            len(self._usage),
            Usage(*(sum(column) for column in zip(*counts, strict=True))) if counts else Usage(),
            {name: n for name, n in sorted(self._odd.items()) if n},
        )

    def _record(self, record: dict[str, Any]) -> None:
        uuid = record.get("uuid")
        repeated = False
        if isinstance(uuid, str):
            if uuid in self.own:
                return
            repeated = uuid in self._seen
            self.own.add(uuid)
        self._order += 1
        self._cwd = self._cwd or model.text(record.get("cwd"))
        self._version = model.text(record.get("version")) or self._version
        kind = word(record.get("type"))
        if kind == "user":
            self._user(record)
        elif kind == "assistant":
            self._assistant(record, repeated)
        elif kind == "attachment":
            self._attachment(record)
        elif kind == "system":
            if word(record.get("subtype")) in COMPACTED:
                self._compactions.append((self._order, self._agent(record)))
        elif kind == "queue-operation":
            text = record.get("content")
            if record.get("operation") == "enqueue" and isinstance(text, str) and not is_machine(text):
                self._prompt(text, "", record, machine=False)
        elif kind not in STATE_TYPES:
            self._odd[f"type:{kind}"] += 1

    def _user(self, record: dict[str, Any]) -> None:
        agent = self._agent(record)
        blocks = _blocks(record)
        results = [block for block in blocks if block.get("type") == "tool_result"]
        for block in results:
            # A record with several results has one copy, and nothing says whose it is.
            self._result(block, record.get("toolUseResult") if len(results) == 1 else None)
        text = "\n".join(block["text"] for block in self._texts(blocks, ("text",), ("tool_result",)))
        if not text.strip():
            return
        if results or record.get("isMeta") or record.get("isCompactSummary"):
            self._said.append(Said(self._order, agent, text))
            return
        self._prompt(text, agent, record, machine=_machine(record) or text.startswith(INTERRUPTED))

    def _assistant(self, record: dict[str, Any], repeated: bool) -> None:
        agent = self._agent(record)
        message = record.get("message")
        message = message if isinstance(message, dict) else {}
        answer = model.text(message.get("id")) or model.text(record.get("uuid"))
        usage = message.get("usage")
        if not repeated:
            self._usage[answer] = usage if isinstance(usage, dict) else self._usage.get(answer, {})
        blocks = _blocks(record)
        for block in self._texts(blocks, ("text", "thinking"), ("tool_use",)):
            self._said.append(Said(self._order, agent, block[block["type"]]))
        for block in blocks:
            if block.get("type") == "tool_use":
                self._call(block, record, answer, agent, repeated)

    def _attachment(self, record: dict[str, Any]) -> None:
        own = record.get("attachment")
        own = own if isinstance(own, dict) else {}
        agent = self._agent(record)
        if own.get("type") == "queued_command":
            text = claude_results.content(own.get("prompt")).text
            if text.strip():
                self._prompt(text, agent, record, machine=own.get("commandMode") == "task-notification")
            return
        sent = record.get("rendered")
        contents = (
            [one.get("content") for one in sent if isinstance(one, dict)] if isinstance(sent, list) else []
        )
        if not contents and own.get("type") == "hook_additional_context":
            added = own.get("content")
            contents = added if isinstance(added, list) else [added]
        for one in contents:
            text = claude_results.content(one).text
            if text:
                self._said.append(Said(self._order, agent, text))

    def _prompt(self, text: str, agent: str, record: dict[str, Any], *, machine: bool) -> None:
        machine = machine or is_machine(text)
        repeated = record.get("uuid") in self._seen if isinstance(record.get("uuid"), str) else False
        turn = UserTurn(self._order, text, agent, machine, time_ms(record.get("timestamp")), repeated)
        if record.get("type") == "queue-operation":
            self._queued[text] = turn
        elif not agent and text in self._queued:
            self._turns.remove(self._queued.pop(text))  # it counts where it was delivered
        self._turns.append(turn)
        if machine:
            return
        if agent:
            self._agent_tasks.setdefault(agent, agent_task(text))
        else:
            self._tracker.prompt(text)

    def _call(
        self, block: dict[str, Any], record: dict[str, Any], answer: str, agent: str, repeated: bool
    ) -> None:
        use_id, tool, given = model.text(block.get("id")), model.text(block.get("name")), block.get("input")
        if not use_id or use_id in self._uses:
            return
        given = given if isinstance(given, dict) else {}
        kind: ToolKind = "mcp" if tool.startswith("mcp__") else KINDS.get(tool, "other")
        if kind == "agent" and isinstance(given.get("prompt"), str):
            self._prompts[use_id] = given["prompt"]
        self._uses[use_id] = ToolUse(
            self._order,
            use_id,
            tool,
            kind,
            given,
            answer=answer,
            command=model.text(given.get("command")) if kind == "command" else "",
            agent=agent,
            task=self._agent_tasks.get(agent, TaskText()) if agent else self._tracker.current(),
            ts_ms=time_ms(record.get("timestamp")),
            repeated=repeated,
        )
        if use_id in self._early:
            early, copy, order = self._early.pop(use_id)
            self._join(use_id, early, copy, order)

    def _result(self, block: dict[str, Any], copy: Any) -> None:
        use_id = model.text(block.get("tool_use_id"))
        if use_id in self._uses:
            self._join(use_id, block, copy, self._order)
        else:
            self._early.setdefault(use_id, (block, copy, self._order))

    def _join(self, use_id: str, block: dict[str, Any], copy: Any, order: int) -> None:
        use = self._uses[use_id]
        if use.shown is not None:
            return
        seen = claude_results.content(block.get("content"))
        self._odd.update(f"block:{name}" for name in seen.unknown)
        failed = block.get("is_error") is True
        if isinstance(copy, dict) and use_id in self._prompts and isinstance(copy.get("agentId"), str):
            self._prompts[copy["agentId"]] = self._prompts[use_id]
        found = claude_results.find(use.tool, seen.text, copy, self._folder, failed=failed)
        self._uses[use_id] = use._replace(
            result_order=order,
            shown=seen.text,
            failed=failed,
            exit_code=claude_results.exit_code(use.tool, seen.text, failed),
            images=seen.images,
            **found._asdict(),
        )

    def _texts(
        self, blocks: list[dict[str, Any]], wanted: tuple[str, ...], others: tuple[str, ...]
    ) -> Iterator[dict[str, Any]]:
        """Blocks of the wanted types that hold text; types that are not known are counted."""
        for block in blocks:
            kind = word(block.get("type"))
            if kind in wanted:
                if isinstance(block.get(kind), str):
                    yield block
            elif kind not in others and kind not in KNOWN_BLOCKS:
                self._odd[f"block:{kind}"] += 1

    def _agent(self, record: dict[str, Any]) -> str:
        """Whose context a record belongs to; older versions keep side chains in the main file."""
        if self._file_agent or record.get("isSidechain") is not True:
            return self._file_agent
        parent = self._sidechains.get(model.text(record.get("parentUuid")))
        agent = model.text(record.get("agentId")) or parent
        if not agent:
            self._chains += 1
            agent = f"side-{self._chains}"
        if isinstance(record.get("uuid"), str):
            self._sidechains[record["uuid"]] = agent
        return agent


_CACHED = ("cache_creation_input_", "cache_read_input_")


def _machine(record: dict[str, Any]) -> bool:
    """Whether the record says that no person wrote it."""
    origin = record.get("origin")
    kind = word(origin.get("kind")) if isinstance(origin, dict) else ""
    return word(record.get("promptSource")) in MACHINE_SOURCES or kind in MACHINE_ORIGINS


def _blocks(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The content blocks of a message; a string is one block of text."""
    message = record.get("message")
    value = message.get("content") if isinstance(message, dict) else None
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    return [block for block in value if isinstance(block, dict)] if isinstance(value, list) else []


def _starting_call(path: str) -> str:
    """The tool-use id that the file beside a subagent's names, or nothing."""
    import json

    read_meta = read_text(path.removesuffix(".jsonl") + ".meta.json", 1 << 20)
    try:
        meta = json.loads(read_meta[0]) if read_meta else None
    except (ValueError, RecursionError):
        meta = None
    return model.text(meta.get("toolUseId")) if isinstance(meta, dict) else ""


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
