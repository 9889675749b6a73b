"""File operations that fail when told to, and disks that are full or cannot be written."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

OPERATIONS = frozenset(
    (
        *("chmod", "close", "fstat", "ftruncate", "link", "listdir", "lstat", "makedirs", "mkdir", "open"),
        *("pread", "pwrite", "read", "rename", "replace", "stat", "unlink", "utime", "write"),
    )
)


class FaultyFiles:
    """`os`, of which the n-th file operation fails, once or from then on.

    A write that fails has written half; a close that fails has closed.

    Attributes:
        done: Operations so far.
        failed: Whether one has failed.
    """

    def __init__(self, fail_at: int | None = None, *, for_ever: bool = False, code: int = errno.EIO) -> None:
        self.done = 0
        self.failed = False
        self._fail_at = fail_at
        self._for_ever = for_ever
        self._code = code

    def __getattr__(self, name: str) -> Any:
        return self._counted(name) if name in OPERATIONS else getattr(os, name)

    def _counted(self, name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def operation(*args: Any, **kwargs: Any) -> Any:
            self.done += 1
            due = self._fail_at is not None and (
                self.done == self._fail_at or (self._for_ever and self.done > self._fail_at)
            )
            if not due:
                return real(*args, **kwargs)
            self.failed = True
            if name in ("write", "pwrite"):
                fd, data, *rest = args
                real(fd, bytes(data)[: len(data) // 2], *rest)
            if name == "close":
                real(*args)
            raise OSError(self._code, os.strerror(self._code), f"{name} on purpose")

        return operation


def as_nobody(work: Callable[[], int], *, keep_rights: bool = False) -> int:
    """Run in a child whose files are checked as those of an ordinary user; gives its exit code.

    Root may write everywhere: only another user meets a folder that cannot be written. With `keep_rights`
    it is a child and nothing more.
    """
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0 and not keep_rights:
                os.setegid(65534)
                os.seteuid(65534)
            os._exit(work())
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def give_to_nobody(*paths: Path) -> None:
    if os.geteuid() == 0:
        for path in paths:
            os.chown(path, 65534, 65534)
