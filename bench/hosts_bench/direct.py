"""Figures of the daemon alone: connect to reply from one process that is running already."""

from __future__ import annotations

import socket
import time

from admit import __version__
from admit.hosts.daemon.protocol import MAX_REPLY, WRITTEN, BadFrame, read_reply, request

from .figures import Figure, percentile
from .home import BUDGET_MS, HOST, OUTPUT, Home


def measure(home: Home, runs: int, bare_ms: float) -> list[Figure]:
    """The daemon's path without a judge: small events, and outputs that are stored and cut."""
    small = home.payload(700)
    kinds = {
        "daemon path of a prompt of 1 KB, p95": (10, [("UserPromptSubmit", home.prompt())] * runs),
        "daemon path of an event that can have no answer (1 KB), p95": (5, [(OUTPUT, small)] * runs),
        "daemon path of an output of 10 KB, stored and cut, p95": (
            10,
            [(OUTPUT, home.payload(10_000, tag=f"a{n}")) for n in range(runs)],
        ),
        "daemon path of an output of 200 KB, stored and cut, p95": (
            40,
            [(OUTPUT, home.payload(200_000, tag=f"b{n}")) for n in range(max(20, runs // 4))],
        ),
    }
    figures = []
    for name, (bar, requests) in kinds.items():
        exchange(home.socket, *requests[0])
        times, answered = [], 0
        for event, payload in requests:
            begin = time.perf_counter()
            answered += bool(exchange(home.socket, event, payload))
            times.append((time.perf_counter() - begin) * 1000)
        beside = f"median {percentile(times, 0.5):.1f} ms; {answered} of {len(times)} answered with text"
        figures.append(Figure(name, percentile(times, 0.95), bar, "ms", beside).scaled(bare_ms))
    return figures


def exchange(path: str, event: str, payload: bytes) -> bytes:
    """One request, from connecting to the whole reply; `+` follows."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(30)
        sock.connect(path)
        sock.sendall(request(HOST, event, payload, version=__version__, budget_ms=BUDGET_MS))
        frame = b""
        while True:
            frame += sock.recv(MAX_REPLY)
            try:
                data = read_reply(frame)
            except BadFrame:
                continue
            if data:
                sock.sendall(WRITTEN)
            return data
