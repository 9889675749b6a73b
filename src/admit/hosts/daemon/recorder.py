"""What the daemon counts, and the events it writes of itself. Texts never go into them."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from admit import __version__
from admit.core.events import Event
from admit.ledger.port import Ledger, Record
from admit.ledger.record import new_id, now_ms

from .protocol import Header

MINUTE_S = 60.0
MAX_KINDS = 64
MAX_VERSIONS = 8


class _Sum(NamedTuple):
    """What a minute held of one kind of hook: bytes in sum, milliseconds of the slowest."""

    bytes_in: int = 0
    bytes_out: int = 0
    elapsed_ms: float = 0.0


class Recorder:
    """Counts of everything that was answered, and their events. Nothing here raises or waits.

    Args:
        ledger: Takes the events; None keeps the counts alone.
    """

    def __init__(self, ledger: Ledger | None = None) -> None:
        self._ledger = ledger
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._outcomes: Counter[str] = Counter()
        self._odd: Counter[str] = Counter()
        self._kinds: dict[tuple[str, str, str], _Sum] = {}
        self._minute_ends = 0.0
        self._other_clients: list[str] = []

    def started(self, cause: str) -> None:
        """The daemon serves: `hook`, `cli` or `run` started it."""
        self._write("host.daemon_start", {"version": __version__, "cause": cause, "uptime_s": 0})

    def stopped(self, cause: str) -> None:
        """The daemon leaves; the hooks of the last minute are written too."""
        self.write_minute(whole=False)
        self._write(
            "host.daemon_stop", {"version": __version__, "cause": cause, "uptime_s": int(self.uptime_s)}
        )

    def answered(self, header: Header, bytes_out: int, elapsed_ms: float, outcome: str) -> None:
        """A hook was answered: `ok`, `skip`, `off`, `prefilter`, `shed` or `gone`.

        A minute's hooks of one kind are one event, with the bytes of all and the time of the slowest; at the
        cap of 64 kinds further ones are counted, not written. What was shed has an event of its own.
        """
        with self._lock:
            self._outcomes[outcome] += 1
            others = self._other_clients
            if header.version not in (__version__, *others) and len(others) < MAX_VERSIONS:
                others.append(header.version)
            kind = (header.host, header.event, outcome)
            if outcome == "shed" or (kind not in self._kinds and len(self._kinds) >= MAX_KINDS):
                return
            if not self._kinds:
                self._minute_ends = time.monotonic() + MINUTE_S
            before = self._kinds.get(kind, _Sum())
            self._kinds[kind] = _Sum(
                before.bytes_in + header.length,
                before.bytes_out + bytes_out,
                max(before.elapsed_ms, elapsed_ms),
            )

    def odd(self, event: str, cause: str) -> None:
        """A hook came in a form that was not expected; `cause` is a word of the event's closed list."""
        self.count_odd(cause)
        self._write("host.hook_odd", {"event": event, "cause": cause})

    def count_odd(self, cause: str) -> None:
        """Count a hook that its handler found odd, and records by itself."""
        with self._lock:
            self._odd[cause] += 1

    def shed(self, count: int, queue: int, limit: int) -> None:
        """So many hooks were answered at once because `queue` waited, and no more than `limit` may."""
        self._write("admit.shed", {"queue": queue, "limit": limit}, count)

    def write_minute(self, *, whole: bool = True) -> None:
        """Write the hooks of a minute that is over; with `whole` False of one that is not."""
        with self._lock:
            if not self._kinds or (whole and time.monotonic() < self._minute_ends):
                return
            kinds, self._kinds = self._kinds, {}
        for (host, event, outcome), total in kinds.items():
            body = {"host": host, "event": event, "outcome": outcome, **total._asdict()}
            self._write("host.hook", {**body, "elapsed_ms": round(total.elapsed_ms, 1)})

    @property
    def uptime_s(self) -> float:
        """Seconds since the daemon was made."""
        return time.monotonic() - self._started

    def counts(self) -> dict[str, Any]:
        """Everything counted since the start, by name."""
        with self._lock:
            return {
                "answered": dict(sorted(self._outcomes.items())),
                "odd": dict(sorted(self._odd.items())),
                "other_clients": sorted(self._other_clients),
            }

    def _write(self, type: str, body: Mapping[str, Any], count: int = 1) -> None:
        if self._ledger is not None:
            events = (Event(new_id(), type, now_ms(), body) for _ in range(count))
            self._ledger.append(Record(events=tuple(events)))
