"""What the model saw of one Claude Code tool result, and the fullest copy that can be found.

The block's content is what the model saw. Large results are replaced by a preview that names a file; the
whole then stands in that file, inside the session's own ``tool-results`` folder, or in the record's
``toolUseResult``. Failed commands are cut in the middle and have no full copy.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from .files import read_text
from .model import Cut, word

STORED_FOLDER = "tool-results"
PREVIEW = "<persisted-output>"
_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}


class Content(NamedTuple):
    """A block's content: its text, how many images, and the names of blocks that are not known."""

    text: str = ""
    images: int = 0
    unknown: tuple[str, ...] = ()


class Found(NamedTuple):
    """What was found beside the shown text; the fields are those of `ToolUse`."""

    whole: str | None = None
    complete: bool = True
    original_chars: int | None = None
    cut_by_host: Cut = ""
    stored_path: str = ""


def content(value: Any) -> Content:
    """The text of ``content``: a string, or blocks, whose texts are joined by line feeds."""
    if isinstance(value, str):
        return Content(value)
    texts, unknown, images = [], [], 0
    for block in value if isinstance(value, list) else ():
        kind = word(block.get("type")) if isinstance(block, dict) else type(block).__name__
        if kind == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif kind == "image":
            images += 1
        elif kind != "tool_reference":
            unknown.append(kind)
    return Content("\n".join(texts), images, tuple(unknown))


def find(tool: str, shown: str, copy: Any, folder: str, *, failed: bool = False) -> Found:
    """How the host cut a result, and its fullest text.

    Args:
        tool: The tool's name.
        shown: What the model saw.
        copy: The record's ``toolUseResult``.
        folder: The session's own folder, which holds ``tool-results``.
        failed: Whether it is marked as an error; only then does the host cut in the middle.
    """
    if shown.startswith(PREVIEW):
        return _behind_preview(tool, shown, copy, folder)
    cut = _middle_cut().search(shown) if failed else None
    if cut:
        left_out = int(cut[1].replace(",", "")[:15])
        return Found(None, False, len(shown) - len(cut[0]) + left_out, "middle")
    return Found(original_chars=len(shown))


def exit_code(tool: str, shown: str, failed: bool) -> int | None:
    """The exit code of a command where the host states it, as it does for failures."""
    found = _exit_code().match(shown) if failed and tool == "Bash" else None
    return int(found[1]) if found else None


def _behind_preview(tool: str, shown: str, copy: Any, folder: str) -> Found:
    said = _saved_to().search(shown)
    named = copy.get("persistedOutputPath") if isinstance(copy, Mapping) else None
    path = _inside(named if isinstance(named, str) else said[1] if said else "", folder)
    stored = read_text(path) if path else None
    if stored is not None:
        text, complete = stored
        text = _joined_blocks(text) if path.endswith(".json") else text
        return Found(text, complete, len(text), "preview", path)
    size = copy.get("persistedOutputSize") if isinstance(copy, Mapping) else None
    size = size if isinstance(size, int) and not isinstance(size, bool) else _stated_size(shown)
    text = _copied(tool, copy)
    if text is None:
        return Found(None, False, size, "preview", path)
    # The host's own copy of a command's output ends at 30,000 characters.
    complete = tool != "Bash" or (size is not None and len(text.encode("utf-8", "surrogatepass")) >= size)
    return Found(text, complete, len(text) if complete else size, "preview", path)


def _inside(path: str, folder: str) -> str:
    """Where a stored result must lie: under its own name in the session's ``tool-results``, or nowhere.

    Only the name is taken from the record, so no record can point elsewhere, and a moved folder still works.
    """
    parent, name = os.path.split(path.replace("\\", "/"))
    if os.path.basename(parent) != STORED_FOLDER or name in ("", ".", "..") or "\0" in name:
        return ""
    place = os.path.join(folder, STORED_FOLDER)
    return "" if os.path.islink(folder) or os.path.islink(place) else os.path.join(place, name)


def _copied(tool: str, copy: Any) -> str | None:
    """The text in the host's own copy of a result; base64 is never taken as text."""
    if isinstance(copy, str):
        return copy.removeprefix("Error: ")
    if isinstance(copy, list):
        return content(copy).text or None
    if not isinstance(copy, Mapping):
        return None
    for key in ("stdout", "content", "result"):
        text = copy.get(key)
        if isinstance(text, str) and text and not copy.get("isImage"):
            return text
    names = copy.get("filenames")
    if isinstance(names, list):
        return "\n".join(name for name in names if isinstance(name, str))
    blocks = copy.get("content")
    return (content(blocks).text or None) if isinstance(blocks, list) else None


def _joined_blocks(text: str) -> str:
    """The texts of a stored array of blocks; a text that is none stays as it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return content(value).text if isinstance(value, list) else text


def _stated_size(shown: str) -> int | None:
    """About how many characters the preview says the output has."""
    said = _too_large().search(shown[:400])
    return int(float(said[1]) * _UNITS[said[2]]) if said else None


@lru_cache(maxsize=1)
def _saved_to() -> re.Pattern[str]:
    return re.compile(r"Full output saved to: ([^\n]+?)\s*(?:\n|$)")


@lru_cache(maxsize=1)
def _too_large() -> re.Pattern[str]:
    return re.compile(r"Output too large \((\d{1,9}(?:\.\d{1,9})?) ?([KMG]?B)\)")


@lru_cache(maxsize=1)
def _middle_cut() -> re.Pattern[str]:
    return re.compile(r"\.\.\. \[([\d,]{1,20}) characters truncated\] \.\.\.")


@lru_cache(maxsize=1)
def _exit_code() -> re.Pattern[str]:
    return re.compile(r"(?:Error: )?Exit code (\d{1,3})\b")
