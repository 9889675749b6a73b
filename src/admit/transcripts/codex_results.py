"""What the model saw of one Codex tool result, and the fullest copy that can be found.

A command's result opens with a few lines of the host's own (chunk, wall time, exit code) before ``Output:``;
older versions wrote a JSON object. The host cuts in the middle and keeps no full copy: at most 65,536
characters stand in the event beside the result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from .model import Cut, word

NOT_KEPT = "command output truncated for persistence"
BYTES_PER_TOKEN = 4
HEADER_CHARS = 2_000


class Result(NamedTuple):
    """One result; the fields are those of `ToolUse`."""

    shown: str
    whole: str | None = None
    complete: bool = True
    original_chars: int | None = None
    cut_by_host: Cut = ""
    failed: bool = False
    exit_code: int | None = None
    images: int = 0


def result(output: Any, event: Mapping[str, Any]) -> Result:
    """Read the ``output`` of a call.

    Args:
        output: A text, a list of blocks, or an object that holds either under ``content``.
        event: What the event beside it says, empty where there is none: ``text``, ``exit_code``.
    """
    if isinstance(output, Mapping):
        success = output.get("success")
        read = result(output.get("content") or output.get("body") or "", event)
        return read._replace(failed=read.failed or success is False)
    shown, images = text_of(output)
    body, code = _opened(shown)
    code = event.get("exit_code") if code is None else code
    code = code if isinstance(code, int) and not isinstance(code, bool) else None
    cut = _cut().search(shown)
    if cut is None:
        whole = body if body != shown else None
        return Result(shown, whole, True, len(body), "", bool(code), code, images)
    copied = event.get("text")
    whole = copied if isinstance(copied, str) and len(copied) > len(body) else None
    complete = whole is not None and NOT_KEPT not in whole
    original = len(whole) if whole is not None and complete else _stated_chars(shown, cut)
    return Result(
        shown, body if whole is None else whole, complete, original, "middle", bool(code), code, images
    )


def text_of(output: Any) -> tuple[str, int]:
    """The text of an output and its number of images; texts of blocks are joined by line feeds."""
    if isinstance(output, str):
        return output, 0
    texts, images = [], 0
    for block in output if isinstance(output, list) else ():
        if not isinstance(block, Mapping):
            continue
        if isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif "image" in word(block.get("type")):
            images += 1
    return "\n".join(texts), images


def _opened(shown: str) -> tuple[str, int | None]:
    """The output without the host's own opening lines, and the exit code they state."""
    if shown.startswith("{"):
        try:
            value = json.loads(shown)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and isinstance(value.get("output"), str) and "metadata" in value:
            facts = value["metadata"]
            return value["output"], facts.get("exit_code") if isinstance(facts, dict) else None
    opening = _opening().match(shown[:HEADER_CHARS])
    if opening is None:
        return shown, None
    code = _exit_code().search(opening[0])
    return shown[opening.end() :], int(code[1]) if code else None


def _stated_chars(shown: str, cut: re.Match[str]) -> int:
    """About how many characters the host had: from its token count, else from what it says it left out."""
    tokens = _tokens().search(shown[:HEADER_CHARS])
    if tokens:
        return int(tokens[1]) * BYTES_PER_TOKEN
    left_out = int(cut[1]) * (BYTES_PER_TOKEN if cut[2] == "tokens" else 1)
    return len(shown) - len(cut[0]) + left_out


@lru_cache(maxsize=1)
def _opening() -> re.Pattern[str]:
    """Lines of the host's own up to ``Output:``; a result may open in no other way."""
    own = (
        "(?:Chunk ID|Wall time|Process exited|Process running|Exit code|Original token count"
        "|Warning: truncated output|Total output lines)"
    )
    return re.compile(rf"(?:{own}[^\n]*\n|\n)*{own}[^\n]*\n(?:\n)?Output:\n?")


@lru_cache(maxsize=1)
def _exit_code() -> re.Pattern[str]:
    return re.compile(r"(?:Process exited with code|Exit code:) (-?\d{1,9})\b")


@lru_cache(maxsize=1)
def _tokens() -> re.Pattern[str]:
    return re.compile(r"[Oo]riginal token count: (\d{1,12})\b")


@lru_cache(maxsize=1)
def _cut() -> re.Pattern[str]:
    return re.compile(r"…(\d{1,12}) (chars|tokens) truncated…")
