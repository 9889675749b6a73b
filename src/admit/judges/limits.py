"""What judges may take: slots, a cool-down for a destination that fails, and caps on what is sent and spent.

    take_slot ─▶ reserve: cool-down? caps? count the estimate ─▶ (send) ─▶ settle ─▶ give_slot

The caps hold for every destination that is asked by a message, at this machine too; the local judge has
none. An estimate is counted in `limits.db` before anything is sent; what cannot be counted is not sent.
A destination without prices obeys the caps of requests and tokens alone.
"""

from __future__ import annotations

import math
import os
import secrets
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from admit.config.keys import default
from admit.config.places import state_dir
from admit.core.question import Note

from . import cooldown, spend

LOCK_S = 0.5
MOST_WAITING = 256
_MOST_COUNT = 2**53
_DAY_S = 86_400
_T = TypeVar("_T")


class Estimate(NamedTuple):
    """The most that a request may take.

    Attributes:
        usd: None where the destination has no prices.
    """

    input_tokens: int
    usd: float | None


class Ticket(NamedTuple):
    """A reservation, to be settled once.

    Attributes:
        probe: Whether this is the one call that tries a destination again.
        notes: What earlier settlements left for the record; `settle` hands it on.
    """

    id: str
    destination: str
    probe: bool = False
    notes: tuple[Note, ...] = ()


class Refusal(NamedTuple):
    """Why nothing may be sent: ``cooldown``, ``budget_requests``, ``_tokens``, ``_usd`` or ``_unknown``.

    Attributes:
        notes: Pairs (event type, body) for the record.
    """

    reason: str
    notes: tuple[Note, ...] = ()


class Caps(NamedTuple):
    """The settings below `limits`, in the units of their keys."""

    slots: int
    session_requests: int
    day_requests: int
    day_input_tokens: int
    day_usd: float
    cooldown_failures: int
    cooldown_s: int


class _Settlement(NamedTuple):
    """What is known of a call after it; `at` is epoch s."""

    ticket: Ticket
    at: float
    failure: cooldown.Failure | None
    requests: int
    input_tokens: int | None
    nano_usd: int | None


