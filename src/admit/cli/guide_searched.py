"""What `admit guide` says where nothing was set off: each place searched, and what to do first."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from admit.cli.frame import counted
from admit.config.check import visible
from admit.config.layers import section
from admit.errors import GuidanceError
from admit.guidance.changes import HEARD
from admit.guidance.roots import project_folder, user_ways
from admit.text.table import table

if TYPE_CHECKING:
    from admit.cli.guide_words import Told
    from admit.guidance.model import Lane, Searched, Snippet, Trigger

HOST_FILES = ("CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md", ".github/copilot-instructions.md")
"""Instructions that a host reads whole by itself, below a project."""


WAITS = (
    ("commands", "a command", " (--command C)"),
    ("files", "a file to be written", " (--file F)"),
    ("pattern", "a message", " (--prompt P)"),
    ("semantic", "a message", " (--prompt P)"),
    ("mention", "their @name in a message", ""),
    ("state", "a state, such as the start of a session", ""),
)
"""Kinds of trigger, what each waits for, and the option that tries it."""


def searched_lines(told: Told) -> list[str]:
    """Every root with what it holds, the files that are the host's business, and the commands that help."""
    searched = told.gate.library.guidance.searched
    rows = [_row(one) for one in searched]
    said = [table(rows, ("searched", "kind", "of", "files", "loaded", ""), right=(3, 4))]
    for host in sorted({one.root.left_to for one in searched if one.root.left_to and one.files}):
        said.append(f"{host} loads its own files itself, so they are left to it; --host none reads them.")
    said += ["", *_advice(told)]
    if told.gate.findings:
        said.append(f"{counted(len(told.gate.findings), 'finding')} in the files: admit guide lint")
    return said


def host_files(cwd: str) -> Iterator[str]:
    """The files of the project, and of the home, that a host loads whole by itself."""
    project = project_folder(cwd)
    for name in HOST_FILES:
        if os.path.isfile(os.path.join(project, name)):
            yield os.path.join(project, name)
    home = os.path.expanduser("~/.claude/CLAUDE.md")
    if os.path.isfile(home):
        yield home


def _advice(told: Told) -> Iterator[str]:
    for path in host_files(told.surface.cwd):
        shown = visible(_short(path, told.surface.cwd))
        yield f"{shown} is the host's business: it is in the context whole, at every turn."
        moves = _sections(path)
        if moves:
            yield f"    {counted(moves, 'section')} of it could wait until needed: admit guide split {shown}"
        elif moves == 0:
            yield "    It has no section that could wait: each is short, or says always, never or must."
    snippets = told.gate.library.guidance.snippets
    if not snippets:
        yield "There is no guidance yet. A pack to begin with: admit guide starter"
        yield "    copied to your own ways: admit guide starter --apply"
        own = visible(_short(user_ways(), told.surface.cwd))
        yield f"Your own: {own}/NAME/NAME.md, or for this project .claude/ways/NAME/NAME.md"
        return
    yield f"{counted(len(snippets), 'snippet')} loaded, none set off. What sets each off: admit guide list"
    yield from _waiting(snippets, told.surface.lane)
    yield from _nearest(told)
    if all(one.source != "agent-ways" for one in snippets):
        yield "More, written for any project: admit guide starter"


def _waiting(snippets: Iterable[Snippet], lane: Lane) -> Iterator[str]:
    """How many wait for something that this lane never brings, by what that is."""
    waiting: Counter[str] = Counter()
    for one in snippets:
        if not any(_is_heard(trigger, lane) for trigger in one.triggers):
            kinds = {trigger.kind for trigger in one.triggers}
            waiting.update({f"{what}{how}" for kind, what, how in WAITS if kind in kinds})
    for what in dict.fromkeys(f"{what}{how}" for _, what, how in WAITS):
        if waiting[what]:
            yield f"    {waiting[what]:,} cannot be set off by a {lane}, but by {what}"


def _nearest(told: Told) -> Iterator[str]:
    """The one that came nearest to being set off by its meaning, where that is not far away."""
    bars = section(told.config.values, "guidance.matcher")
    near = [(one.score or 0.0, one.id) for one in told.result.outcomes if one.stage == "below_threshold"]
    p, name = max(near, default=(0.0, ""))
    if p >= bars["veto_floor"]:
        shown = visible(name)
        yield f"    nearest by meaning: {shown}, p {p:.3f} of {bars['admit']:g}; more by --why {shown}"


def _is_heard(trigger: Trigger, lane: Lane) -> bool:
    return trigger.kind in HEARD[lane] and (lane == "state" or trigger.text != "session-start")


def _sections(path: str) -> int | None:
    """How many sections could move; None where the file cannot be read."""
    from admit.guidance.split_files import propose

    try:
        return len(propose(path).split.sections)
    except GuidanceError:
        return None


def _row(one: Searched) -> tuple[str, ...]:
    note = "" if one.exists else "not there"
    if one.root.left_to and one.exists:
        note = f"left to {one.root.left_to}"
    home = os.path.expanduser("~")
    folder = one.root.folder
    short = f"~{folder[len(home) :]}" if folder.startswith(home + os.sep) else folder
    return (
        visible(short),
        one.root.kind,
        one.root.source,
        f"{one.files:,}" if one.exists else "",
        f"{one.loaded:,}" if one.exists else "",
        note,
    )


def _short(path: str, cwd: str) -> str:
    if path.startswith(cwd.rstrip(os.sep) + os.sep):
        return path[len(cwd.rstrip(os.sep)) + 1 :]
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if path.startswith(home + os.sep) else path
