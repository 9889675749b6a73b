"""Taking Admit off a machine: every settings file as it was, the daemon stopped, its own folders on request.

Nothing outside Admit's folders and its own entries is ever touched.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from admit.config.places import cache_dir, config_dir, state_dir
from admit.errors import SettingsError
from admit.ledger.places import places

from .claude_code.adapter import NAME
from .claude_code.init import Change, plan_remove, settings_path
from .daemon.places import LOCK, STAMP, beside, socket_path
from .settings import record
from .settings.file import backups


class Broken(NamedTuple):
    """A settings file whose entries cannot be taken out, and why."""

    path: str
    why: str


class Deletion(NamedTuple):
    """Something of Admit's own that can be deleted.

    Attributes:
        what: As a question names it.
        paths: Files and folders.
        size_bytes: Of everything in it.
    """

    what: str
    paths: tuple[str, ...]
    size_bytes: int


def changes(cwd: str | None = None) -> tuple[tuple[Change, ...], tuple[Broken, ...]]:
    """Every settings file that holds entries of ours, as it will be without them.

    Looked at are the files that an init wrote, and those where one would write from here.
    """
    found: dict[str, Change] = {}
    broken: list[Broken] = []
    for scope, path in dict.fromkeys(_candidates(cwd)):
        try:
            change = plan_remove(scope, path=path)
        except SettingsError as error:
            broken.append(Broken(path, error.message if not error.line else str(error)))
            continue
        if not change.is_empty or record.of(NAME, path) is not None:
            found.setdefault(path, change)
    return tuple(found.values()), tuple(broken)


def deletions(
    values: Mapping[str, Any], edited: Sequence[str], *, keep_list: bool = False
) -> tuple[Deletion, ...]:
    """What of Admit's own is there, in the order in which it is asked about.

    Args:
        values: The settings in force.
        edited: Settings files, whose backups are ours.
        keep_list: Entries are still there, so the list of where they are is no part of it.
    """
    state, place = state_dir(), places(values)
    inside = os.path.dirname(place.database) == state
    name = os.path.basename(place.database)
    record_files = [path for path in _in(state) if inside and os.path.basename(path).startswith(name)]
    record_files += [place.spool, place.key]
    rest = [path for path in _in(state) if path not in (*record_files, place.outputs)]
    rest = [path for path in rest if not (keep_list and path == record.list_path())]
    kept = [path for one in edited for path in backups(one)]
    socket = socket_path()
    beside_socket = [beside(socket, name) for name in (LOCK, STAMP)]
    groups = {
        "the stored outputs": [place.outputs],
        "the record": record_files,
        "logs, self-tests and other state": rest,
        "your settings of Admit, keys and consent among them": [config_dir()],
        "the caches": [cache_dir()],
        "the daemon's lock and stamp": [] if _within(socket, cache_dir()) else beside_socket,
        "backups of settings files": kept,
    }
    found = ((what, tuple(path for path in paths if os.path.lexists(path))) for what, paths in groups.items())
    return tuple(Deletion(what, paths, sum(map(_size, paths))) for what, paths in found if paths)


def left_alone(values: Mapping[str, Any]) -> tuple[str, ...]:
    """What is Admit's but lies elsewhere, and so is never deleted here."""
    database = places(values).database
    elsewhere = os.path.dirname(database) != state_dir() and os.path.lexists(database)
    return (database,) if elsewhere else ()


def delete(one: Deletion) -> None:
    """Delete it; a link goes, what it leads to stays. The folder around it goes too where it is empty then.

    Raises:
        OSError: Something cannot be deleted.
    """
    for path in one.paths:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    for folder in (state_dir(), os.path.dirname(socket_path())):
        with suppress(OSError):
            os.rmdir(folder)


def _candidates(cwd: str | None) -> Iterator[tuple[str, str]]:
    for one in record.edited():
        if one.host == NAME:
            yield one.scope, one.path
    for scope in ("user", "project"):
        with suppress(SettingsError, OSError):  # no project here, or no folder any more
            yield scope, settings_path(scope, cwd)


def _within(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))


def _in(folder: str) -> list[str]:
    with suppress(OSError):
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    return []


def _size(path: str) -> int:
    total = 0
    with suppress(OSError):
        total = os.lstat(path).st_size
    if os.path.isdir(path) and not os.path.islink(path):
        total = sum(_size(inner) for inner in _in(path))
    return total
