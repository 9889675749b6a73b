"""Claude Code's tool outputs: where their texts are, and the same value with other texts in it.

The host drops a value of another shape without a word, so a replacement is always the host's own value with
only the texts changed. Pointers are JSON pointers (RFC 6901) into that value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from admit.hosts.model import ToolOutput
from admit.transcripts.model import text as text_of

from .shell import keeps_exit_code

# Characters the host shows whole; of more the model gets a preview of about 2,000.
INLINE_CHARS: Mapping[str, int] = MappingProxyType({"bash": 30_000, "grep": 20_000, "mcp": 50_000})
PREVIEW_CHARS = 2_000
PERSISTED = ("persistedOutputPath", "persistedOutputSize")
UNKNOWN = ToolOutput("unknown")

ReadFile = Callable[[str], str | None]
# None: an output that is known and left alone.
_Reader = Callable[[Mapping[str, Any], Any, ReadFile], ToolOutput | None]


def read_output(tool: str, given: Mapping[str, Any], response: Any, read_file: ReadFile) -> ToolOutput | None:
    """The texts of a tool's response that may be replaced.

    Args:
        tool: The tool's name.
        given: The call's input.
        response: ``tool_response`` as the host sent it.
        read_file: Gives the text of a file in which the host keeps a whole output; None where it is not to
            be had, and the text in the response is all there is.

    Returns:
        None for an output that is left alone on purpose (an image, a list of files); the shape ``unknown``
        for one whose form is not known.
    """
    if tool.startswith("mcp__"):
        return _mcp(given, response, read_file)
    reader = _READERS.get(tool)
    return UNKNOWN if reader is None else reader(given, response, read_file)


def rebuild(output: ToolOutput, replace: Sequence[tuple[str, str]]) -> Any:
    """The host's value with these texts in their places; the original is not changed.

    Raises:
        KeyError: A pointer leads to nothing.
    """
    value = output.original
    if output.shape == "bash":
        if "persistedOutputPath" in value and "/stdout" not in dict(replace):
            return value
        # With the path of the whole output in it, the model would get a preview of the replacement.
        kept = {name: one for name, one in value.items() if name not in PERSISTED}
        value = {**kept, "stderr": kept.get("stderr", ""), "interrupted": kept.get("interrupted", False)}
    if output.shape == "mcp_blocks" and isinstance(value, str):
        return [{"type": "text", "text": dict(replace)[""]}]
    for pointer, text in replace:
        value = _with(value, pointer.split("/")[1:], text)
    return value


def _with(value: Any, path: list[str], text: str) -> Any:
    """A copy of a value with a text at a path; everything beside the path is shared."""
    if not path:
        return text
    if isinstance(value, list):
        place = int(path[0])
        return [*value[:place], _with(value[place], path[1:], text), *value[place + 1 :]]
    return {**value, path[0]: _with(value[path[0]], path[1:], text)}


def _bash(given: Mapping[str, Any], response: Any, read_file: ReadFile) -> ToolOutput | None:
    if not isinstance(response, dict) or not isinstance(response.get("stdout"), str):
        return UNKNOWN
    stdout, stderr = response["stdout"], response.get("stderr", "")
    if not isinstance(stderr, str) or not isinstance(response.get("interrupted", False), bool):
        return UNKNOWN
    if response.get("isImage"):
        return None
    size = _shown_chars("bash", len(stdout) + len(stderr))
    path = response.get("persistedOutputPath")
    if path is not None:
        whole = read_file(path) if isinstance(path, str) else None
        if whole is None:
            return None  # what is here is only its beginning: the host's preview and path say more
        stdout, size = whole, PREVIEW_CHARS
    return ToolOutput(
        "bash",
        (("/stdout", stdout), ("/stderr", stderr)),
        response,
        size,
        _exit_code(given, response),
    )


def _exit_code(given: Mapping[str, Any], response: Mapping[str, Any]) -> int | None:
    """0 where that is certain: the hook of a failed command is another, but not every failure is one.

    After a pipe the code is the last command's alone, and the host takes the 1 of a search for a success.
    """
    unfinished = response.get("interrupted") or response.get("backgroundTaskId")
    if unfinished or response.get("returnCodeInterpretation") or given.get("run_in_background"):
        return None
    command = given.get("command")
    return 0 if isinstance(command, str) and keeps_exit_code(command) else None


def _read(given: Mapping[str, Any], response: Any, read_file: ReadFile) -> ToolOutput | None:
    file = response.get("file") if isinstance(response, dict) else None
    if not isinstance(file, dict):
        return UNKNOWN
    if response.get("type") != "text":
        return None
    return _texts(response, "/file/content", file.get("content"), None, "read")


def _grep(given: Mapping[str, Any], response: Any, read_file: ReadFile) -> ToolOutput | None:
    if not isinstance(response, dict) or not isinstance(response.get("filenames", []), list):
        return UNKNOWN
    found = response.get("content")
    if response.get("mode") in ("files_with_matches", "count") or found is None:
        return None
    return _texts(response, "/content", found, "grep")


def _web_fetch(given: Mapping[str, Any], response: Any, read_file: ReadFile) -> ToolOutput | None:
    return _texts(response, "/result", response.get("result") if isinstance(response, dict) else None, None)


def _mcp(given: Mapping[str, Any], response: Any, read_file: ReadFile) -> ToolOutput | None:
    if isinstance(response, str):
        # What the server gave as `structuredContent`; the host hands over its JSON and nothing else.
        return _texts(response, "", response, "mcp", "mcp_blocks") if _is_json(response) else UNKNOWN
    if isinstance(response, dict):
        return _blocks(response, response.get("content"), "/content/")
    return _blocks(response, response, "/")


def _blocks(original: Any, blocks: Any, prefix: str) -> ToolOutput:
    if not isinstance(blocks, list) or not all(
        isinstance(block, dict) and isinstance(block.get("type"), str) for block in blocks
    ):
        return UNKNOWN
    texts = [(f"{prefix}{k}/text", one.get("text")) for k, one in enumerate(blocks) if one["type"] == "text"]
    if not all(isinstance(text, str) for _, text in texts):
        return UNKNOWN
    found = tuple((pointer, text_of(text)) for pointer, text in texts)
    chars = sum(len(text) for _, text in found)
    return ToolOutput("mcp_blocks", found, original, _shown_chars("mcp", chars))


def _glob(given: Mapping[str, Any], response: Any, read_file: ReadFile) -> ToolOutput | None:
    return None if isinstance(response, dict) else UNKNOWN


def _texts(original: Any, pointer: str, text: Any, limit: str | None, shape: Any = "text") -> ToolOutput:
    if not isinstance(text, str):
        return UNKNOWN
    size = None if limit is None else _shown_chars(limit, len(text))
    return ToolOutput(shape, ((pointer, text),), original, size)


def _shown_chars(limit: str, chars: int) -> int:
    """What the host would have shown of so many characters."""
    return chars if chars <= INLINE_CHARS[limit] else PREVIEW_CHARS


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


_READERS: Mapping[str, _Reader] = MappingProxyType(
    {"Bash": _bash, "Read": _read, "Grep": _grep, "Glob": _glob, "WebFetch": _web_fetch}
)
