"""Wiring Admit into Claude Code: the change of a settings file, made in memory first, and its undoing."""

from __future__ import annotations

import difflib
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from admit.errors import SettingsError
from admit.hosts.settings import record
from admit.hosts.settings.edit import Undo
from admit.hosts.settings.file import SettingsFile, read, refusing, write
from admit.hosts.settings.hooks import find, with_hooks, without_hooks
from admit.hosts.settings.record import Edited
from admit.hosts.settings.spans import MARK, parse

from .adapter import NAME
from .entries import Place, command_line, entries, form_for, here, is_ours

FILE = "settings.json"
FOLDER = ".claude"
VERSION_WAIT_S = 20.0
PROJECT_NOTE = (
    "A project's file is read by everyone who works in it, so it holds no path of your home: the lines name "
    "your folders by $HOME, go through a shell, and do nothing where Admit is not in the same place."
)


class Change(NamedTuple):
    """What a settings file is to become.

    Attributes:
        file: As it was read.
        text: As it shall be; None removes the file.
        edited: What the list in the state folder shall say of it; None is nothing.
        lines: Every command line that the new text holds, in its order.
        notes: What the user should know before saying yes.
    """

    file: SettingsFile
    text: str | None
    edited: Edited | None
    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the file would stay as it is."""
        return self.text == self.file.text

    def diff(self) -> str:
        """A unified diff; empty where nothing changes. Line ends and a mark at the start are not shown."""
        old, new = (_lines(text) for text in (self.file.text, self.text))
        return "\n".join(difflib.unified_diff(old, new, self.file.target, self.file.target, lineterm=""))

    def apply(self) -> str | None:
        """Write the file, then the list; where the list cannot be written, the file is as before again.

        Returns:
            The backup of the file as it was; None where there was no file.

        Raises:
            SettingsError: The file was changed by another program meanwhile, or one of the two
                cannot be written.
        """
        backup = None if self.is_empty else write(self.file, self.text)
        try:
            with refusing(record.list_path()):
                made_folder = self._list()
        except SettingsError:
            # What stands in a file must be known to be undone.
            if self.edited is not None and not self.is_empty:
                with suppress(SettingsError):
                    write(self.file._replace(text=self.text), self.file.text)
                    self._leave(self.file.text is None and self.edited.made_folder)
            raise
        self._leave(self.text is None and made_folder)
        return backup

    def _list(self) -> bool:
        """Bring the list up to date; whether the folder of a file that is taken off was made by an init."""
        if self.edited is not None:
            record.keep(self.edited)
            return False
        known = record.of(NAME, self.file.path)
        record.drop(NAME, self.file.path)
        return known is not None and known.made_folder

    def _leave(self, made_folder: bool) -> None:
        """Take away a folder that was made for the file."""
        if made_folder:
            with suppress(OSError):  # others may have put something there
                os.rmdir(os.path.dirname(self.file.target))


def settings_path(scope: str, cwd: str | None = None) -> str:
    """The user's settings file, or the one of the project around a folder.

    Raises:
        SettingsError: The project is the home folder itself.
    """
    home = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), FOLDER)
    user = os.path.join(os.path.abspath(home), FILE)
    if scope == "user":
        return user
    path = os.path.join(_project(cwd or os.getcwd()), FOLDER, FILE)
    if path == user:
        raise SettingsError("the project here is your home folder; leave --project out", path=path)
    return path


def plan_init(
    scope: str,
    *,
    values: Mapping[str, Any],
    cwd: str | None = None,
    version: str | None = None,
    place: Place | None = None,
) -> Change:
    """What a settings file becomes with the hooks of Admit in it. Nothing is written.

    Args:
        scope: ``user`` or ``project``.
        values: The settings in force.
        cwd: A folder in the project; None is the working folder.
        version: The host's; None is unknown and taken for a current one.
        place: The paths in the command lines; None is this installation's.

    Raises:
        SettingsError: The file cannot be edited: it is not JSON (with line and column), has a duplicate key,
            is not this user's, or its hooks have another shape.
    """
    path = settings_path(scope, cwd)
    file = read(path, scope)
    wanted = entries(values, place or here(), form_for(scope, version))
    with _naming(path):
        known = _known(file, scope)
        text, undo = with_hooks(file.text or "", wanted, is_ours, known.undo)
        edited = known._replace(undo=undo)
        lines = tuple(_lines_of(text))
        return Change(file, text, edited, lines, tuple(_notes(text, scope, cwd)))


def plan_remove(scope: str, *, cwd: str | None = None, path: str | None = None) -> Change:
    """What a settings file becomes without any entry of Admit. Nothing is written.

    Args:
        path: The file, where it is known; else the one that `plan_init` would edit.

    Raises:
        SettingsError: The file cannot be edited.
    """
    path = path or settings_path(scope, cwd)
    file, known = read(path, scope), record.of(NAME, path)
    if file.text is None:
        return Change(file, None, None)
    with _naming(path):
        if not find(file.text, is_ours):
            return Change(file, file.text, None)
        text = without_hooks(file.text, is_ours, known.undo if known else None)
        gone = known is not None and known.made_file and _is_bare(text)
        return Change(file, None if gone else text, None)


def host_client() -> str | None:
    """The host's executable on PATH, or None."""
    return shutil.which("claude")


def host_version(client: str) -> str | None:
    """The version that an executable of the host says it has, such as ``2.1.332``, or None."""
    try:
        done = subprocess.run(
            [client, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=VERSION_WAIT_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    word = done.stdout.decode("utf-8", "replace").partition(" ")[0].strip()
    return word if word[:1].isdigit() and len(word) <= 32 and word.isprintable() else None


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Give the errors of a text the name of its file."""
    try:
        yield
    except SettingsError as error:
        if error.path:
            raise
        raise SettingsError(error.message, path=path, line=error.line, column=error.column) from None


def _known(file: SettingsFile, scope: str) -> Edited:
    """What is known of a file; a file without entries of ours begins anew, whatever was known."""
    if find(file.text or "", is_ours):
        return record.of(NAME, file.path) or Edited(NAME, file.path, scope, None)
    made_file = file.text is None
    made_folder = made_file and not os.path.lexists(os.path.dirname(file.target))
    return Edited(NAME, file.path, scope, Undo(), made_file, made_folder)


def _is_bare(text: str) -> bool:
    root = parse(text)
    return root is None or not root.items


def _lines(text: str | None) -> list[str]:
    lines = (text or "").removeprefix(MARK).replace("\r\n", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def _lines_of(text: str) -> Iterator[str]:
    for one in find(text, is_ours):
        for handler in one.value["hooks"] if one.is_group else (one.value,):
            yield command_line(handler)


def _notes(text: str, scope: str, cwd: str | None) -> Iterator[str]:
    root = parse(text)
    if root is not None and root.value.get("disableAllHooks") is True:
        yield "disableAllHooks is true in this file: no hook runs until you take that out."
    if scope == "project":
        yield PROJECT_NOTE
    other = settings_path("user") if scope == "project" else None
    if other is not None:
        with suppress(SettingsError):
            if find(read(other).text or "", is_ours):
                yield f"{other} holds these hooks too: in this project each would run twice."


def _project(start: str) -> str:
    """The nearest folder from `start` up, below the home folder, with `.git` or `.claude`; else `start`."""
    start = os.path.abspath(start)
    folder, home = start, os.path.expanduser("~")
    while folder not in (home, os.path.dirname(folder)):
        if any(os.path.lexists(os.path.join(folder, name)) for name in (".git", FOLDER)):
            return folder
        folder = os.path.dirname(folder)
    return start
