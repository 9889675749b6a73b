"""Going back for a stored output by a tool of the host: it counts as a recall, and is not cut again."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from admit.ledger.port import OutputStore, Recall
from admit.ledger.record import new_id, now_ms
from admit.transcripts.model import input_texts

from .model import ToolCall

RANGE_KEYS = ("offset", "limit", "line_start", "line_end", "pages")
# What a payload holds that may name a stored file; cheap to look for.
MARK = b"outputs/"


def path_recall(call: ToolCall, folder: str, store: OutputStore, session: str) -> Recall | None:
    """The recall that a call makes by naming a stored file; None where it names none.

    Args:
        call: The call, with its output.
        folder: The folder of the stored outputs.
        store: Where they are.
        session: The host's session.
    """
    found = next(filter(None, map(_stored_file(folder).search, input_texts(call.input))), None)
    ref = store.find(f"o_{found[1]}") if found is not None else None
    if found is None or ref is None:
        return None
    output = call.output
    chars = sum(len(text) for _, text in output.texts) if output is not None else 0
    kind = "whole" if _reads_whole(call.input, found[0]) else "range"
    return Recall(new_id(), ref.id, now_ms(), kind, "path", chars, session=session or None)


def is_recall(call: ToolCall) -> bool:
    """Whether a command asks `admit` for a stored output; what it prints is what was asked for."""
    command = call.input.get("command")
    return isinstance(command, str) and _recall_command().search(command) is not None


def _reads_whole(given: Mapping[str, Any], path: str) -> bool:
    command = given.get("command")
    if isinstance(command, str):
        return re.fullmatch(rf"\s*cat\s+['\"]?{re.escape(path)}['\"]?\s*", command) is not None
    return not any(given.get(key) is not None for key in RANGE_KEYS)


@lru_cache(maxsize=4)
def _stored_file(folder: str) -> re.Pattern[str]:
    return re.compile(re.escape(folder + os.sep) + r"[0-9a-f]{2}/([0-9a-f]{64})\.txt")


@lru_cache(maxsize=1)
def _recall_command() -> re.Pattern[str]:
    return re.compile(r"\badmit['\"]?\s+recall\s[^|;&\n]*(?:\bo_[0-9a-f]{12}|--last\b)")
