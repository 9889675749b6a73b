"""Reasons for the daemon to leave: another version is installed, its files are gone, or it grew too large."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import admit

# Megabytes are 10^6 bytes.
MAX_BYTES = 120_000_000
MAX_BYTES_WITH_EMBEDDER = 350_000_000

Signature = tuple[int, ...]


class Watch:
    """What must stay as it is for the daemon to go on.

    Args:
        socket: Its path; another file there means that clients no longer come here.
        drop_caches: Called once when the memory is over its limit, before leaving is thought of.
        memory_bytes: Gives the resident size in bytes, or None where it is not known.
    """

    def __init__(
        self,
        socket: str,
        drop_caches: Callable[[], object] = bool,
        memory_bytes: Callable[[], int | None] | None = None,
    ) -> None:
        self._socket = socket
        self._drop_caches = drop_caches
        self._memory_bytes = memory_bytes or resident_bytes
        self._dropped = False
        self._executable = _signature(sys.executable)
        self._package = _signature(_package_file())
        self._served: Signature | None = None

    def serving(self) -> None:
        """The socket is there now; from here on it must stay."""
        self._served = _signature(self._socket)[:2]

    def cause(self, *, idle: bool) -> str:
        """Why to leave now: `executable`, `version`, `socket`, when idle also `memory`; empty to stay."""
        if _signature(sys.executable) != self._executable:
            return "executable"
        now = _signature(_package_file())
        if now != self._package:
            if installed_version() != admit.__version__:
                return "version"
            self._package = now
        if self._served is not None and _signature(self._socket)[:2] != self._served:
            return "socket"
        return "memory" if self._is_too_large() and idle else ""

    def is_own_socket(self) -> bool:
        """Whether the socket at the path is the one that is served here."""
        return self._served is not None and _signature(self._socket)[:2] == self._served

    def _is_too_large(self) -> bool:
        size = self._memory_bytes()
        most = MAX_BYTES_WITH_EMBEDDER if "onnxruntime" in sys.modules else MAX_BYTES
        if size is None or size <= most:
            self._dropped = False
            return False
        if not self._dropped:
            self._dropped = True
            self._drop_caches()
            return False  # looked at again next time
        return True


def resident_bytes() -> int | None:
    """Resident memory of this process in bytes; on macOS the most it ever was; None where unknown."""
    try:
        if sys.platform == "darwin":
            import resource

            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


def installed_version() -> str:
    """The version that stands in the installed package's file now; empty where it cannot be read."""
    try:
        with open(_package_file(), encoding="utf-8") as file:
            for line in file:
                name, equals, value = line.partition("=")
                if equals and name.strip() == "__version__":
                    return value.strip().strip("\"'")
    except (OSError, UnicodeDecodeError):
        pass
    return ""


def _package_file() -> str:
    return admit.__file__ or ""


def _signature(path: str) -> Signature:
    """What changes when a file does; empty where there is none."""
    try:
        info = os.stat(path)
    except OSError:
        return ()
    return (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)
