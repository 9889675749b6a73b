"""Where the daemon's prints go: a file of its own, three of them in turn."""

from __future__ import annotations

import os
import sys
import time
import traceback
from contextlib import suppress

from admit.ledger.places import open_file, own_folder

MAX_BYTES = 1024 * 1024
FILES = 3


class Log:
    """`daemon.log` (0600), at most 1 MiB, and two older ones: `daemon.log.1` and `daemon.log.2`.

    The size is looked at by `rotate`, so between two calls a flood can make the file larger.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def redirect(self) -> None:
        """Send file descriptors 1 and 2 to the log, or nowhere where it cannot be opened. Never raises."""
        try:
            own_folder(os.path.dirname(self._path))
            fd = open_file(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        except OSError:
            fd = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        for target in (1, 2):
            os.dup2(fd, target)
        if fd > 2:
            os.close(fd)

    def rotate(self) -> None:
        """Begin a new file where the present one is full. Never raises."""
        with suppress(OSError):
            if os.fstat(2).st_size <= MAX_BYTES or not os.path.samestat(os.fstat(2), os.stat(self._path)):
                return
            for n in range(FILES - 1, 0, -1):
                older = self._path if n == 1 else f"{self._path}.{n - 1}"
                with suppress(FileNotFoundError):
                    os.replace(older, f"{self._path}.{n}")
            self.redirect()


def say(text: str) -> None:
    """Log one line with its time in UTC. Never raises."""
    with suppress(Exception):
        sys.stderr.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {text}\n")
        sys.stderr.flush()


def trace(where: str, error: BaseException | None) -> None:
    """Log an error with its traceback and the versions at hand. Never raises."""
    with suppress(Exception):
        from admit import __version__

        lines = traceback.format_exception(error) if error is not None else []
        say(f"{where}: admit {__version__}, Python {sys.version.split()[0]}\n{''.join(lines)}".rstrip())
