"""What the commands of the evidence door share: options, the base, its notes, progress on a terminal."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from admit.cli.frame import counted
from admit.config.check import visible
from admit.config.private import replace_whole
from admit.errors import UsageError

if TYPE_CHECKING:
    from admit.errors import NoteError
    from admit.evidence.base import Base
    from admit.evidence.criterion import Criterion
    from admit.evidence.model import Finding

SCHEMA = "admit.evidence/1"
GROUNDING = "grounding-alignment"
"""The criterion of a review that names none."""

MOST_NOTES = 40
"""Notes up to this many stand in a table one by one."""

_F = TypeVar("_F", bound=Callable[..., Any])


class Notes(NamedTuple):
    """The notes of a command, in byte order of their paths.

    Attributes:
        skipped: What was passed over below the given folders, counts by reason.
    """

    base: Base
    paths: tuple[str, ...]
    skipped: Counter[str]


def root_option(command: _F) -> _F:
    """Give a command `--root`."""
    return click.option(
        "--root",
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False),
        help="The root of links; without it the folder above with .admit.toml, .git or .obsidian.",
    )(command)


def paths_argument(*, required: bool) -> Callable[[_F], _F]:
    """Give a command its files and folders."""

    def add(command: _F) -> _F:
        metavar = "PATH…" if required else "[PATH…]"
        return click.argument("paths", nargs=-1, required=required, metavar=metavar, type=click.Path())(
            command
        )

    return add


def top_option(command: _F) -> _F:
    """Give a command `--top`."""
    return click.option("--top", is_flag=True, help="Not what lies in folders below.")(command)


def open_base(paths: Sequence[str], root: str | None) -> Base:
    """The base that these files and folders lie in.

    Raises:
        UsageError: One of them is not there, or they have no one root.
    """
    from admit.evidence.base import Base, common_root

    for path in paths:
        if not os.path.lexists(path):
            name = visible(path, 200)
            raise UsageError(f"there is no {name}; name a Markdown file, or a folder that holds some")
    return Base.open(root or common_root(paths or (os.curdir,)))


def notes_of(base: Base, paths: Sequence[str], *, top: bool = False) -> Notes:
    """The Markdown files that are meant; without a path all of the folder the command runs in.

    Raises:
        NoteError: One lies outside of the root.
    """
    from admit.evidence.scope import find

    scope = find(base, paths or (os.curdir,), top=top)
    return Notes(base, scope.notes, scope.skipped)


def said_scope(notes: Notes, outside: int = 0) -> list[str]:
    """What was passed over, and where the root is when that is not the working folder.

    Args:
        outside: Links that leave the root, a count.
    """
    lines = []
    if outside:
        lines.append(f"{counted(outside, 'link')} out of the root: --root DIR takes a wider one")
    if notes.skipped:
        parts = (f"{count:,} {reason}" for reason, count in sorted(notes.skipped.items()))
        lines.append(f"passed over: {', '.join(parts)}")
    if (root := os.path.relpath(notes.base.root)) != os.curdir:
        lines.append(f"paths start at the root, {visible(root, 200)}")
    return lines


def criteria_of(base: Base, names: Sequence[str]) -> tuple[Criterion, ...]:
    """The criteria of these names, each once, in the order given.

    Raises:
        CriterionError: There is none of a name, or it is not as it should be.
    """
    from admit.evidence.criteria import load

    return tuple(load(base, name) for name in dict.fromkeys(names))


def write_sarif(
    path: str,
    base: Base,
    findings: Sequence[Finding],
    reviews: Sequence[Any] = (),
    unread: Sequence[NoteError] = (),
) -> None:
    """Write findings as SARIF 2.1.0, whole or not at all.

    Args:
        unread: Notes that could not be read; the run was then not successful.

    Raises:
        UsageError: It cannot be written.
    """
    from admit.evidence.sarif import sarif

    text = json.dumps(sarif(base, findings, reviews, unread), indent=2, ensure_ascii=True)
    try:
        replace_whole(path, f"{text}\n".encode())
    except OSError as fault:
        raise UsageError(f"{path} cannot be written: {fault.strerror or fault}") from fault


class Progress:
    """One line on standard error that tells how far long work is; nothing where that is no terminal."""

    def __init__(self, of: int, noun: str, *, quiet: bool = False) -> None:
        self._of, self._noun = of, noun
        self._shown = not quiet and sys.stderr.isatty()
        self._done = 0

    def step(self, more: str = "") -> None:
        """One more is done."""
        self._done += 1
        if self._shown:
            text = f"\r\x1b[K{self._done:,} of {counted(self._of, self._noun)}{f', {more}' if more else ''}"
            with suppress(OSError):
                click.echo(text, nl=False, err=True)

    def end(self) -> None:
        """Take the line away."""
        if self._shown and self._done:
            with suppress(OSError):
                click.echo("\r\x1b[K", nl=False, err=True)
