"""The daemon as a process: made of its parts, taken out of its parent's hands, ended by signals."""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from admit.config.layers import Config
from admit.ledger.port import Ledger, OutputStore
from admit.ledger.record import now_ms

from .daemon import Daemon
from .endpoint import is_alive
from .log import Log, say, trace
from .places import log_path
from .recorder import Recorder
from .server import Handler, Prefilter
from .settings import Settings
from .watch import Watch

# A worker must not keep the accepting thread from the interpreter for long: 1 ms, not 5.
SWITCH_S = 0.001
SIGNALS = {signal.SIGTERM: "sigterm", signal.SIGINT: "sigint", signal.SIGHUP: "sighup"}


class Service(NamedTuple):
    """What answers hooks, and what it writes to.

    Attributes:
        prefilter, handler: See `Server`.
        ledger: Takes the daemon's own events too, and is closed at the end.
        store: Its retention is seen to in quiet times.
    """

    prefilter: Prefilter
    handler: Handler
    ledger: Ledger
    store: OutputStore


def hooks(config: Config) -> Service:
    """The service of the hooks of every host, loaded so far that the first hook need not wait for it."""
    from admit.hosts.handle import HOSTS, adapter_of, build_deps, handle, prefilter
    from admit.hosts.model import Handled

    deps = build_deps(config)
    settings = deps.projects.at("")
    for host in HOSTS:
        adapter_of(host)
        try:
            _ = deps.guides.at(host, "", settings.config).gate.library
        except Exception as error:
            trace("reading the guidance", error)

    def wanted(event: str, raw: bytes) -> bool:
        return prefilter(event, raw, floor_chars=deps.floor_chars)

    def answer(host: str, event: str, raw: bytes, budget_ms: int) -> Handled:
        return handle(host, event, raw, deps=deps, budget_ms=budget_ms)

    return Service(wanted, answer, deps.ledger, deps.store)


def serve(path: str, *, cause: str, service: Callable[[Config], Service] = hooks) -> str | None:
    """Serve at a socket until something ends it.

    Args:
        cause: Who starts it: `hook`, `cli` or `run`.
        service: Makes what answers; called where no other daemon lives.

    Returns:
        Why it ended; None where another daemon lives.

    Raises:
        OSError: The socket's folder is not this user's own, or cannot be made.
    """
    if is_alive(path):
        return None
    os.umask(0o077)
    sys.setswitchinterval(SWITCH_S)
    log = Log(log_path())
    settings = Settings()
    made = service(settings.config())
    daemon = Daemon(
        made.handler,
        path,
        limits=settings.limits(),
        prefilter=made.prefilter,
        is_off=settings.is_off,
        recorder=Recorder(made.ledger),
        watch=Watch(path, drop_caches=gc.collect),  # what is kept has caps of its own
        tend=lambda: made.store.prune(now_ms()) and None,
        on_tick=log.rotate,
        at_end=made.ledger.close,
    )
    if not daemon.start():
        return None
    for number, name in SIGNALS.items():
        signal.signal(number, lambda *_, name=name: daemon.stop(name))
    gc.collect()
    gc.freeze()  # what was loaded by now stays
    say(f"serving at {path}")
    return daemon.serve_forever(cause)


def detach() -> None:
    """Keep nothing of the process that started this one: its folder, files, session and prints."""
    os.chdir("/")
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    os.closerange(3, min(soft, 4096) if soft > 0 else 4096)
    with suppress(OSError):  # already a session's leader
        os.setsid()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    Log(log_path()).redirect()
