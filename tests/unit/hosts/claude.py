"""Claude Code's side of a hook: payloads as it sends them, a transcript as it writes it, and its rules."""

from __future__ import annotations

import json
from pathlib import Path
from types import MappingProxyType
from typing import Any

from admit.config.keys import shipped
from admit.config.layers import Config
from admit.hosts.handle import Handled, build_deps, handle
from admit.hosts.model import Capability
from admit.testing import FrozenClock, MemoryLedger

KEY = b"k" * 32
ADMIT = "/opt/admit/bin/admit"
# Fields that the host accepts under `hookSpecificOutput`, as its documentation lists them for these events.
ACCEPTED = {
    "SessionStart": {"additionalContext"},
    "UserPromptSubmit": {"additionalContext"},
    "PreToolUse": {"additionalContext", "updatedInput"},
    "PostToolUse": {"updatedToolOutput"},
    "PostToolUseFailure": {"additionalContext"},
    "PostToolBatch": {"additionalContext"},
    "SubagentStart": {"additionalContext"},
}


def log(lines: int = 300, *, error: str = "src/parse.c:41: error: unknown type name 'token_t'") -> str:
    """A build log of about 40 characters a line, its one error in the middle."""
    rows = [f"[{n:05}] compiling module number {n * 7} now" for n in range(lines)]
    rows[lines // 2] = error
    return "\n".join(rows) + "\n"


PROVEN = Capability("yes", "no", "yes", "yes", "no")


def prove_rewrites(monkeypatch: Any) -> None:
    """As after a self-test that saw this version of the host keep its deny rules for rewritten calls."""
    monkeypatch.setattr("admit.hosts.hook.Hook.capability", lambda hook: PROVEN)


class Host:
    """A session of the host, with hooks that Admit serves in this process.

    Args:
        folder: For all files; `HOME`, `XDG_STATE_HOME` and `XDG_CONFIG_HOME` must point into it.
        settings: Values over the shipped ones.
    """

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.settings = {name.replace("__", "."): value for name, value in settings.items()}
        self.config = Config(MappingProxyType({**shipped(), **self.settings}))
        self.ledger = MemoryLedger(key=KEY)
        self.clock = FrozenClock()
        self.session = "7d2c6a0e-9b1f-4c55-8a57-1f0a3c9f2b11"
        self.transcript = folder / f"{self.session}.jsonl"
        self.folder = folder
        self.restart()

    def restart(self) -> None:
        """Begin again with nothing in memory, as a new daemon does."""
        self.deps = build_deps(
            self.config,
            ledger=self.ledger,
            key=KEY,
            clock=self.clock,
            settings=lambda cwd: self.config,
            admit=ADMIT,
        )

    def guidance(self, id: str, text: str) -> None:
        """Write a way of the user's own, or ``core``."""
        name = f"{id}.md" if id == "core" else f"{id}/{id.rpartition('/')[2]}.md"
        path = self.folder / "config" / "agent-ways" / "ways" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def payload(self, event: str, **fields: Any) -> dict[str, Any]:
        """What the host sends."""
        common = {"session_id": self.session, "transcript_path": str(self.transcript), "cwd": "/repo"}
        return {**common, "hook_event_name": event, **fields}

    def hook(self, event: str, **fields: Any) -> Handled:
        """One hook whose answer has not left yet."""
        return self.raw(event, json.dumps(self.payload(event, **fields)).encode())

    def raw(self, event: str, raw: bytes) -> Handled:
        """One hook with these bytes."""
        return handle("claude-code", event, raw, deps=self.deps)

    def ask(self, event: str, *, written: bool = True, **fields: Any) -> dict[str, Any]:
        """The event's own answer, checked as the host does; empty where there is nothing to say."""
        handled = self.hook(event, **fields)
        handled.after(written)
        return answer_of(event, handled.data)

    def prompt(self, text: str, **fields: Any) -> None:
        """A person types something."""
        assert self.ask("UserPromptSubmit", prompt=text, **fields) == {}

    def bash(self, stdout: str, *, command: str = "make", use_id: str = "toolu_1", **fields: Any) -> Any:
        """What stands in the place of a command's output; None where the host keeps its own."""
        response = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False}
        given = {"tool_name": "Bash", "tool_use_id": use_id, "tool_input": {"command": command}}
        return self.ask("PostToolUse", tool_response=response, **{**given, **fields}).get("updatedToolOutput")

    def tool(self, name: str, response: Any, *, use_id: str = "toolu_1", **given: Any) -> Any:
        """What stands in the place of another tool's output; None where the host keeps its own."""
        fields = {"tool_name": name, "tool_use_id": use_id, "tool_input": given, "tool_response": response}
        return self.ask("PostToolUse", **fields).get("updatedToolOutput")

    def writes(self, *records: dict[str, Any]) -> None:
        """The host adds records to its transcript."""
        with open(self.transcript, "a", encoding="utf-8") as file:
            for record in records:
                file.write(json.dumps(record) + "\n")

    def events(self, type: str) -> list[dict[str, Any]]:
        """The bodies of recorded events of one type."""
        found = [event for rec in self.ledger.records for event in rec.events if event.type == type]
        return [dict(event.body) for event in found]

    @property
    def decisions(self) -> list[Any]:
        """The recorded decisions, in order."""
        return [rec.decision for rec in self.ledger.records if rec.decision is not None]


def answer_of(event: str, data: bytes) -> dict[str, Any]:
    """Read an answer as strictly as the host does: a wrong one would be dropped without a word."""
    if not data:
        return {}
    assert data.endswith(b"\n") and data.count(b"\n") == 1 and not data.startswith(b"\xef\xbb\xbf")
    assert len(data) <= 64 << 10
    answer = json.loads(data.decode("utf-8"))
    assert list(answer) == ["hookSpecificOutput"]
    said = answer["hookSpecificOutput"]
    assert said.pop("hookEventName") == event
    assert said and set(said) <= ACCEPTED.get(event, set())
    assert all(isinstance(said[name], str) for name in said if name == "additionalContext")
    assert isinstance(said.get("updatedInput", {}), dict)
    return said


def typed(text: str, uuid: str = "u1", **fields: Any) -> dict[str, Any]:
    """A transcript record of a request."""
    message = {"role": "user", "content": text}
    return {"type": "user", "uuid": uuid, "version": "2.1.332", "message": message, **fields}


def result(text: str, use_id: str, uuid: str = "r1") -> dict[str, Any]:
    """A transcript record of what the model saw of a tool's output."""
    block = {"type": "tool_result", "tool_use_id": use_id, "content": text}
    return {"type": "user", "uuid": uuid, "message": {"role": "user", "content": [block]}}
