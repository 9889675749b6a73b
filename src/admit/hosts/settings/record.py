"""The list of settings files that were edited, in the state folder: what there is to undo, and how."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from admit.config.places import private_folder, state_dir

from .edit import Undo

FILE = "inits.json"
SCHEMA = 1
MOST_BYTES = 1 << 20


class Edited(NamedTuple):
    """One settings file that holds entries of ours.

    Attributes:
        host: The adapter's name.
        path: The settings file.
        scope: ``user`` or ``project``.
        undo: How its containers were before the first edit; None is not known.
        made_file: There was no file before.
        made_folder: There was no folder for it either.
    """

    host: str
    path: str
    scope: str
    undo: Undo | None = Undo()
    made_file: bool = False
    made_folder: bool = False


def list_path() -> str:
    """The file that the list is kept in."""
    return os.path.join(state_dir(), FILE)


def edited() -> tuple[Edited, ...]:
    """Every file on the list, in the order they came to it; what cannot be read is left out."""
    with suppress(OSError, ValueError, RecursionError), open(list_path(), "rb") as file:
        value = json.loads(file.read(MOST_BYTES))
        rows = value.get("files") if isinstance(value, dict) else None
        return tuple(filter(None, map(_row, rows if isinstance(rows, list) else ())))
    return ()


def of(host: str, path: str) -> Edited | None:
    """What is known of a file, or None."""
    return next((one for one in edited() if (one.host, one.path) == (host, path)), None)


def keep(one: Edited) -> None:
    """Put a file on the list, in the place of what was known of it.

    Raises:
        OSError: The list cannot be written.
    """
    others = [old for old in edited() if (old.host, old.path) != (one.host, one.path)]
    _write([*others, one])


def drop(host: str, path: str) -> None:
    """Take a file off the list; the list goes with its last file.

    Raises:
        OSError: The list cannot be written.
    """
    others = [old for old in edited() if (old.host, old.path) != (host, path)]
    if others:
        _write(others)
    else:
        with suppress(FileNotFoundError):
            os.unlink(list_path())


def _row(value: Any) -> Edited | None:
    if not isinstance(value, dict):
        return None
    host, path, scope = (value.get(name) for name in ("host", "path", "scope"))
    if not (isinstance(host, str) and isinstance(path, str) and isinstance(scope, str)):
        return None
    made_file, made_folder = value.get("made_file") is True, value.get("made_folder") is True
    return Edited(host, path, scope, _undo(value.get("undo")), made_file, made_folder)


def _undo(value: Any) -> Undo | None:
    absent, literal = (value.get("absent"), value.get("literal")) if isinstance(value, dict) else (None, None)
    if not isinstance(absent, list) or not isinstance(literal, dict):
        return None
    texts = [*absent, *literal.values()]
    return Undo(tuple(absent), literal) if all(isinstance(one, str) for one in texts) else None


def _write(rows: Iterable[Edited]) -> None:
    path = list_path()
    private_folder(os.path.dirname(path))
    files = [{**one._asdict(), "undo": None if one.undo is None else one.undo._asdict()} for one in rows]
    fresh = f"{path}.{os.urandom(8).hex()}"
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        json.dump({"schema": SCHEMA, "files": files}, file, indent=1)
    os.replace(fresh, path)
