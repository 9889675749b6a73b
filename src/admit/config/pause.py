"""A pause: everything passes as without Admit, until a time or until `resume`.

A small file in the state folder; `ADMIT_OFF=1` in the environment pauses too.
"""

from __future__ import annotations

import os
from time import time
from typing import NamedTuple

from admit.config.places import private_folder, state_dir


class Pause(NamedTuple):
    """A pause that holds now.

    Attributes:
        by: ``admit pause`` or ``ADMIT_OFF=1``.
        until_ms: When it ends by itself, UTC epoch milliseconds; None is not before `resume`.
    """

    by: str
    until_ms: int | None = None


def paused() -> Pause | None:
    """The pause that holds now, or None."""
    if os.environ.get("ADMIT_OFF") == "1":
        return Pause("ADMIT_OFF=1")
    try:
        with open(_file(), encoding="ascii", errors="replace") as file:
            text = file.read(64).strip()
    except OSError:
        return None
    if not text.isdigit():
        return Pause("admit pause")
    until_ms = int(text)
    return Pause("admit pause", until_ms) if time() * 1000 < until_ms else None


def pause(minutes: float | None = None) -> Pause:
    """Pause for so many minutes, or until `resume`.

    Raises:
        OSError: The file in the state folder cannot be written.
    """
    until_ms = None if minutes is None else int((time() + minutes * 60) * 1000)
    path = _file()
    private_folder(os.path.dirname(path))
    temporary = f"{path}.{os.getpid()}"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w", encoding="ascii") as file:
        file.write("until resume\n" if until_ms is None else f"{until_ms}\n")
    os.replace(temporary, path)
    return Pause("admit pause", until_ms)


def resume() -> bool:
    """End the pause; False where there was none.

    Raises:
        OSError: The file in the state folder cannot be removed.
    """
    try:
        os.unlink(_file())
    except FileNotFoundError:
        return False
    return True


def _file() -> str:
    return os.path.join(state_dir(), "paused")
