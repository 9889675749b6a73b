"""One request on its way: read without waiting, answered once, then waited on for the client's `+`."""

from __future__ import annotations

import socket
from enum import Enum

from admit.hosts.model import Handled

from .protocol import MAX_HEADER, MAX_PAYLOAD, BadFrame, Header, read_header

CHUNK_BYTES = 256 * 1024


class Phase(Enum):
    """What a connection waits for: its request, a handler's answer, or the client's `+`."""

    READING = 1
    WORKING = 2
    WRITTEN = 3


class Gone(Exception):
    """The client went away before its request was whole."""


class Connection:
    """One client.

    Attributes:
        arrived: When it was accepted, monotonic seconds.
        deadline: When it is given up, monotonic seconds: the end of reading, then the client's own deadline.
        header: None until it has been read.
        payload: Whole once `receive` gave True.
        answer: What was answered, for its `after`.
    """

    __slots__ = (
        "_line",
        "_parts",
        "_size",
        "answer",
        "arrived",
        "deadline",
        "header",
        "payload",
        "phase",
        "sock",
    )

    def __init__(self, sock: socket.socket, arrived: float, deadline: float) -> None:
        self.sock = sock
        self.arrived = arrived
        self.deadline = deadline
        self.phase = Phase.READING
        self.header: Header | None = None
        self.payload = b""
        self.answer: Handled | None = None
        self._line = b""
        self._parts: list[bytes] = []
        self._size = 0

    @property
    def request(self) -> Header:
        """The header of a whole request."""
        assert self.header is not None
        return self.header

    @property
    def event(self) -> str:
        """The event's name; empty where the header is not known."""
        return self.header.event if self.header is not None else ""

    @property
    def held_bytes(self) -> int:
        """What it may take in memory."""
        return min(self.header.length, MAX_PAYLOAD) if self.header is not None else 0

    def receive(self) -> bool:
        """Take what has come; True when the request is whole, or announced as larger than one may be.

        Raises:
            BadFrame: It does not follow the protocol.
            Gone: The client closed the connection.
            OSError: The connection broke.
        """
        try:
            data = self.sock.recv(CHUNK_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        if not data:
            raise Gone
        if self.header is None:
            line, newline, data = (self._line + data).partition(b"\n")
            if len(line) >= MAX_HEADER:
                raise BadFrame("a header that is too long")
            if not newline:
                self._line = line
                return False
            self.header = read_header(line)
        self._parts.append(data)
        self._size += len(data)
        if self.header.length > MAX_PAYLOAD:
            self._parts.clear()
            return True
        if self._size < self.header.length:
            return False
        self.payload = b"".join(self._parts)[: self.header.length]
        self._parts.clear()
        return True
