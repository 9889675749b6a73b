"""Sessions written for the tests in the hosts' own formats: small records, and long outputs from a seed."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

CWD = "/home/me/shop"
PASSED = "internal_chat_message_metadata_passthrough"
START = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)


class Claude:
    """The records of one Claude Code file, in order; each method adds one and gives its id."""

    def __init__(self, session: str = "s1", *, agent: str = "", day: int = 0) -> None:
        self.session = session
        self.records: list[dict[str, Any]] = []
        self._agent = agent
        self._day = day

    def record(self, kind: str, **fields: Any) -> str:
        n = len(self.records) + 1
        uuid = fields.pop("uuid", f"{self.session}-{self._agent}{n}")
        stamp = START + timedelta(days=self._day, seconds=n)
        envelope = {
            "type": kind,
            "uuid": uuid,
            "parentUuid": self.records[-1].get("uuid") if self.records else None,
            "sessionId": self.session,
            "timestamp": f"{stamp:%Y-%m-%dT%H:%M:%S}.000Z",
            "cwd": CWD,
            "version": "2.1.332",
            "isSidechain": bool(self._agent),
        }
        self.records.append(envelope | fields)
        return uuid

    def user(self, text: Any, **fields: Any) -> str:
        return self.record("user", message={"role": "user", "content": text}, **fields)

    def says(self, *blocks: dict[str, Any], answer: str = "", usage: Any = None, **fields: Any) -> str:
        message = {"id": answer or f"m{len(self.records)}", "role": "assistant", "content": list(blocks)}
        return self.record(
            "assistant", message=message | ({"usage": usage} if usage is not None else {}), **fields
        )

    def call(self, tool: str, given: Any, *, use_id: str = "", answer: str = "", **fields: Any) -> str:
        use_id = use_id or f"toolu_{self.session}{self._agent}{len(self.records)}"
        self.says({"type": "tool_use", "id": use_id, "name": tool, "input": given}, answer=answer, **fields)
        return use_id

    def result(
        self, use_id: str, content: Any, copy: Any = None, *, failed: bool = False, **fields: Any
    ) -> str:
        block = {"type": "tool_result", "tool_use_id": use_id, "content": content}
        block |= {"is_error": True} if failed else {}
        return self.record("user", message={"role": "user", "content": [block]}, toolUseResult=copy, **fields)

    def run(self, command: str, output: str, *, failed: bool = False) -> str:
        """A Bash call and its result."""
        use_id = self.call("Bash", {"command": command, "description": "Run it"})
        copy = f"Error: {output}" if failed else {"stdout": output, "stderr": "", "interrupted": False}
        self.result(use_id, output, copy, failed=failed)
        return use_id

    def text(self) -> str:
        return "".join(f"{json.dumps(record)}\n" for record in self.records)

    def write(self, projects: Path, project: str = "-home-me-shop") -> Path:
        """Write the file where Claude Code would."""
        folder = projects / project
        if self._agent:
            folder = folder / self.session / "subagents"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / (f"agent-{self._agent}.jsonl" if self._agent else f"{self.session}.jsonl")
        path.write_text(self.text(), encoding="utf-8")
        return path


class Codex:
    """The records of one Codex rollout, in order."""

    def __init__(self, session: str = "0199a213-81c0-7800-8aa1-bbab2a035a53") -> None:
        self.session = session
        self.records: list[dict[str, Any]] = []
        self.record("session_meta", id=session, cwd=CWD, cli_version="0.171.0")

    def record(self, kind: str, **payload: Any) -> None:
        stamp = START + timedelta(seconds=len(self.records))
        self.records.append(
            {"timestamp": f"{stamp:%Y-%m-%dT%H:%M:%S}.000Z", "type": kind, "payload": payload}
        )

    def item(self, kind: str, **payload: Any) -> None:
        self.record("response_item", **{"type": kind, **payload})

    def event(self, kind: str, **payload: Any) -> None:
        self.record("event_msg", **{"type": kind, **payload})

    def user(self, text: str, **payload: Any) -> None:
        payload.setdefault(PASSED, {"turn_id": "turn-1", "content_item_kinds": ["user.text"]})
        self.item("message", role="user", content=[{"type": "input_text", "text": text}], **payload)

    def call(self, command: str, *, tool: str = "exec_command", call_id: str = "") -> str:
        call_id = call_id or f"call_{len(self.records)}"
        self.item("function_call", name=tool, arguments=json.dumps({"cmd": command}), call_id=call_id)
        return call_id

    def run(self, command: str, output: str, code: int = 0) -> str:
        call_id = self.call(command)
        head = f"Chunk ID: 8f3a\nWall time: 0.1 seconds\nProcess exited with code {code}\n"
        text = f"{head}Original token count: {len(output) // 4}\nOutput:\n{output}"
        self.item("function_call_output", call_id=call_id, output=text)
        return call_id

    def text(self) -> str:
        return "".join(f"{json.dumps(record)}\n" for record in self.records)

    def write(self, sessions: Path) -> Path:
        """Write the file where Codex would."""
        folder = sessions / "2026" / "03" / "01"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"rollout-2026-03-01T10-00-00-{self.session}.jsonl"
        path.write_text(self.text(), encoding="utf-8")
        return path


def build_log(seed: int, lines: int = 400, *, planted: dict[int, str] | None = None) -> str:
    """A build's log of about 60 characters a line, with lines planted at their numbers."""
    draw = random.Random(seed)
    words = ("assets", "bundle", "cache", "client", "config", "loader", "module", "plugin", "schema")
    rows = []
    for number in range(1, lines + 1):
        name = "-".join(draw.choices(words, k=3))
        rows.append(
            f"[{number:04d}] compiled {name} in {draw.randint(2, 900)} ms, {draw.randint(1, 99)} modules"
        )
    for number, text in (planted or {}).items():
        rows[number - 1] = text
    return "\n".join(rows) + "\n"
