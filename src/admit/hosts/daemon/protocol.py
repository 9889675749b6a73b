"""The frames between a hook's client and the daemon: one request and one reply a connection.

    request   ADMIT1 <host> <event> <client version> <budget in ms> <payload in bytes>\\n<payload>
    reply     ADMIT1 ok|skip <data in bytes>\\n<data>
    then      +        from the client, once the data was written to the host

The first word is the protocol. Words are ASCII letters, digits, `.`, `_`, `-` and `+`. The budget is what is
left of the client's deadline when it sends. `skip` always carries no data.
"""

from __future__ import annotations

from typing import NamedTuple

PROTOCOL = "ADMIT1"
MAX_HEADER = 256
MAX_PAYLOAD = 8 * 1024 * 1024
# The whole frame, header included: it fits the smallest pipe and the smallest socket buffer.
MAX_REPLY = 64 * 1024
MAX_BUDGET_MS = 600_000

SKIP = b"ADMIT1 skip 0\n"
WRITTEN = b"+"

# Requests of Admit's own; they are answered by the daemon itself.
OWN_HOST = "admit"
STATUS = "status"

_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+")
_MAX_WORD = 64
_MAX_DIGITS = 10


class BadFrame(ValueError):
    """A frame that does not follow the protocol; the message is for a person."""


class Header(NamedTuple):
    """The first line of a request.

    Attributes:
        version: The client's version of Admit.
        budget_ms: What is left of the client's deadline, at least 1.
        length: Bytes of the payload that follows, also where that is more than `MAX_PAYLOAD`.
    """

    host: str
    event: str
    version: str
    budget_ms: int
    length: int


def read_header(line: bytes) -> Header:
    """The header of a request, from its line without the newline.

    Raises:
        BadFrame: Another protocol, a wrong number of words, an odd word, or a number out of range.
    """
    try:
        words = line.decode("ascii").split(" ")
    except UnicodeDecodeError:
        raise BadFrame("a header that is not ASCII") from None
    if words[0] != PROTOCOL:
        raise BadFrame("another protocol")
    if len(words) != 6:
        raise BadFrame("a header of another number of words")
    host, event, version = words[1:4]
    if not all(0 < len(word) <= _MAX_WORD and _WORD.issuperset(word) for word in (host, event, version)):
        raise BadFrame("a header with an odd word")
    budget_ms, length = _number(words[4]), _number(words[5])
    if not 1 <= budget_ms <= MAX_BUDGET_MS:
        raise BadFrame("a budget out of range")
    return Header(host, event, version, budget_ms, length)


def request(host: str, event: str, payload: bytes, *, version: str, budget_ms: int) -> bytes:
    """A whole request."""
    return f"{PROTOCOL} {host} {event} {version} {budget_ms} {len(payload)}\n".encode("ascii") + payload


def reply(data: bytes) -> bytes:
    """A whole reply; no data is `skip`.

    Raises:
        BadFrame: The frame would be larger than `MAX_REPLY`.
    """
    if not data:
        return SKIP
    frame = f"{PROTOCOL} ok {len(data)}\n".encode("ascii") + data
    if len(frame) > MAX_REPLY:
        raise BadFrame("a reply that is too large")
    return frame


def read_reply(frame: bytes) -> bytes:
    """The data of a whole reply, empty for `skip`.

    Raises:
        BadFrame: It is not whole, or not a reply.
    """
    line, newline, data = frame.partition(b"\n")
    words = line.split(b" ")
    if not newline or len(words) != 3 or words[0] != PROTOCOL.encode() or words[1] not in (b"ok", b"skip"):
        raise BadFrame("no reply of this protocol")
    if not words[2].isdigit() or int(words[2]) != len(data):
        raise BadFrame("a reply that is not whole")
    return data


def _number(word: str) -> int:
    if not 0 < len(word) <= _MAX_DIGITS or not word.isdigit():
        raise BadFrame("a header with an odd number")
    return int(word)
