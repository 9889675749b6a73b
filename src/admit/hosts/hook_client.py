"""The client of a hook: hands the payload to the daemon and its answer to the host.

Run as `<python> -I -S <this file> <socket> <host> <event> <budget in ms>`. On anything odd it says nothing
and ends with 0, and the host goes on as without Admit. The host waits for it at every event, so it imports
nothing of Admit and next to nothing of Python. The frames are those of `daemon/protocol.py`.
"""

import posix
import sys
import time

VERSION = "0.1.0"
MAX_PAYLOAD, MAX_REPLY, BACK_OFF_S = 8 * 1024 * 1024, 64 * 1024, 30
KEPT = (b"HOME", b"PATH", b"LANG", b"TMPDIR")  # a session's settings are not those of every session


def main(started: float) -> None:
    """Ask the daemon once; where there is none, start it for the next time."""
    path, host, event, budget_ms = sys.argv[1:5]
    end = started + int(budget_ms) / 1000
    if posix.environ.get(b"ADMIT_OFF") == b"1":
        return
    payload, size = read_payload(end)
    try:
        daemon = connect(path, end)
    except (FileNotFoundError, ConnectionRefusedError):
        return start_daemon(path)
    header = f"ADMIT1 {host} {event} {VERSION} {int(left(end) * 1000)} {size}\n"
    daemon.sendall(header.encode() + payload)
    data = read_reply(daemon, end)
    while data:
        left(end)
        data = data[posix.write(1, data) :]
        if not data:
            daemon.sendall(b"+")


def left(end: float) -> float:
    """Seconds that are left; TimeoutError where none are."""
    if (seconds := end - time.monotonic()) < 0.001:
        raise TimeoutError
    return seconds


def read_payload(end: float) -> tuple[bytes, int]:
    """Standard input to its end, and its size; nothing of what is too large, and more than the most."""
    was_blocking = posix.get_blocking(0)
    posix.set_blocking(0, False)
    parts, size, pause = [], 0, 0.0001
    try:
        while size <= MAX_PAYLOAD and left(end):
            try:
                parts.append(posix.read(0, 1 << 20))
            except BlockingIOError:
                time.sleep(pause)
                pause = min(2 * pause, 0.005)
                continue
            if not parts[-1]:
                return b"".join(parts), size
            size, pause = size + len(parts[-1]), 0.0001
        return b"", size
    finally:
        posix.set_blocking(0, was_blocking)


def connect(path: str, end: float):
    """A connection to a socket of this user, at which this user listens."""
    import _socket

    found = posix.lstat(path)
    if found.st_uid != posix.geteuid() or found.st_mode & 0o170000 != 0o140000:
        raise PermissionError
    daemon = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    daemon.settimeout(left(end))
    daemon.connect(path)
    if hasattr(_socket, "SO_PEERCRED"):
        peer = daemon.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
        if int.from_bytes(peer[4:8], sys.byteorder) != posix.geteuid():
            raise PermissionError
    return daemon


def read_reply(daemon, end: float) -> bytes:
    """The data of the reply once it is whole; nothing for any other reply."""
    frame = b""
    while len(frame) < MAX_REPLY:
        daemon.settimeout(left(end))
        frame += (part := daemon.recv(MAX_REPLY - len(frame)))
        line, newline, data = frame.partition(b"\n")
        if newline and line == b"ADMIT1 ok %d" % len(data):
            return data
        if not part or (newline and not line.startswith(b"ADMIT1 ok ")):
            break
    return b""


def start_daemon(path: str) -> None:
    """Start the daemon on its own, unless that was tried in the last 30 seconds."""
    folder = path.rpartition("/")[0]
    for missing in (folder.rpartition("/")[0], folder):
        if not posix.access(missing, posix.F_OK):
            posix.mkdir(missing, 0o700)
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_NONBLOCK
    fd = posix.open(folder + "/d.start", flags, 0o600)
    found = posix.fstat(fd)
    if (found.st_size and 0 <= time.time() - found.st_mtime < BACK_OFF_S) or found.st_uid != posix.geteuid():
        return
    posix.pwrite(fd, b"1", 0)
    # Nothing of the host's may stay open in it: the host would wait for the end of its pipes.
    null = [(posix.POSIX_SPAWN_OPEN, fd, "/dev/null", posix.O_RDWR, 0) for fd in (0, 1, 2)]
    argv = [sys.executable, "-I", "-m", "admit.hosts.daemon", path]
    env = {k: v for k, v in posix.environ.items() if k in KEPT or k.startswith((b"LC_", b"XDG_"))}
    posix.posix_spawn(sys.executable, argv, env, file_actions=null, setsid=True)


if __name__ == "__main__":
    try:
        main(time.monotonic())
    finally:  # whatever it was, the host must not hear of it
        posix._exit(0)
