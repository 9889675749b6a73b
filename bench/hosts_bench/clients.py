"""Figures of the client as a process: round trip, CPU, silence when the daemon dies; and the cold start."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

from admit.hosts.daemon import control
from admit.hosts.daemon.protocol import read_header, reply

from .figures import Figure, percentile
from .home import BARE, Home

SAY = b'{"say":1}\n'
WHOLE = reply(SAY)


def cold_start(home: Home) -> Figure:
    """From the start of the daemon's process to its first answer."""
    begin = time.perf_counter()
    if not control.start(home.socket):
        raise SystemExit("the daemon did not start")
    took = (time.perf_counter() - begin) * 1000
    return Figure("cold start of the daemon, to its first answer", took, 2_000, "ms", "no hook waits for it")


def round_trip(home: Home, runs: int) -> tuple[float, list[Figure]]:
    """Bare interpreters and hooks in turn, one after another; the bare median in ms, and the ratios."""
    payload = home.payload(3_000)
    bare, hook = [], []
    for _ in range(5):
        _timed(home.command(), payload, [])  # warm up
    for _ in range(runs):
        _timed(BARE, b"", bare)
        _timed(home.command(), payload, hook)
    p50, p95 = (percentile(hook, share) / percentile(bare, share) for share in (0.5, 0.95))
    told = [
        f"{percentile(hook, share):.1f} against {percentile(bare, share):.1f} ms" for share in (0.5, 0.95)
    ]
    return percentile(bare, 0.5), [
        Figure("hook round trip, median", p50, 2, "× bare", told[0]),
        Figure("hook round trip, p95", p95, 3, "× bare", told[1]),
    ]


def cpu(home: Home, runs: int) -> list[Figure]:
    """CPU of the client, and what it imports beyond a bare interpreter."""
    payload = home.payload(3_000)
    bare = [_cpu_ms(BARE, b"") for _ in range(runs)]
    hook = [_cpu_ms(home.command(), payload) for _ in range(runs)]
    spent, alone = percentile(hook, 0.5), percentile(bare, 0.5)
    figure = Figure("CPU of the client, median", spent, 25, "ms", f"a bare interpreter {alone:.1f} ms")
    modules = _imported(home)
    named = ", ".join(sorted(modules)) or "none"
    return [figure, Figure("modules that it imports beyond a bare interpreter", len(modules), 1, "", named)]


def memory(home: Home) -> list[Figure]:
    """What the daemon takes after all this."""
    told = control.status(home.socket)
    size = (told["memory_bytes"] or 0) / 1e6 if told else float("inf")
    return [Figure("memory of the daemon after this run, without the embedder", size, 120, "MB")]


def killed(home: Home, runs: int) -> list[Figure]:
    """A daemon that is killed at each step of the protocol: how many clients ended with 0 and in silence."""
    figures = []
    path = os.path.join(home.folder, "run", "killed.sock")
    with open(os.path.join(home.folder, "run", "d.start"), "w") as stamp:
        stamp.write("1")  # as if a client had just started a daemon: none is to come up here
    for name, (cut, says) in STEPS.items():
        os.utime(stamp.name)
        good = sum(_killed_once(home, path, cut) == (0, says, b"") for _ in range(runs))
        beside = "silence" if not says else "the whole answer, which had left"
        figures.append(Figure(f"killed {name}, × {runs}", 100 * good / runs, 100, "%", beside, least=True))
    return figures


# Bytes of the request it reads (None is all) and of the reply it sends before it is killed; what is heard.
STEPS: dict[str, tuple[tuple[int | None, int], bytes]] = {
    "before it accepts": ((-1, 0), b""),
    "before it reads": ((0, 0), b""),
    "in the header of the request": ((10, 0), b""),
    "after the request": ((None, 0), b""),
    "in the header of the reply": ((None, 8), b""),
    "in the data": ((None, len(WHOLE) - 1), b""),
    "after the reply": ((None, len(WHOLE)), SAY),
}


def _killed_once(home: Home, path: str, cut: tuple[int | None, int]) -> tuple[int, bytes, bytes]:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    daemon = os.fork()
    if daemon == 0:
        _die(listener, *cut)
    listener.close()
    done = subprocess.run(home.command(socket=path), input=home.payload(3_000), capture_output=True)
    os.kill(daemon, signal.SIGKILL)
    os.waitpid(daemon, 0)
    os.unlink(path)
    return done.returncode, done.stdout, done.stderr


def _die(listener: socket.socket, read: int | None, written: int) -> None:
    """In the child: do so much of the protocol, then be killed."""
    try:
        if read != -1:
            sock, _ = listener.accept()
            data = b""
            while read is None or len(data) < read:
                data += sock.recv(65536 if read is None else read - len(data))
                line, newline, payload = data.partition(b"\n")
                if read is None and newline and len(payload) >= read_header(line).length:
                    break
            sock.sendall(WHOLE[:written])
    finally:
        os.kill(os.getpid(), signal.SIGKILL)


def _timed(command: Sequence[str], payload: bytes, times: list[float]) -> None:
    begin = time.perf_counter()
    subprocess.run(command, input=payload, capture_output=True, check=True)
    times.append((time.perf_counter() - begin) * 1000)


def _cpu_ms(command: Sequence[str], payload: bytes) -> float:
    """User and system time of one process."""
    read_end, write_end = os.pipe()
    actions = [
        (os.POSIX_SPAWN_DUP2, read_end, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_CLOSE, write_end),
    ]
    pid = os.posix_spawn(command[0], list(command), os.environ, file_actions=actions)
    os.close(read_end)
    with suppress(BrokenPipeError):
        os.write(write_end, payload)
    os.close(write_end)
    _, _, used = os.wait4(pid, 0)
    return (used.ru_utime + used.ru_stime) * 1000


def _imported(home: Home) -> set[str]:
    def modules(code: str, args: Sequence[str]) -> set[str]:
        listing = "import sys; sys.stderr.write(' '.join(sys.modules))"
        script = f"import sys\ndef _exit(code):\n    {listing}\n    raise SystemExit\n{code}"
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", script, *args], input=b"{}", capture_output=True, check=True
        )
        return set(done.stderr.decode().split())

    path = home.command()[3]
    client = (
        f"import posix\nposix._exit = _exit\nsys.argv = sys.argv[:]\n"
        f"with open({path!r}) as file: source = file.read()\n"
        "exec(compile(source, 'client', 'exec'), {'__name__': '__main__'})"
    )
    return modules(client, home.command()[4:]) - modules("_exit(0)", [])