class Limits:
    """The limits of one process; spend and cool-downs are those of all processes of this user.

    Every method may be called from several threads at once, and none raises.

    Args:
        path: The database, opened at the first `reserve`.
        now: Epoch seconds; only the UTC day and cool-downs go by it.
        connect: How SQLite opens the database.
    """

    def __init__(
        self,
        caps: Caps,
        path: str,
        *,
        now: Callable[[], float] = time.time,
        connect: Callable[..., sqlite3.Connection] = sqlite3.connect,
    ) -> None:
        self.caps = caps
        self._now = now
        self._database = spend.Database(path, connect)
        self._slots: dict[str, int] = {}
        self._freed = threading.Condition()
        self._lock = threading.Lock()
        self._unwritten: deque[_Settlement] = deque(maxlen=MOST_WAITING)

    def take_slot(self, destination: str, seconds: float) -> bool:
        """Take one of the slots of a destination, waiting at most so long; False where none came free."""
        with self._freed:
            free = self._freed.wait_for(
                lambda: self._slots.get(destination, 0) < self.caps.slots, max(0.0, seconds)
            )
            if free:
                self._slots[destination] = self._slots.get(destination, 0) + 1
            return free

    def give_slot(self, destination: str) -> None:
        """Give a slot back."""
        with self._freed:
            left = self._slots.pop(destination, 0) - 1
            if left > 0:
                self._slots[destination] = left
            self._freed.notify_all()

    def reserve(self, destination: str, session: str | None, estimate: Estimate) -> Ticket | Refusal:
        """Count an estimate against every cap, or say why nothing may be sent.

        Args:
            destination: ``scheme://host:port``, or another name of who is asked.
            session: Whose cap of requests it counts to; None counts to the day alone.
        """
        try:
            reserved, notes = self._written(lambda con: self._reserve(con, destination, session, estimate))
            return reserved._replace(notes=notes + reserved.notes)
        except Exception:  # a damaged file may hold anything: what cannot be counted is not sent
            return Refusal("budget_unknown")

    def settle(
        self,
        ticket: Ticket,
        *,
        reason: str | None,
        sent: str,
        status: int | None,
        input_tokens: int | None,
        usd: float | None,
        retry_after_s: float | None,
    ) -> tuple[Note, ...]:
        """Count what a call took, and whether it failed; gives pairs (event type, body) for the record.

        Known figures take the place of the reservation; of unknown ones it stays. What was not sent is
        given back whole; of a refused request (4xx, except 408) tokens and USD are, for it was sent. A
        settlement that cannot be written is tried again with the next one, 256 at most: until then the
        reservation stays.

        Args:
            reason: Why there are no answers; None is a success.
            sent: ``no``, ``yes`` or ``unknown``.
        """
        refused = status is not None and 400 <= status < 500 and status != 408
        free = refused or sent == "no"
        failure = None if reason is None else cooldown.Failure(reason, status, retry_after_s)
        self._unwritten.append(
            _Settlement(
                ticket,
                self._now(),
                failure,
                0 if sent == "no" else 1,
                0 if free else _count(input_tokens),
                0 if free else _count(None if usd is None else usd * spend.NANO),
            )
        )
        try:
            return ticket.notes + self._written(lambda con: None)[1]
        except Exception:
            return ticket.notes

    def _written(self, work: Callable[[sqlite3.Connection], _T]) -> tuple[_T, tuple[Note, ...]]:
        """Do some work in one transaction, after the settlements that wait: its result, and their notes."""
        if not self._lock.acquire(timeout=LOCK_S):
            raise TimeoutError
        try:
            with self._database.writing() as con:
                settled = tuple(self._unwritten)
                notes = tuple(note for one in settled for note in self._settle(con, one))
                result = work(con)
            for one in settled:
                if one in self._unwritten:
                    self._unwritten.remove(one)
            return result, notes
        finally:
            self._lock.release()

    def _reserve(
        self, con: sqlite3.Connection, destination: str, session: str | None, estimate: Estimate
    ) -> Ticket | Refusal:
        now = self._now()
        state = cooldown.state(con, destination, int(now * 1000))
        if state == "open":
            return Refusal("cooldown")
        day = int(now // _DAY_S)
        scope = None if session is None else spend.session_scope(session)
        nano_usd = None if estimate.usd is None else math.ceil(estimate.usd * spend.NANO)
        refusal = self._over(con, day, scope, estimate.input_tokens, nano_usd)
        if refusal is not None:
            return refusal
        ticket = Ticket(secrets.token_hex(16), destination, state == "half_open")
        if ticket.probe:
            cooldown.begin_probe(con, destination, int(now * 1000))
        spend.reserve(con, ticket.id, day, scope, spend.Spend(1, estimate.input_tokens, nano_usd or 0))
        return ticket

    def _over(
        self, con: sqlite3.Connection, day: int, session: str | None, tokens: int, nano_usd: int | None
    ) -> Refusal | None:
        """The first cap that a request would break, the session's first."""
        caps = self.caps
        if session is not None:
            used = spend.spent(con, session).requests
            if used + 1 > caps.session_requests:
                return _refused("requests", "session.requests", used, caps.session_requests)
        today = spend.spent(con, spend.day_scope(day))
        if today.requests + 1 > caps.day_requests:
            return _refused("requests", "day.requests", today.requests, caps.day_requests)
        if today.input_tokens + tokens > caps.day_input_tokens:
            return _refused("tokens", "day.input_tokens", today.input_tokens, caps.day_input_tokens)
        if nano_usd is not None and today.nano_usd + nano_usd > round(caps.day_usd * spend.NANO):
            return _refused("usd", "day.usd", today.nano_usd / spend.NANO, caps.day_usd)
        return None

    def _settle(self, con: sqlite3.Connection, one: _Settlement) -> tuple[Note, ...]:
        ticket, failure = one.ticket, one.failure
        spend.settle(
            con, ticket.id, requests=one.requests, input_tokens=one.input_tokens, nano_usd=one.nano_usd
        )
        if failure is None:
            cooldown.succeeded(con, ticket.destination)
            return ()
        if failure.reason in cooldown.NOT_COUNTED:
            if ticket.probe:
                cooldown.end_probe(con, ticket.destination)
            return ()
        until_ms = cooldown.failed(
            con,
            ticket.destination,
            failure,
            int(one.at * 1000),
            failures=self.caps.cooldown_failures,
            seconds=self.caps.cooldown_s,
        )
        if until_ms is None:
            return ()
        body = {"destination": ticket.destination, "until_s": until_ms // 1000, "cause": failure.reason}
        return (("judge.cooldown", body),)


def _refused(what: str, cap: str, used: float, limit: float) -> Refusal:
    return Refusal(f"budget_{what}", (("judge.budget", {"cap": cap, "used": used, "limit": limit}),))


def _count(value: float | None) -> int | None:
    """A figure that an answer names, rounded up; None where it is none to count with."""
    return math.ceil(value) if value is not None and 0 <= value <= _MOST_COUNT else None


def caps_of(values: Mapping[str, Any]) -> Caps:
    """The caps among settings by full key; one that is absent has its shipped value."""
    return Caps(
        *(
            values.get(name, default(name))
            for name in (
                "limits.slots",
                "limits.session.requests",
                "limits.day.requests",
                "limits.day.input_tokens",
                "limits.day.usd",
                "limits.cooldown_failures",
                "limits.cooldown_s",
            )
        )
    )


_all: dict[tuple[Caps, str, int], Limits] = {}
_all_lock = threading.Lock()


def limits_of(values: Mapping[str, Any]) -> Limits:
    """The limits of this process under these settings: the same object each time. Opens no file."""
    key = (caps_of(values), os.path.join(state_dir(), "limits.db"), os.getpid())
    with _all_lock:
        return _all.setdefault(key, Limits(*key[:2]))
