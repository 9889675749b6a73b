"""Whether an agent went back for an output: recalled it, read the file behind it, or asked again for a part.

Asking again is the same command, file, search or address with another range or filter, within the next ten
calls and before a file is changed; the very same call again is a repeat, not a return.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from admit.outputs.nonce import header_id
from admit.transcripts.model import ToolUse, input_texts

WITHIN = 10
LEAST_LINE_CHARS = 8
Way = Literal["recall", "stored", "again"]
Held = Literal["saved", "still", "unknown"]

# Programs that print a part of what they are given.
FILTERS = frozenset(
    """
    awk cat column cut egrep fgrep fold gawk grep head jq less more nl rg sed sort tail tee tr uniq wc yq
    """.split()  # noqa: SIM905
)
# Programs that print a file, or a part of it, when their last word is its path.
READERS = frozenset("cat head tail sed less more nl bat awk gawk grep egrep fgrep rg jq yq".split())  # noqa: SIM905
# Arguments of a call that choose a part of the same thing.
PAGING = frozenset(
    """
    -A -B -C -i -n count cursor end end_line glob head_limit length limit line_end line_start lines
    max_results max_tokens multiline offset output_mode page page_size pageToken per_page prompt start
    start_line type view_range
    """.split()  # noqa: SIM905
)


class Return(NamedTuple):
    """A later call that went back for an output."""

    way: Way
    use: ToolUse


def find_return(uses: Sequence[ToolUse], index: int) -> Return | None:
    """The first later call of the same agent that went back for the result of this one."""
    use = uses[index]
    if use.result_order is None:
        return None
    names = tuple(_names(use))
    source = source_of(use)
    left = WITHIN
    for later in uses[index + 1 :]:
        if later.agent != use.agent or later.order < use.result_order or later.answer == use.answer:
            continue
        texts = input_texts(later.input)
        if any(name in text for name in names for text in texts):
            return Return("recall" if any(name.startswith("o_") for name in names) else "stored", later)
        if left > 0 and source is not None and later.input != use.input and source_of(later) == source:
            return Return("again", later)
        left = 0 if changes_files(later) else left - 1
        if left <= 0 and not names:
            return None
    return None


def source_of(use: ToolUse) -> tuple[str, ...] | None:
    """What a call reads, whatever part of it; None where that cannot be said."""
    given = use.input
    if use.kind == "command":
        return _command_source(use.command)
    if use.kind == "file_read":
        path = given.get("file_path") or given.get("path") or given.get("notebook_path")
        return ("file", os.path.normpath(path)) if isinstance(path, str) else None
    if use.kind == "search":
        pattern = given.get("pattern")
        return ("search", pattern) if isinstance(pattern, str) else None
    if use.kind in ("fetch", "mcp"):
        rest = sorted((key, repr(value)) for key, value in given.items() if key not in PAGING)
        return (use.tool, *(text for pair in rest for text in pair))
    return None


def changes_files(use: ToolUse) -> bool:
    """Whether a call changes files, so that what comes after is no longer the same output."""
    if use.kind == "edit":
        return True
    return use.kind == "command" and _changes().search(_harmless().sub("", use.command[:20_000])) is not None


def held_by(returned: str, original: str, kept: str) -> Held:
    """Whether the kept text already held what an agent went back for.

    ``saved`` when it holds every line of the returned text that the original has, ``still`` when it does not,
    ``unknown`` when no line of it is one of the original's.
    """
    wanted = set(_lines(returned)) & set(_lines(original))
    if not wanted:
        return "unknown"
    return "saved" if wanted <= set(_lines(kept)) else "still"


def _names(use: ToolUse) -> Iterator[str]:
    """What a call holds that goes back by name: an output's id, or the stored file's own name."""
    named = header_id(use.shown or "")
    if named is not None:
        yield named[1]
    elif use.stored_path:
        yield os.path.basename(use.stored_path)


def _command_source(command: str) -> tuple[str, ...] | None:
    """The file that is printed, or the command without its filters and counts."""
    stages = [stage for stage in map(str.strip, _stages(_harmless().sub("", command))) if stage]
    if not stages:
        return None
    first = _words(_after_cd(stages[0]))
    if not first:
        return None
    program = os.path.basename(first[0])
    paths = [word for word in first[1:] if not word.startswith("-")]
    recursive = any(re.fullmatch(r"-[a-zA-Z]*[rR][a-zA-Z]*|--recursive", word) for word in first[1:])
    if program in ("grep", "egrep", "rg") and paths and (recursive or program == "rg" or len(paths) != 2):
        return ("search", paths[0])
    if program in READERS and paths and ("/" in paths[-1] or "." in paths[-1]):
        return ("file", os.path.normpath(paths[-1]))
    kept = [stage for stage in stages[1:] if os.path.basename((_words(stage) or [""])[0]) not in FILTERS]
    return ("command", " ".join(_uncounted(first)), *kept)


def _stages(command: str) -> Iterator[str]:
    """The stages of a pipeline; a bar inside quotes is no border."""
    start, quote = 0, ""
    for at, character in enumerate(command):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "|" and command[at - 1 : at] != "|" and command[at + 1 : at + 2] != "|":
            yield command[start:at]
            start = at + 1
    yield command[start:]


def _after_cd(stage: str) -> str:
    """A command without the change of folder before it."""
    moved = re.match(r"cd [^&;|]+(?:&&|;)\s*", stage)
    return stage[moved.end() :] if moved else stage


def _words(stage: str) -> list[str]:
    try:
        return shlex.split(stage)
    except ValueError:
        return stage.split()


def _uncounted(words: Sequence[str]) -> Iterator[str]:
    """Words without options that only choose how much is printed, such as ``-20`` or ``-n 20``."""
    skip = False
    for word in words:
        if skip or re.fullmatch(r"-\d+|-n\d+|--(?:max-count|tail|lines|limit)=\d+", word):
            skip = False
        elif word in ("-n", "--max-count", "--tail", "--lines", "--limit"):
            skip = True
        else:
            yield word


def _lines(text: str) -> Iterator[str]:
    """Lines without the numbers that readers print before them, those that say something."""
    for line in text.split("\n"):
        bare = _number().sub("", line).strip()
        if len(bare) >= LEAST_LINE_CHARS:
            yield bare


@lru_cache(maxsize=1)
def _number() -> re.Pattern[str]:
    return re.compile(r"^\s*\d{1,7}(?:[:\t→-]|  )")


@lru_cache(maxsize=1)
def _harmless() -> re.Pattern[str]:
    """Redirections that change no file, and `|| true`."""
    return re.compile(r"\d?>&\d|[\d&]?>>?\s*/dev/(?:null|stdout|stderr)|\|\|\s*true\b")


@lru_cache(maxsize=1)
def _changes() -> re.Pattern[str]:
    return re.compile(
        r"\bsed\s+(?:-\S+\s+)*-\w*i|>\s*[\w./~$\"']|\bgit\s+(?:apply|checkout|stash|reset|restore|pull|merge)\b"
        r"|\b(?:patch|apply_patch|mv|cp|rm|tee)\s|\b(?:npm|pip|uv|cargo|apt|apt-get|yarn|pnpm)\s+(?:install|add|i)\b"
    )
