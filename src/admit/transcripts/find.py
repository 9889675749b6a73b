"""Which transcripts there are: in the hosts' usual places, or under a folder. Nothing is written or followed.

The window counts back from the newest tool use that is found, so the same files always give the same answer.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import BinaryIO, NamedTuple

from .files import can_decompress, is_own_file, open_own
from .lines import JsonLines
from .model import NO_COUNTS, Host, time_ms

DAY_MS = 86_400_000
TAILS = (64 << 10, 1 << 20, 16 << 20)
SUBAGENTS = "subagents"
COMPACTING_AGENT = "agent-acompact-"
INSIDE = ("projects", "sessions", "archived_sessions")
NO_SESSIONS = frozenset(("history.jsonl", "session_index.jsonl"))  # of the hosts, beside their sessions
NOT_ENTERED = frozenset(("tool-results", "node_modules", ".git"))


class Transcript(NamedTuple):
    """The files of one recorded session.

    Attributes:
        path: The main file; the first agent's where the main one is gone.
        folder: The session's own folder beside it, which may not exist.
        agents: Files of its subagents, by name.
        last_ms: When its last record was written, UTC epoch milliseconds.
        anchor: What a window can count back from, the better the higher: 2 and the time of the last tool use,
            1 and that of the last record, 0 and the file's own.
    """

    host: Host
    session: str
    path: str
    folder: str = ""
    agents: tuple[str, ...] = ()
    last_ms: int = 0
    anchor: tuple[int, int] = (0, 0)


class Found(NamedTuple):
    """What was found.

    Attributes:
        transcripts: Those with a record in the window, by host and path.
        since_ms, last_ms: The window, both ends included; 0 where nothing was found.
        older: Transcripts that end before the window.
        skipped: Files that were left out, by reason: ``symlink``, ``not ours``, ``unreadable``,
            ``copy`` (the same session stands in another file), ``zst`` (zstandard is not installed).
    """

    transcripts: tuple[Transcript, ...] = ()
    since_ms: int = 0
    last_ms: int = 0
    older: int = 0
    skipped: Mapping[str, int] = NO_COUNTS


def default_places() -> tuple[str, ...]:
    """The folders where Claude Code and Codex keep their files, whether they exist or not."""
    home = os.path.expanduser("~")
    return (
        os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude"),
        os.environ.get("CODEX_HOME") or os.path.join(home, ".codex"),
    )


def find(places: Iterable[str], days: int) -> Found:
    """Every transcript at these places with a record in the last `days` days before the newest tool use.

    Where no tool was used, the newest record counts, and where no record says when, the newest file.

    A place is a host's folder, any folder inside it, or one transcript.
    """
    skipped: Counter[str] = Counter()
    files = [path for place in places for path in _files(place, skipped)]
    files = list(dict.fromkeys(files))
    named = [path for path in files if os.path.basename(path).startswith("rollout-")]
    codex = set(named)
    everything = [*_claude([path for path in files if path not in codex], skipped), *_codex(named, skipped)]
    _, last = max((one.anchor for one in everything), default=(0, 0))
    since = max(0, last - days * DAY_MS)
    chosen = sorted((one for one in everything if one.last_ms >= since), key=lambda one: one[:3])
    return Found(tuple(chosen), since, last, len(everything) - len(chosen), dict(sorted((+skipped).items())))


def agent_name(path: str) -> str:
    """A subagent's id, from its file's name; empty for a main file."""
    name = os.path.basename(path)
    return name[len("agent-") : -len(".jsonl")] if name.startswith("agent-") else ""


def _files(place: str, skipped: Counter[str]) -> Iterator[str]:
    """The files of one place that may be transcripts, in order."""
    root = os.path.realpath(place)
    if os.path.isfile(root):
        yield from _kept(root, skipped)
        return
    inside = [name for name in INSIDE if _is_folder(os.path.join(root, name))]
    for folder, folders, names in os.walk(root):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        skipped["symlink"] += len(links)
        folders[:] = sorted(name for name in folders if name not in NOT_ENTERED and name not in links)
        if folder == root:
            folders[:] = [*inside, *(name for name in folders if name not in inside)]  # archived copies last
        for name in sorted(names):
            if folder == root and inside and name in NO_SESSIONS:
                continue
            if name.endswith((".jsonl", ".jsonl.zst")) and not name.startswith(COMPACTING_AGENT):
                yield from _kept(os.path.join(folder, name), skipped)


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _kept(path: str, skipped: Counter[str]) -> Iterator[str]:
    try:
        info = os.lstat(path)
    except OSError:
        skipped["unreadable"] += 1
        return
    if os.path.islink(path):
        skipped["symlink"] += 1
    elif not is_own_file(info):
        skipped["not ours"] += 1
    else:
        yield path


def _claude(files: Iterable[str], skipped: Counter[str]) -> Iterator[Transcript]:
    """Main files with the files of their subagents: below the session's folder, or beside the main file."""
    mains: dict[tuple[str, str], str] = {}
    agents: dict[tuple[str, str], list[str]] = {}
    for path in files:
        folder, name = os.path.split(path)
        above, _, below = folder.rpartition(f"{os.sep}{SUBAGENTS}")
        if above and below[:1] in ("", os.sep):
            agents.setdefault((os.path.dirname(above), os.path.basename(above)), []).append(path)
        elif agent_name(path):
            agents.setdefault((folder, _session_of(path) or name.removesuffix(".jsonl")), []).append(path)
        elif path.endswith(".zst"):
            skipped["zst"] += 1
        else:
            mains[folder, name.removesuffix(".jsonl")] = path
    for project, session in sorted(mains.keys() | agents.keys()):
        own = tuple(sorted(agents.get((project, session), ())))
        main = mains.get((project, session)) or own[0]
        times = [_times(path) for path in (main, *own)]
        last, anchor = max(last for last, _ in times), max(anchor for _, anchor in times)
        yield Transcript("claude-code", session, main, os.path.join(project, session), own, last, anchor)


