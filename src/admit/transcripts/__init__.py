"""What agents' own session files hold, read and never written: the transcripts of Claude Code and Codex."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .find import Found
    from .model import Session


def read_sessions(found: Found) -> Iterator[Session]:
    """The sessions that were found, one at a time, in order; what stands in two files counts in the first."""
    from . import claude_code, codex

    readers = {"claude-code": claude_code.read, "codex": codex.read}
    seen: dict[str, set[str]] = {host: set() for host in readers}
    for transcript in found.transcripts:
        yield readers[transcript.host](transcript, seen[transcript.host])
