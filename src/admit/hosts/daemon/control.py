"""Start, stop and ask the daemon from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

from admit import __version__
from admit.ledger.places import own_folder

from .endpoint import connect, is_alive
from .places import Lock
from .protocol import MAX_REPLY, OWN_HOST, STATUS, BadFrame, read_reply, request

START_WAIT_S = 10.0
# A daemon that leaves takes 2 s for what runs and 2 s for its records.
STOP_WAIT_S = 6.0
LOOK_EVERY_S = 0.02
# What the daemon takes of its starter's environment: a session's own settings are not those of every session.
KEPT, KEPT_PREFIXES = ("HOME", "PATH", "LANG", "TMPDIR"), ("LC_", "XDG_")


def ask(path: str, host: str, event: str, payload: bytes = b"", *, timeout_s: float = 2.0) -> bytes:
    """The daemon's answer to one request, as a hook's client would get it; empty for `skip`.

    Raises:
        OSError: There is no daemon, it is not this user's, or it does not answer in time.
        BadFrame: It does not follow the protocol.
    """
    with connect(path, timeout_s) as sock:
        budget_ms = max(1, int(timeout_s * 1000))
        sock.sendall(request(host, event, payload, version=__version__, budget_ms=budget_ms))
        frame = bytearray()
        while len(frame) <= MAX_REPLY and (part := sock.recv(MAX_REPLY)):
            frame += part
            try:
                return read_reply(bytes(frame))
            except BadFrame:
                continue
        return read_reply(bytes(frame))


def status(path: str) -> dict[str, Any] | None:
    """What the daemon says of itself (`Daemon.status`); None where none answers."""
    try:
        told = json.loads(ask(path, OWN_HOST, STATUS))
    except (OSError, ValueError):
        return None
    return told if isinstance(told, dict) else None


def silent_holder(path: str) -> int | None:
    """The process that holds lock and socket, to be asked where `status` is None; None where none does."""
    pid = Lock(path).holder()
    return pid if pid is not None and is_alive(path) else None


def start(path: str, *, cause: str = "cli") -> bool:
    """Start the daemon in the background, and wait until it answers; True where one serves by then.

    Of the environment it gets where the user's things are, and the language, alone.

    Raises:
        OSError: The socket's folder is not this user's own, or cannot be made.
    """
    own_folder(os.path.dirname(path))
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", "admit.hosts.daemon", path, cause],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
        env={k: v for k, v in os.environ.items() if k in KEPT or k.startswith(KEPT_PREFIXES)},
    )
    end = time.monotonic() + START_WAIT_S
    while time.monotonic() < end:
        if status(path) is not None:
            return True
        if process.poll() is not None:
            return status(path) is not None
        time.sleep(LOOK_EVERY_S)
    return False


def stop(path: str) -> bool:
    """End the daemon and wait until it is gone; one that does not leave by itself is killed.

    Returns:
        False where none was running.
    """
    lock = Lock(path)
    pid = lock.holder()
    if pid is None:
        return False
    for number in (signal.SIGTERM, signal.SIGKILL):
        os.kill(pid, number)
        end = time.monotonic() + STOP_WAIT_S
        while time.monotonic() < end:
            if lock.holder() != pid:
                return True
            time.sleep(LOOK_EVERY_S)
    return not is_alive(path)