def _codex(files: Iterable[str], skipped: Counter[str]) -> Iterator[Transcript]:
    """One file a session: plain before compressed, the first place before the others."""
    chosen: dict[str, str] = {}
    for path in sorted(files, key=lambda path: path.endswith(".zst")):
        stem = os.path.basename(path).removesuffix(".zst").removesuffix(".jsonl")
        if stem in chosen:
            skipped["copy"] += 1
        elif path.endswith(".zst") and not can_decompress():
            skipped["zst"] += 1
        else:
            chosen[stem] = path
    for stem, path in chosen.items():
        named = _uuid().search(stem)
        last, anchor = _times(path)
        yield Transcript("codex", named[0] if named else stem, path, last_ms=last, anchor=anchor)


def _session_of(path: str) -> str:
    """The session that the first record of an agent's file names."""
    try:
        with open_own(path) as file:
            for record in JsonLines(file):
                session = record.get("sessionId")
                return session if isinstance(session, str) else ""
    except OSError:
        pass
    return ""


def _times(path: str) -> tuple[int, tuple[int, int]]:
    """When the last record was written, and what a window can count back from, as in `Transcript`.

    No record is younger than its file: a time more than a day later, left for clocks that disagree, says
    nothing.
    """
    try:
        with open_own(path) as file:
            modified = int(os.fstat(file.fileno()).st_mtime * 1000)
            if path.endswith(".zst"):
                return modified, (0, modified)
            last = _last_stamp(file, modified + DAY_MS)
            used = None if last is None else _last_stamp(file, modified + DAY_MS, _tool_use())
    except OSError:
        return 0, (0, 0)
    if last is None:
        return modified, (0, modified)
    return last, (1, last) if used is None else (2, used)


def _last_stamp(file: BinaryIO, latest_ms: int, within: re.Pattern[bytes] | None = None) -> int | None:
    """The last timestamp up to a time, of a line that holds a pattern; the end of the file is tried first."""
    size = file.seek(0, os.SEEK_END)
    for tail in TAILS:  # records may be long, and hold it before their text
        file.seek(max(0, size - tail))
        for line in reversed(file.read(tail).split(b"\n")):
            if within is not None and not within.search(line):
                continue
            for stamp in reversed(_timestamp().findall(line)):
                ms = time_ms(stamp.decode("ascii"))
                if ms is not None and ms <= latest_ms:
                    return ms
        if tail >= size:
            break
    return None


@lru_cache(maxsize=1)
def _tool_use() -> re.Pattern[bytes]:
    return re.compile(
        rb'"type": ?"(?:tool_use|tool_result|local_shell_call|(?:function|custom_tool)_call(?:_output)?)"'
    )


@lru_cache(maxsize=1)
def _timestamp() -> re.Pattern[bytes]:
    return re.compile(rb'"timestamp": ?"([0-9T:.Z+-]{10,40})"')


@lru_cache(maxsize=1)
def _uuid() -> re.Pattern[str]:
    return re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
