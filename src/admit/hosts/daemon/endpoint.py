"""The local socket: listened on by one, connected to by owners alone."""

from __future__ import annotations

import errno
import os
import socket
import stat
import struct
import sys

from admit.ledger.places import NotOurs

from .protocol import WRITTEN

BACKLOG = 512
SEND_S = 1.0
# sys/un.h and sys/ucred.h of macOS: the version, then the user id, 32 bits each.
_LOCAL_PEERCRED, _XUCRED_BYTES = 1, 76


def listen(path: str) -> socket.socket | None:
    """Listen at a path, mode 0600; the caller holds the lock. None where a daemon answers there already.

    A socket that nobody listens at is unlinked first.

    Raises:
        NotOurs: Something else is in its place, or another user's socket.
        OSError: It cannot be made.
    """
    if _is_socket(path):
        if is_alive(path):
            return None
        os.unlink(path)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        sock.bind(path)
        sock.listen(BACKLOG)
    except BaseException:
        sock.close()
        raise
    finally:
        os.umask(before)
    return sock


def is_alive(path: str) -> bool:
    """Whether somebody listens at the path."""
    try:
        connect(path, 1.0).close()
    except (FileNotFoundError, ConnectionRefusedError, NotOurs):
        return False
    except OSError:
        return True  # so busy that it takes no connection now
    return True


def connect(path: str, timeout_s: float) -> socket.socket:
    """A connection to this user's daemon.

    Raises:
        FileNotFoundError: There is no socket.
        ConnectionRefusedError: Nobody listens.
        NotOurs: The socket, or who listens at it, is not this user's.
        OSError: Anything else.
    """
    if not _is_socket(path):
        raise FileNotFoundError(errno.ENOENT, "no socket", path)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.settimeout(timeout_s)
        sock.connect(path)
        if peer_uid(sock) != os.geteuid():
            raise NotOurs(errno.EPERM, "another user listens there", path)
    except BaseException:
        sock.close()
        raise
    return sock


def peer_uid(sock: socket.socket) -> int:
    """The user at the other end, as the kernel says (unix(7), SO_PEERCRED).

    Raises:
        OSError: The kernel does not say.
    """
    if sys.platform == "darwin":
        return struct.unpack_from("=II", sock.getsockopt(0, _LOCAL_PEERCRED, _XUCRED_BYTES))[1]
    return struct.unpack("=iII", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]


def send(sock: socket.socket, frame: bytes) -> bool:
    """Send a whole frame within a second; False where the other end is gone or does not take it."""
    try:
        # One system call where it can be: at each of them another thread may take the interpreter.
        sent = sock.send(frame, socket.MSG_DONTWAIT)
        if sent < len(frame):
            sock.settimeout(SEND_S)
            sock.sendall(frame[sent:])
    except OSError:
        return False
    return True


def said_written(sock: socket.socket) -> bool:
    """Whether the one byte came that says that the data was written to the host."""
    try:
        return sock.recv(1, socket.MSG_DONTWAIT) == WRITTEN
    except OSError:
        return False


def _is_socket(path: str) -> bool:
    """Whether this user's socket is at the path; False where nothing is.

    Raises:
        NotOurs: Something else is there, or another user's socket.
    """
    try:
        info = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    if not stat.S_ISSOCK(info.st_mode):
        raise NotOurs(errno.EPERM, "not a socket", path)
    if info.st_uid != os.geteuid():
        raise NotOurs(errno.EPERM, f"owned by user {info.st_uid}", path)
    return True
