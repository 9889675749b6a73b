"""Exact duplicates: an output that the agent has in front of it is not shown again."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import NamedTuple

from .nonce import header_line
from .view import clean

MOST_SESSIONS = 64
MOST_PER_SESSION = 512


class Seen(NamedTuple):
    """An output shown before in this session.

    Attributes:
        id: Its stored id.
        tool: The tool that gave it.
        task_key: The task it was cut for; None where it was shown whole.
    """

    id: str
    tool: str
    task_key: str | None


def duplicate_key(text: str, exit_code: int | None) -> bytes:
    """What makes two outputs one: view lines, each right-trimmed, the whole trimmed, and the exit code."""
    trimmed = "\n".join(clean(line).rstrip() for line in text.split("\n")).strip()
    return hashlib.sha256(f"{exit_code}\n{trimmed}".encode("utf-8", "surrogatepass")).digest()


def key_of(data: bytes, exit_code: int | None, most: int) -> bytes:
    """`duplicate_key` of raw bytes; over `most` of them that of the bytes as they are, undecoded."""
    if len(data) > most:
        return hashlib.sha256(f"{exit_code}\n".encode() + hashlib.sha256(data).digest()).digest()
    return duplicate_key(data.decode("utf-8", "replace"), exit_code)


def unchanged_line(
    nonce: str, seen: Seen, chars: int, lines: int, exit_code: int | None, recall: str = ""
) -> str:
    """What is shown of an output that is in view already: its sizes, and which one it equals."""
    code = "unknown" if exit_code is None else exit_code
    ending = f" Whole output: {recall}" if recall else ""
    return header_line(
        nonce,
        f"{chars:,} chars, {lines:,} lines, exit code {code}: unchanged, the same as {seen.id} from "
        f"{seen.tool or 'an earlier call'}, shown above.{ending}",
    )


class ShownBefore:
    """What each session was shown since its last compaction; the oldest go when there are too many."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, OrderedDict[bytes, Seen]] = OrderedDict()

    def find(self, session: str, key: bytes, task_key: str) -> Seen | None:
        """The earlier output, if the agent saw it whole or cut for this same task."""
        seen = self._sessions.get(session, {}).get(key)
        return seen if seen is not None and seen.task_key in (None, task_key) else None

    def add(self, session: str, key: bytes, seen: Seen) -> None:
        """Remember what was shown; an output once shown whole stays so."""
        entries = self._sessions.setdefault(session, OrderedDict())
        self._sessions.move_to_end(session)
        before = entries.get(key)
        if before is None or before.task_key is not None:
            entries[key] = seen
        entries.move_to_end(key)
        while len(entries) > MOST_PER_SESSION:
            entries.popitem(last=False)
        while len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)

    def withdraw(self, session: str, output_id: str) -> None:
        """Take back that this output was shown: what the agent never got is not in its view."""
        entries = self._sessions.get(session, {})
        for key in [key for key, seen in list(entries.items()) if seen.id == output_id]:
            entries.pop(key, None)

    def forget(self, session: str) -> int:
        """Empty a session's memory; gives the number of entries that went."""
        return len(self._sessions.pop(session, {}))
