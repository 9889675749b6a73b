"""Tickets: how a wrapped command knows, in its own process, whose command it is.

A ticket is a private file in the state folder that holds the session and the task of one tool call. It is
removed when the command takes it, or with the next ticket after an hour, so a task text is never kept.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from typing import NamedTuple

from admit.config.places import private_folder, state_dir

LIFE_S = 3_600
MOST_BYTES = 64 << 10
_HEX = frozenset("0123456789abcdef")


class Ticket(NamedTuple):
    """What a wrapped command is told.

    Attributes:
        host: The adapter's name.
        session: The host's session id.
        agent: The subagent; empty is the main agent.
        task: The task text.
        words: Tool, description and command of the call.
    """

    host: str = ""
    session: str = ""
    agent: str = ""
    task: str = ""
    words: str = ""


def issue(ticket: Ticket) -> str:
    """Keep a ticket and give its id, 128 random bits as hex. What is older than an hour goes.

    Raises:
        OSError: It cannot be kept.
    """
    folder = private_folder(_folder())
    _sweep(folder)
    ticket_id = os.urandom(16).hex()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(os.path.join(folder, ticket_id), flags, 0o600), "wb") as file:
        file.write(json.dumps(ticket._asdict()).encode())
    return ticket_id


def take(ticket_id: str) -> Ticket | None:
    """The ticket of this id, which is gone then; None where there is none, or none that can be read."""
    if len(ticket_id) != 32 or not _HEX.issuperset(ticket_id):
        return None
    path = os.path.join(_folder(), ticket_id)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            own = os.fstat(fd).st_uid == os.geteuid()
            data = file.read(MOST_BYTES) if own else b""
        os.unlink(path)
        given = json.loads(data)
        return Ticket(**{name: str(given.get(name, "")) for name in Ticket._fields})
    except (OSError, ValueError, AttributeError):
        return None


def _folder() -> str:
    return os.path.join(state_dir(), "tickets")


def _sweep(folder: str) -> None:
    before = time.time() - LIFE_S
    for name in os.listdir(folder):
        with suppress(OSError):
            path = os.path.join(folder, name)
            if os.lstat(path).st_mtime < before:
                os.unlink(path)
