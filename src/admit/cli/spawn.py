"""Starting a command exactly as a shell would: its environment, signals and open files as they came."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

NOT_FOUND, NOT_EXECUTABLE = 127, 126
# The interpreter ignores these; a command expects them as they are elsewhere.
IGNORED_BY_PYTHON = tuple(getattr(signal, name) for name in ("SIGPIPE", "SIGXFSZ") if hasattr(signal, name))


class CannotStart(Exception):
    """The command cannot be started; `code` is what a shell would give: 127 not found, 126 not executable."""

    def __init__(self, command: str, error: OSError) -> None:
        missing = isinstance(error, FileNotFoundError)
        super().__init__(f"{command}: {'command not found' if missing else error.strerror}")
        self.code = NOT_FOUND if missing else NOT_EXECUTABLE


def spawn(argv: Sequence[str], options: dict[str, Any]) -> int:
    """Start the command and give its process id; `options` are those of `os.posix_spawn`.

    Raises:
        CannotStart: It is not found or not executable.
    """
    return _started(os.posix_spawnp, argv, options)


def become(argv: Sequence[str]) -> NoReturn:
    """Replace this process by the command.

    Raises:
        CannotStart: It is not found or not executable.
    """
    for number in IGNORED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    raise AssertionError(_started(os.execvpe, argv, {}))


def _started(call: Callable[..., int], argv: Sequence[str], options: dict[str, Any]) -> int:
    """Start by `call`; a text without an interpreter line goes to `sh`, as a shell does it."""
    try:
        if not argv[0]:
            raise FileNotFoundError
        try:
            return call(argv[0], list(argv), environment(), **options)
        except OSError as error:
            if error.errno != errno.ENOEXEC:
                raise
            import shutil

            script = ["sh", shutil.which(argv[0]) or argv[0], *argv[1:]]
            return call("/bin/sh", script, environment(), **options)
    except OSError as error:
        raise CannotStart(argv[0] or "''", error) from None


def environment() -> dict[str, str]:
    """The environment as it came: the interpreter may have set `LC_CTYPE` at its start (PEP 538)."""
    now = dict(os.environ)
    try:
        with open("/proc/self/environ", "rb") as file:
            names = [entry.partition(b"=") for entry in file.read().split(b"\0")]
    except OSError:
        return now
    came = {os.fsdecode(name): os.fsdecode(value) for name, _, value in names}
    now.pop("LC_CTYPE", None)
    return now | {name: came[name] for name in ("LC_CTYPE",) if name in came}
