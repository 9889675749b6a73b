"""In which order outputs were stored, whatever the clock said: one hash a line, the last stored last."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from .places import open_file, read_all, write_all

NAME = ".order"
LINE_BYTES = 65
# At twice so many lines the older half goes; what is in no line counts as stored before all that is.
LINES = 2_000


def note(folder: str, sha256: str, fs: Any = os) -> None:
    """Write down that this one was stored now. Never raises: without it the clock gives the order."""
    path = os.path.join(folder, NAME)
    with suppress(OSError):
        fd = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, fs)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            if fs.fstat(fd).st_size >= 2 * LINES * LINE_BYTES:
                kept = read_all(path, fs)[-LINES * LINE_BYTES :]
                fs.ftruncate(fd, 0)
                write_all(fd, kept, fs)
            write_all(fd, f"{sha256}\n".encode(), fs)
        finally:
            fs.close(fd)


def order(folder: str, fs: Any = os) -> Mapping[str, int]:
    """The place of each hash, from 1, the last stored highest; a hash that is not in it was stored before."""
    try:
        lines = read_all(os.path.join(folder, NAME), fs).decode("ascii", "replace").split("\n")
    except OSError:
        return {}
    return {sha256: place for place, sha256 in enumerate(lines, 1)}
