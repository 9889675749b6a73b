"""What each agent was shown and where: holds, counts of a turn, and deliveries that wait for their word.

What was emitted is not delivered. A scan claims what it shows; the claim becomes *shown* when the client says
that the host has it, and is free again when it says otherwise, or nothing for 5 s.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from itertools import chain
from typing import NamedTuple

CLAIM_S = 5.0
MOST_CONTEXTS = 256
MOST_RESULTS = 512

Context = tuple[str, str]
"""Session and agent; the agent of the main one is empty."""


class Shown(NamedTuple):
    """Where a snippet was shown last: token position, None is unknown; and by which delivery, from 1."""

    position: int | None
    delivery: int = 0


class Settled(NamedTuple):
    """What was delivered, and which of it was shown in this context before."""

    ids: tuple[str, ...]
    again: frozenset[str]


class _Claimed(NamedTuple):
    context: Context
    ids: tuple[str, ...]
    counted: int
    position: int | None
    until: float
    key: str | None


class _Agent:
    def __init__(self) -> None:
        self.shown: dict[str, Shown] = {}
        self.turn = 0


class Memory:
    """The memory of one gate. Every method may be called from several threads at once."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._agents: OrderedDict[Context, _Agent] = OrderedDict()
        self._claims: OrderedDict[str, _Claimed] = OrderedDict()
        self._answers: OrderedDict[str, object] = OrderedDict()
        self._events: dict[str, tuple[threading.Lock, int]] = {}
        self._deliveries = 0

    def alone(self) -> AbstractContextManager[object]:
        """Keep all others out, so that what was looked at still holds when something is claimed."""
        return self._lock

    def deliveries(self) -> int:
        """How many deliveries were acknowledged so far."""
        with self._lock:
            return self._deliveries

    def held(
        self,
        context: Context,
        refires: Mapping[str, float],
        position: int | None,
        window: int,
        floor: float,
        now: float,
    ) -> frozenset[str]:
        """Of these ids, with the fraction of the window each is held for, those that may not show again.

        An id is held while 0.5^((position - shown at) / (fraction * window)) is at or above `floor`, and
        while another hook has it claimed. A fraction of 0 never holds what was shown. A position that is
        not known is taken as the one it was shown at.
        """  # fmt: skip
        with self._lock:
            agent = self._agent(context)
            busy = self.taken(context, self._deliveries, now)
            return frozenset(
                name
                for name, refire in refires.items()
                if name in busy or _holds(agent.shown.get(name), refire, position, window, floor)
            )

    def new_turn(self, context: Context) -> None:
        """A person asked for something: the count of the turn starts anew."""
        with self._lock:
            self._agent(context).turn = 0

    def turn_count(self, context: Context) -> int:
        """Snippets of this turn, claimed ones included."""
        with self._lock:
            waiting = sum(claim.counted for claim in self._claims.values() if claim.context == context)
            return self._agent(context).turn + waiting

    def taken(self, context: Context, since: int, now: float) -> frozenset[str]:
        """What other hooks have claimed, or delivered after the delivery of this number."""
        with self._lock:
            self._expire(now)
            waiting = (claim.ids for claim in self._claims.values() if claim.context == context)
            shown = self._agent(context).shown.items()
            return frozenset(chain(*waiting, (name for name, one in shown if one.delivery > since)))

    def claim(
        self,
        result_id: str,
        context: Context,
        ids: Iterable[str],
        *,
        counted: Collection[str],
        position: int | None,
        since: int,
        now: float,
        key: str | None,
    ) -> tuple[str, ...]:
        """Take ids for showing; those that another hook took meanwhile are left out of what it returns.

        Args:
            counted: Those of them that count for the turn.
            since: `deliveries` when the ids were found free.
        """
        with self._lock:
            taken = self.taken(context, since, now)
            free = tuple(one for one in ids if one not in taken)
            counts = sum(one in counted for one in free)
            claimed = _Claimed(context, free, counts, position, now + CLAIM_S, key)
            _put(self._claims, result_id, claimed, MOST_RESULTS)
            return free

    def delivered(self, result_id: str, now: float) -> Settled | None:
        """The host has the text: its snippets are shown. None for an id that is unknown or settled."""
        with self._lock:
            self._expire(now)
            claim = self._claims.pop(result_id, None)
            if claim is None:
                return None
            self._deliveries += 1
            agent = self._agent(claim.context)
            agent.turn += claim.counted
            again = frozenset(name for name in claim.ids if name in agent.shown)
            for name in claim.ids:
                agent.shown[name] = Shown(claim.position, self._deliveries)
            return Settled(claim.ids, again)

    def withdrawn(self, result_id: str) -> None:
        """The host did not get the text: nothing was shown."""
        with self._lock:
            claim = self._claims.pop(result_id, None)
            if claim is not None and claim.key is not None:
                self._answers.pop(claim.key, None)

    def reset(self, session: str, agent: str | None = None) -> None:
        """A context was replaced: of one agent, or of a whole session where `agent` is None."""
        with self._lock:
            gone = [one for one in self._agents if one[0] == session and agent in (None, one[1])]
            for context in gone:
                del self._agents[context]
            for result_id, claim in list(self._claims.items()):
                if claim.context in gone or (
                    claim.context[0] == session and agent in (None, claim.context[1])
                ):
                    del self._claims[result_id]

    def restore(self, context: Context, name: str, position: int | None) -> None:
        """A snippet was shown before this process began; what it knows itself counts before."""
        with self._lock:
            self._agent(context).shown.setdefault(name, Shown(position))

    @contextmanager
    def once(self, key: str) -> Iterator[None]:
        """Deal with an event of the host alone; a repeat that comes meanwhile waits for the first."""
        with self._lock:
            lock, users = self._events.get(key, (threading.Lock(), 0))
            self._events[key] = lock, users + 1
        try:
            with lock:
                yield
        finally:
            with self._lock:
                _, users = self._events.pop(key)
                if users > 1:
                    self._events[key] = lock, users - 1

    def answer(self, key: str) -> object | None:
        """What was answered to this event of the host."""
        with self._lock:
            return self._answers.get(key)

    def remember(self, key: str, answer: object) -> None:
        """Keep an answer for a repeat of the same event."""
        with self._lock:
            _put(self._answers, key, answer, MOST_RESULTS)

    def _agent(self, context: Context) -> _Agent:
        agent = self._agents.get(context)
        if agent is None:
            agent = _Agent()
        _put(self._agents, context, agent, MOST_CONTEXTS)
        return agent

    def _expire(self, now: float) -> None:
        for result_id in [one for one, claim in self._claims.items() if claim.until < now]:
            del self._claims[result_id]


def _holds(shown: Shown | None, refire: float, position: int | None, window: int, floor: float) -> bool:
    if shown is None or refire <= 0:
        return False
    since = 0 if position is None or shown.position is None else max(0, position - shown.position)
    return 0.5 ** (since / (refire * window)) >= floor


def _put(entries: OrderedDict, key: object, value: object, most: int) -> None:
    """Set an entry as the newest; past the cap the oldest goes."""
    entries[key] = value
    entries.move_to_end(key)
    while len(entries) > most:
        entries.popitem(last=False)
