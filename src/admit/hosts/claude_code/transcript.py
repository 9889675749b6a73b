"""The newest part of a Claude Code transcript while the host is writing it.

The host appends to the file, so only whole lines are read, and never more than the last part.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from admit.hosts.model import Recent
from admit.text.machine import without_machine
from admit.transcripts.claude_code import INTERRUPTED, MACHINE_ORIGINS, MACHINE_SOURCES
from admit.transcripts.claude_results import content
from admit.transcripts.files import open_own

TAIL_BYTES = 256 << 10
HEAD_BYTES = 64 << 10
USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


def recent(path: str, start: int | None = None) -> Recent:
    """What was said since `start` (bytes; None is not read yet), of at most the last 256 KiB.

    A file that is no regular file of this user says nothing.
    """
    prompts: list[str] = []
    queued: list[str] = []
    words, version, tokens, offset = "", None, None, start or 0
    for end, line in last_lines(path, start, TAIL_BYTES):
        offset = end
        record = parsed(line)
        if record is None:
            continue
        version = record["version"] if isinstance(record.get("version"), str) else version
        if prompt := _prompt(record):
            prompts.append(prompt)
            queued += [prompt] if record.get("type") != "user" else []
        elif record.get("type") == "assistant" and record.get("isSidechain") is not True:
            words = content(message_content(record)).text or words
            tokens = _tokens(record) or tokens
    return Recent(tuple(prompts), words, version, offset, tuple(dict.fromkeys(queued)), tokens)


def agent_transcript(transcript: str, agent: str) -> str:
    """The file of a subagent, beside the session's; empty where its id is no plain name."""
    plain = agent.replace("-", "").replace("_", "")
    if not transcript.endswith(".jsonl") or not plain.isalnum():
        return ""
    return os.path.join(transcript.removesuffix(".jsonl"), "subagents", f"agent-{agent}.jsonl")


def agent_prompt(path: str) -> str:
    """What a subagent was started with: the first message of its transcript; empty where it is not known."""
    try:
        with open_own(path) as file:
            for _, line in _lines(file.read(HEAD_BYTES), 0, whole=True):
                record = parsed(line)
                if record is not None and record.get("type") == "user":
                    return content(message_content(record)).text
    except (OSError, ValueError):  # a path with NUL is a ValueError
        pass
    return ""


def last_lines(path: str, start: int | None, most: int) -> list[tuple[int, bytes]]:
    """The whole lines from `start` on, of at most the last `most` bytes, each with the offset of its end.

    A file shorter than `start` was replaced and is read from its beginning; an unreadable one has none.
    """
    try:
        with open_own(path) as file:
            size = os.fstat(file.fileno()).st_size
            known = start if start is not None and start <= size else 0
            begin = max(known, size - most)
            file.seek(begin)
            # Begun elsewhere than at a known place, the first line is only the rest of one.
            return list(_lines(file.read(most), begin, whole=begin == known))
    except (OSError, ValueError):
        return []


def parsed(line: bytes) -> dict[str, Any] | None:
    """The record of a line; None for anything else."""
    try:
        value = json.loads(line.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def message_content(record: dict[str, Any]) -> Any:
    """``message.content`` of a record: text, blocks, or anything else."""
    message = record.get("message")
    return message.get("content") if isinstance(message, dict) else None


def text_of(value: Any) -> str:
    """A text as it is; empty for what is none."""
    return value if isinstance(value, str) else ""


def _lines(data: bytes, begin: int, *, whole: bool) -> Iterator[tuple[int, bytes]]:
    at = 0 if whole else data.find(b"\n") + 1
    while (end := data.find(b"\n", at)) >= 0:
        yield begin + end + 1, data[at:end]
        at = end + 1


def _prompt(record: dict[str, Any]) -> str:
    """What a person asked for in this record; empty where no person did."""
    kind, text = record.get("type"), ""
    if record.get("isSidechain") is True:
        return ""
    if kind == "queue-operation":
        text = text_of(record.get("content")) if record.get("operation") == "enqueue" else ""
    elif kind == "attachment":
        own = record.get("attachment")
        if isinstance(own, dict) and own.get("type") == "queued_command":
            machine = own.get("commandMode") == "task-notification"
            text = "" if machine else content(own.get("prompt")).text
    elif kind == "user" and not (record.get("isMeta") or record.get("isCompactSummary") or _machine(record)):
        blocks = message_content(record)
        results = isinstance(blocks, list) and any(is_result(block) for block in blocks)
        text = "" if results else content(blocks).text
    return "" if text.startswith(INTERRUPTED) else without_machine(text).strip()


def _tokens(record: dict[str, Any]) -> int | None:
    """What the context held after this answer, as the model's server counted it."""
    message = record.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    counts = [usage.get(name) for name in USAGE] if isinstance(usage, dict) else []
    return sum(count for count in counts if isinstance(count, int)) or None


def is_result(block: Any) -> bool:
    """Whether a block of a message is the result of a tool."""
    return isinstance(block, dict) and block.get("type") == "tool_result"


def _machine(record: dict[str, Any]) -> bool:
    origin = record.get("origin")
    kind = text_of(origin.get("kind")) if isinstance(origin, dict) else ""
    return text_of(record.get("promptSource")) in MACHINE_SOURCES or kind in MACHINE_ORIGINS
