"""Where the daemon's socket, lock and stamp are, and the checks that they are this user's own."""

from __future__ import annotations

import fcntl
import os
import tempfile
from contextlib import suppress

from admit.config.places import cache_dir, state_dir
from admit.ledger.places import open_file, own_folder

SOCKET = "d.sock"
LOCK = "d.lock"
STAMP = "d.start"
# sockaddr_un holds 104 bytes on the smallest platform, the closing zero included (unix(7)).
MAX_PATH_BYTES = 100


def socket_path() -> str:
    """`$XDG_RUNTIME_DIR/admit/d.sock`, else `d.sock` in `run` of the cache folder.

    A path of more than 100 bytes gives way to `admit-<uid>/d.sock` in the system's temporary folder.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = os.path.join(runtime, "admit") if os.path.isabs(runtime) else os.path.join(cache_dir(), "run")
    own = f"admit-{os.geteuid()}"
    for place in (folder, os.path.join(tempfile.gettempdir(), own), os.path.join("/tmp", own)):
        path = os.path.join(place, SOCKET)
        if len(os.fsencode(path)) <= MAX_PATH_BYTES:
            break
    return path


def log_path() -> str:
    """`daemon.log` in the state folder."""
    return os.path.join(state_dir(), "daemon.log")


def beside(path: str, name: str) -> str:
    """A file in the folder of the socket."""
    return os.path.join(os.path.dirname(path), name)


class Lock:
    """The lock of the one daemon of this user; it holds the process id of its holder.

    Args:
        path: The path of the socket; the lock stands beside it.
    """

    def __init__(self, path: str) -> None:
        self._path = beside(path, LOCK)
        self._fd = -1

    def take(self) -> bool:
        """Take the lock without waiting; False where another process holds it.

        Raises:
            OSError: The folder or the file is not this user's own, or cannot be made.
        """
        own_folder(os.path.dirname(self._path))
        fd = open_file(self._path, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(fd)
            return False
        self._fd = fd
        os.ftruncate(fd, 0)
        os.write(fd, b"%d\n" % os.getpid())
        return True

    def holder(self) -> int | None:
        """The process id of the daemon that holds the lock now; None where none does. Never raises."""
        try:
            fd = open_file(self._path, os.O_RDWR)
        except OSError:
            return None
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
        except OSError:
            text = os.pread(fd, 32, 0).strip()
            return int(text) if text.isdigit() else None
        finally:
            os.close(fd)

    def release(self) -> None:
        """Let go of the lock; the file stays."""
        if self._fd >= 0:
            with suppress(OSError):
                os.close(self._fd)
            self._fd = -1
