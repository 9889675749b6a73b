"""The hook entries of Admit in Claude Code's settings: one group an event, one command line each.

They are known by the tail of the client's path, whatever comes before it.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import admit.hosts
from admit.hosts.daemon.places import socket_path
from admit.hosts.deadlines import chain, class_of

from .adapter import EVENTS, NAME, STARTERS, WRITERS

TAIL = "/admit/hosts/hook_client.py"
# A version before this one does not know `args`: it would start the bare interpreter. Tried out: 2.1.138 does
# not, 2.1.140 does.
EXEC_FORM_SINCE = (2, 1, 140)
# An event at which there is nothing to do gets no line: each costs the host a process.
WITHOUT = frozenset(("PostToolBatch",))
BEFORE = (*WRITERS, "Bash", *STARTERS)
# Read among them: reading a stored output is a recall. A call that is over starts no subagent any more.
AFTER = ("Bash", "Read", "Grep", "Glob", "WebFetch", "mcp__.*", *STARTERS)

Form = Literal["exec", "shell", "project"]


class Place(NamedTuple):
    """The paths in a command line.

    Attributes:
        python: The interpreter, of the environment that Admit is installed in.
        client: The hook client's file.
        socket: The daemon's.
    """

    python: str
    client: str
    socket: str


def here() -> Place:
    """The paths of this installation."""
    client = os.path.join(os.path.dirname(os.path.abspath(admit.hosts.__file__)), "hook_client.py")
    return Place(os.path.abspath(sys.executable), client, socket_path())


def form_for(scope: str, version: str | None) -> Form:
    """How a command line is written.

    ``exec`` gives the host a list of words; ``shell`` one line, for versions that know no other; ``project``
    a line without any path of a home, that says nothing on a machine without Admit.
    """
    if scope == "project":
        return "project"
    known = _numbers(version) if version else EXEC_FORM_SINCE
    return "exec" if known >= EXEC_FORM_SINCE else "shell"


def entries(values: Mapping[str, Any], place: Place, form: Form) -> dict[str, dict[str, Any]]:
    """One group an event, in the order of a session.

    Args:
        values: The settings in force; the chain of deadlines and the tools come from them.
    """
    groups = {}
    for event, moment in EVENTS.items():
        if event in WITHOUT:
            continue
        steps = chain(values, class_of(moment))
        handler = {"type": "command", **_command(place, event, steps.client, form)}
        group: dict[str, Any] = {"matcher": matcher} if (matcher := _matcher(values, event)) else {}
        groups[event] = {**group, "hooks": [{**handler, "timeout": steps.host // 1000}]}
    return groups


def is_ours(handler: Any) -> bool:
    """Whether a handler of the settings is a command line of Admit, of this or another installation."""
    if not isinstance(handler, dict):
        return False
    args, command = handler.get("args"), handler.get("command")
    if isinstance(args, list):
        return any(isinstance(word, str) and f"/{word}".endswith(TAIL) for word in args)
    return isinstance(command, str) and TAIL in command and " -I -S " in command


def command_line(handler: Mapping[str, Any]) -> str:
    """A handler's command as a shell would take it, for people to read."""
    words = [handler.get("command"), *(handler.get("args") or ())]
    if len(words) == 1:
        return str(words[0])
    return shlex.join(str(word) for word in words)


def place_of(handler: Mapping[str, Any]) -> Place | None:
    """The paths in a command line of ours; None where they cannot be told."""
    args = handler.get("args")
    words = [str(handler.get("command"))]
    if isinstance(args, list):
        words += [str(word) for word in args]
    else:
        line = words[0].partition("; exec ")[2] or words[0]
        try:
            words = [os.path.expandvars(word) for word in shlex.split(line)]
        except ValueError:
            return None
    return Place(words[0], words[3], words[4]) if len(words) == 8 else None


def _command(place: Place, event: str, budget_ms: int, form: Form) -> dict[str, Any]:
    args = ["-I", "-S", place.client, place.socket, NAME, event, str(budget_ms)]
    if form == "exec":
        return {"command": place.python, "args": args}
    if form == "shell":
        return {"command": shlex.join([place.python, *args])}
    python, client, socket = (_without_home(path) for path in place)
    line = f"{python} -I -S {client} {socket} {NAME} {event} {budget_ms}"
    return {"command": f"[ -x {python} ] || exit 0; exec {line}"}


def _without_home(path: str) -> str:
    """A path as a word of a shell line, with the user's own folders by the names of their variables."""
    for name in ("XDG_RUNTIME_DIR", "HOME"):
        folder = os.environ.get(name, "").rstrip("/")
        if folder and path.startswith(f"{folder}/"):
            rest = "".join(f"\\{char}" if char in '\\"$`' else char for char in path[len(folder) :])
            return f'"${name}{rest}"'
    return shlex.quote(path)


def _matcher(values: Mapping[str, Any], event: str) -> str:
    if event == "PreToolUse":
        return "|".join(BEFORE)
    if event not in ("PostToolUse", "PostToolUseFailure"):
        return ""
    patterns = (_pattern(glob) for glob in values[f"hosts.{NAME}.tools"])
    return "|".join(dict.fromkeys((*AFTER, *patterns)))


def _pattern(glob: str) -> str:
    """The regular expression of a glob in a tool's name, as JavaScript reads it."""
    return glob.replace(".", r"\.").replace("*", ".*").replace("?", ".")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
