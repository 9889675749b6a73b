"""The catalog at one moment: routes, sources and pin states that never change under a reader."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from admit.core.events import sha256
from admit.errors import AmbiguousTool, UnknownTool

from .model import PinState, Problem, Route, SourceKind

DriftRule = Literal["hold", "trust", ""]
HOLD: Mapping[SourceKind, DriftRule] = MappingProxyType(
    {"mcp": "hold", "openapi": "trust", "python": "trust", "json": "trust"}
)
"""What becomes of a new or changed tool that nobody approved, by the kind of its source."""


LOGGED = 64  # changes that a snapshot knows of
LOGGED_IDS = 100  # in one of them


class Source(NamedTuple):
    """What is known of one source.

    Attributes:
        drift: ``hold`` keeps new and changed tools out until they are approved; ``trust`` does not.
        problems: Of the last time it was read.
        cause: Why it is not ready, as a sentence; empty where it is.
        stale_since_ms: Since when its routes are those of an earlier reading, UTC epoch ms; None where they
            are not.
        instructions: What an MCP server says of itself; untrusted.
    """

    kind: SourceKind
    drift: DriftRule
    problems: tuple[Problem, ...] = ()
    cause: str = ""
    stale_since_ms: int | None = None
    instructions: str = ""


class Changes(NamedTuple):
    """What an addition did to the catalog, as ids in the order given."""

    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


class Log(NamedTuple):
    """Which ids the last changes of one catalog touched.

    Attributes:
        owner: Told apart from every other catalog by identity.
        start: The number of the snapshot after which it is whole.
        entries: The number of the snapshot that a change led to, and its ids.
    """

    owner: object
    start: int = 0
    entries: tuple[tuple[int, tuple[str, ...]], ...] = ()

    def then(self, number: int, ids: tuple[str, ...]) -> Log:
        """The log with one more change; a large one starts it anew, and an old one drops out."""
        if len(ids) > LOGGED_IDS:
            return Log(self.owner, number)
        entries = (*self.entries, (number, ids))
        if len(entries) <= LOGGED:
            return self._replace(entries=entries)
        return Log(self.owner, entries[0][0], entries[1:])


class Snapshot:
    """The catalog at one moment.

    Attributes:
        routes: By id, in the order of ids.
        sources: By name, in the order of names.
        held: ``new`` or ``changed`` by the id of each route that is kept out until it is approved.
        number: Grows with every change of this catalog; for caches, never for a result.
        memo: What was worked out of this snapshot before.
    """

    def __init__(
        self,
        routes: Mapping[str, Route],
        ids: list[str],
        sources: Mapping[str, Source],
        held: Mapping[str, PinState],
        number: int,
        lines: list[bytes],
        log: Log,
    ) -> None:
        self._by_id = routes
        self._ids = ids
        self._lines = lines
        self._log = log
        self.sources = sources
        self.held = held
        self.number = number
        self.memo: dict[Any, Any] = {}

    @cached_property
    def routes(self) -> Mapping[str, Route]:
        """By id, in the order of ids."""
        return MappingProxyType({id: self._by_id[id] for id in self._ids})

    @cached_property
    def revision(self) -> str:
        """``sha256:`` over the sorted pairs of id and fingerprint: one set of tools, one revision."""
        return sha256(b"".join(self._lines))

    @cached_property
    def _names(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for id in self._ids:
            found.setdefault(self._by_id[id].name, []).append(id)
        return {name: tuple(ids) for name, ids in found.items()}

    def __len__(self) -> int:
        return len(self._ids)

    def find(self, id: str) -> Route | None:
        """The route of an id, or None."""
        return self._by_id.get(id)

    def get(self, id_or_name: str) -> Route:
        """The route of an id, or of a name that only one has.

        Raises:
            UnknownTool: None has it.
            AmbiguousTool: Several have this name.
        """
        held = self._by_id.get(id_or_name)
        if held is not None:
            return held
        ids = self._names.get(id_or_name, ())
        if len(ids) > 1:
            raise AmbiguousTool(id_or_name, ids)
        if not ids:
            raise UnknownTool(id_or_name)
        return self._by_id[ids[0]]

    def of(self, source: str) -> tuple[Route, ...]:
        """The routes of a source, in the order of ids."""
        return self._by_source.get(source, ())

    @cached_property
    def _by_source(self) -> Mapping[str, tuple[Route, ...]]:
        found: dict[str, list[Route]] = {}
        for id in self._ids:
            found.setdefault(self._by_id[id].source, []).append(self._by_id[id])
        return {source: tuple(routes) for source, routes in found.items()}

    def since(self, older: Snapshot | None) -> tuple[tuple[str, ...], tuple[Route, ...]]:
        """What to take out of an index of an older snapshot, and what to put in: ids, then routes.

        A route that was replaced is in both. Both are in the order of ids.
        """
        now = self._by_id
        if older is None:
            return (), tuple(now[id] for id in self._ids)
        before = older._by_id
        ids = self._touched(older)
        fresh = tuple(now[id] for id in ids if id in now and before.get(id) is not now[id])
        gone = tuple(id for id in ids if id in before and now.get(id) is not before[id])
        return gone, fresh

    def _touched(self, older: Snapshot) -> list[str]:
        """Ids outside of which nothing differs from an older snapshot, sorted."""
        log = self._log
        if log.owner is not older._log.owner or older.number < log.start or older.number > self.number:
            return sorted({*self._ids, *older._ids})
        return sorted({id for number, ids in log.entries if number > older.number for id in ids})
