"""64 hooks at once, from one process: who is served, how soon, and how soon the rest is told to go on."""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable

from admit import __version__
from admit.hosts.daemon import control
from admit.hosts.daemon.protocol import SKIP, WRITTEN, request

from .figures import Figure, percentile
from .home import BUDGET_MS, HOST, OUTPUT, Home

AT_ONCE = 64
ROUNDS = 20


def measure(home: Home, bare_ms: float) -> list[Figure]:
    """Rounds of 64 prompts of 1 KB, and of 64 outputs of 10 KB that are stored and cut."""
    return [*_prompts(home, bare_ms), *_outputs(home, bare_ms)]


def _prompts(home: Home, bare_ms: float) -> list[Figure]:
    before = _shed(home)
    answers = _rounds(home, "UserPromptSubmit", lambda tag: home.prompt())
    shed = (_shed(home) - before) / ROUNDS
    times = [ms for _, ms in answers]
    name = f"{AT_ONCE} prompts of 1 KB at once, × {ROUNDS}"
    beside = (
        f"median {percentile(times, 0.5):.1f} ms; {AT_ONCE - shed:.0f} of {AT_ONCE} served, the rest shed"
    )
    return [
        Figure(f"{name}: errors", sum(heard is None for heard, _ in answers), 0, ""),
        Figure(f"{name}: connect to reply, p95", percentile(times, 0.95), 100, "ms", beside).scaled(bare_ms),
    ]


def _outputs(home: Home, bare_ms: float) -> list[Figure]:
    answers = _rounds(home, OUTPUT, lambda tag: home.payload(10_000, tag=tag))
    served = [ms for heard, ms in answers if heard not in (None, SKIP)]
    shed = [ms for heard, ms in answers if heard == SKIP] or [0.0]
    name = f"{AT_ONCE} outputs of 10 KB at once, × {ROUNDS}"
    figures = [Figure(f"{name}: errors", sum(heard is None for heard, _ in answers), 0, "")]
    for word, times, bar in (("served", served, 100), ("shed", shed, 20)):
        beside = f"median {percentile(times, 0.5):.1f} ms; {len(times) / ROUNDS:.0f} of {AT_ONCE}"
        figure = Figure(f"{name}: {word}, connect to reply, p95", percentile(times, 0.95), bar, "ms", beside)
        figures.append(figure.scaled(bare_ms))
    return figures


def _shed(home: Home) -> int:
    told = control.status(home.socket)
    return told["answered"].get("shed", 0) if told else 0


def _rounds(home: Home, event: str, payload: Callable[[str], bytes]) -> list[tuple[bytes | None, float]]:
    answers = []
    for n in range(ROUNDS):
        answers += _at_once(home.socket, event, [payload(f"r{n}-{k}") for k in range(AT_ONCE)])
        time.sleep(0.1)
    return answers


def _at_once(path: str, event: str, payloads: list[bytes]) -> list[tuple[bytes | None, float]]:
    """The whole reply, or None where there is none, and its time from connecting, in ms."""
    frames = [request(HOST, event, one, version=__version__, budget_ms=BUDGET_MS) for one in payloads]
    selector = selectors.DefaultSelector()
    answers: list[tuple[bytes | None, float]] = []

    def take(timeout: float | None) -> None:
        for key, _ in selector.select(timeout):
            sock = key.fileobj
            assert isinstance(sock, socket.socket)
            data = sock.recv(1 << 17)
            answers.append((data or None, (time.perf_counter() - key.data) * 1000))
            if data and data != SKIP:
                sock.sendall(WRITTEN)
            selector.unregister(sock)
            sock.close()

    for frame in frames:
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(30)
        begun = time.perf_counter()
        sock.connect(path)
        sock.sendall(frame)
        selector.register(sock, selectors.EVENT_READ, begun)
        take(0)
    while selector.get_map():
        take(None)
    selector.close()
    return answers
