"""The catalog: every known route, by id, and the state of each source.

Readers take a `Snapshot`, which never changes; a query finishes on the one it began with.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable
from pathlib import Path
from types import MappingProxyType

from admit.errors import UnknownTool, UsageError

from .drift import Drift, Pins, drifts
from .model import PinState, Problem, Route
from .route import Routes
from .schema import BOUNDS, Bounds
from .snapshot import HOLD, LOGGED_IDS, Changes, DriftRule, Log, Snapshot, Source

__all__ = ["Catalog", "Changes", "Snapshot", "Source"]


_NEVER = object()  # no mark of any pins


class Catalog:
    """Routes of any number of sources. Every method may be called from any thread.

    The first tools that are added of a source that has no baseline are its baseline: whoever adds them has
    agreed to them. From then on a new or changed tool of a source that holds is kept out until `approve`.

    Args:
        pins: Where baselines are kept; None is this object's memory alone.
        now_ms: UTC epoch ms, for the record.
    """

    def __init__(
        self, pins: Pins | None = None, *, now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    ) -> None:
        self._lock = threading.RLock()
        self.pins = pins if pins is not None else Pins(now_ms=now_ms)
        self._now_ms = now_ms
        self._routes: dict[str, Route] = {}
        self._ids: list[str] = []
        self._lines: list[bytes] = []
        self._sources: dict[str, Source] = {}
        self._held: dict[str, PinState] = {}
        self._pinned: object = _NEVER
        self._number = 0
        self._log = Log(self)
        self._shown: Snapshot | None = None

    def snapshot(self) -> Snapshot:
        """The catalog as it stands, with the pins as they stand on the disk."""
        with self._lock:
            pinned = self.pins.mark()
            if pinned != self._pinned:
                held = self._states(self._routes.values())
                self._pinned = pinned
                if held != self._held:
                    self._held, self._shown = held, None
                    self._number += 1
            if self._shown is None:
                self._shown = Snapshot(
                    self._routes,
                    self._ids,
                    MappingProxyType(dict(sorted(self._sources.items()))),
                    MappingProxyType(self._held),
                    self._number,
                    self._lines,
                    self._log,
                )
            return self._shown

    @property
    def revision(self) -> str:
        """The revision of the catalog as it stands."""
        return self.snapshot().revision

    def __len__(self) -> int:
        return len(self._ids)

    def get(self, id_or_name: str) -> Route:
        """The route of an id, or of a name that only one has.

        Raises:
            UnknownTool: None has it.
            AmbiguousTool: Several have this name.
        """
        return self.snapshot().get(id_or_name)

    def add(self, routes: Iterable[Route], *, drift: DriftRule = "", by: str = "add") -> Changes:
        """Put routes in, each in place of one of the same id; all of them become visible at once.

        Args:
            drift: ``hold`` or ``trust`` for their sources; empty leaves it, or takes the kind's own.
            by: Who agrees to the tools of a source that has no baseline yet.

        Raises:
            OSError: A baseline cannot be written; the catalog is as it was.
        """
        given = routes if isinstance(routes, Routes) else Routes(routes)
        return self._put(given, drift, by)

    def refresh(self, source: str, routes: Iterable[Route]) -> Changes:
        """Put what a source answered in place of all that was known of it; never a baseline.

        An answer without a tool, where there were some, changes nothing: the source is marked stale, which is
        a problem, and its tools stay in use.

        Raises:
            UnknownTool: There is no such source; `add` brings it in.
            UsageError: A route is another source's.
        """
        given = routes if isinstance(routes, Routes) else Routes(routes)
        problems = given.problems
        if other := next((one.id for one in given if one.source != source), ""):
            raise UsageError(f"{other} is no tool of {source}; refresh each source by itself")
        with self._lock:
            if source not in self._sources:
                raise UnknownTool(source)
            known = [id for id in self._ids if self._routes[id].source == source]
            if known and not given:
                empty = Problem(source, "", "source_empty", "answered without a tool where it had some")
                self._mark(source, "", (*problems, empty))
                return Changes(problems=(*problems, empty))
            fresh = {one.id for one in given}
            gone = [id for id in known if id not in fresh]
            changes = self._put(given, "", None, gone=gone, read=source)
            return changes._replace(removed=tuple(gone))

    def failed(self, source: str, cause: str) -> None:
        """Mark a source as not ready; its routes stay.

        Raises:
            UnknownTool: There is no such source.
        """
        with self._lock:
            if source not in self._sources:
                raise UnknownTool(source)
            self._mark(source, cause, self._sources[source].problems)

    def remove(self, ids: Iterable[str]) -> int:
        """Take routes out, and give how many there were; ids that are not there are passed over."""
        with self._lock:
            gone = [id for id in dict.fromkeys(ids) if id in self._routes]
            self._put(Routes(), "", None, gone=gone)
            return len(gone)

    def remove_source(self, source: str) -> int:
        """Take a source out with its routes and its baseline, and give how many routes there were.

        Raises:
            OSError: The pins cannot be written; the catalog is as it was.
        """
        with self._lock:
            self.pins.forget(source)
            gone = self.remove([id for id in self._ids if self._routes[id].source == source])
            self._sources.pop(source, None)
            self._changed()
            return gone

    def diff(self, source: str = "") -> list[Drift]:
        """What differs from the baseline, in the order of ids; empty is every source."""
        snapshot = self.snapshot()
        names = [source] if source else [*snapshot.sources]
        return [drift for name in names for drift in drifts(name, snapshot.of(name), self.pins)]

    def approve(self, ids: Iterable[str], *, by: str) -> None:
        """Take tools as they are now into the baseline of their source.

        An id that is gone leaves the baseline.

        Raises:
            UnknownTool: An id is neither in the catalog nor in a baseline; nothing was approved.
            UsageError: The pins cannot be read, so nothing can be added to them.
            OSError: They cannot be written.
        """
        with self._lock:
            wanted = list(dict.fromkeys(ids))
            routes = [self._routes[id] for id in wanted if id in self._routes]
            gone = [id for id in wanted if id not in self._routes]
            for id in gone:
                if not self.pins.holds(id):
                    raise UnknownTool(id)
            self.pins.approve(routes, by=by, gone=gone)

    @classmethod
    def load(cls, path: Path, *, pins: Pins | None = None, bounds: Bounds = BOUNDS) -> Catalog:
        """The catalog of a file; an empty one where there is none.

        Args:
            pins: None is `pins.json` beside the file.
            bounds: How large a tool may be before only its name and description are read.

        Raises:
            ConfigError: The file cannot be used: it is not this user's alone, damaged, or of a newer version.
        """
        from .catalog_file import read

        catalog = cls(pins if pins is not None else Pins(str(path.with_name("pins.json"))))
        sources, routes = read(path, bounds)
        with catalog._lock:
            catalog._sources = sources
            catalog._put(Routes(routes), "", None)
        return catalog

    def save(self, path: Path) -> None:
        """Write the catalog, whole or not at all.

        Raises:
            OSError: It cannot be written; what stood there stays.
        """
        from .catalog_file import write

        write(path, self.snapshot())

    def _put(
        self,
        routes: Routes,
        drift: DriftRule,
        by: str | None,
        *,
        gone: Iterable[str] = (),
        read: str = "",
    ) -> Changes:
        """One change of everything that readers see; `by` may make baselines, None makes none."""
        with self._lock:
            table, sources = dict(self._routes), dict(self._sources)
            touched = list(gone)
            for id in touched:
                del table[id]
            kinds: dict[str, list[str]] = {"added": [], "replaced": [], "same": []}
            for one in routes:
                held = table.get(one.id)
                kinds["added" if held is None else "same" if held == one else "replaced"].append(one.id)
                if held != one:
                    table[one.id] = one
                    touched.append(one.id)
            if by is not None:
                firsts = {one.source for one in routes} - sources.keys()
                unknown = [one for one in routes if one.source in firsts and not self.pins.has(one.source)]
                self.pins.approve([one for one in unknown if self._holds(one, drift)], by=by)
            for one in routes:
                if one.source not in sources:
                    sources[one.source] = Source(one.source_kind, drift or HOLD[one.source_kind])
                elif drift and sources[one.source].drift != drift:
                    sources[one.source] = sources[one.source]._replace(drift=drift)
            problems = routes.problems
            for name in {one.source for one in problems if one.source in sources} | ({read} & sources.keys()):
                own = tuple(one for one in problems if one.source == name)
                sources[name] = sources[name]._replace(problems=own)
            if read in sources:
                sources[read] = sources[read]._replace(cause="", stale_since_ms=None)
            if routes and routes.instructions:
                name = routes[0].source
                sources[name] = sources[name]._replace(instructions=routes.instructions)
            self._routes, self._sources = table, sources
            self._touch(touched, drift)
            return Changes(
                tuple(kinds["added"]), tuple(kinds["replaced"]), tuple(kinds["same"]), problems=problems
            )

    def _holds(self, route: Route, drift: DriftRule) -> bool:
        return (drift or HOLD[route.source_kind]) == "hold"

    def _touch(self, ids: list[str], drift: DriftRule) -> None:
        """Bring the order, the lines of the revision and the pin states up to the table."""
        self._number += 1
        self._log = self._log.then(self._number, tuple(ids))
        if len(ids) > LOGGED_IDS:
            self._ids = sorted(self._routes)
            self._lines = [_line(self._routes[id]) for id in self._ids]
        else:
            self._ids, self._lines = list(self._ids), list(self._lines)
            for id in dict.fromkeys(ids):
                at, there = bisect_left(self._ids, id), id in self._routes
                known = self._ids[at : at + 1] == [id]
                self._ids[at : at + known] = [id] if there else []
                self._lines[at : at + known] = [_line(self._routes[id])] if there else []
        if drift or self.pins.mark() != self._pinned:
            self._changed()
            return
        kept: dict[str, PinState] = {id: state for id, state in self._held.items() if id in self._routes}
        fresh = [self._routes[id] for id in ids if id in self._routes]
        for one in fresh:
            kept.pop(one.id, None)
        kept.update(self._states(fresh))
        self._held = kept
        self._shown = None

    def _states(self, routes: Iterable[Route]) -> dict[str, PinState]:
        """Of the sources that hold, what is not approved."""
        holding = {name for name, source in self._sources.items() if source.drift == "hold"}
        states = self.pins.states(one for one in routes if one.source in holding)
        return {id: state for id, state in states.items() if state != "approved"}

    def _mark(self, source: str, cause: str, problems: tuple[Problem, ...]) -> None:
        held = self._sources[source]
        since = held.stale_since_ms if held.stale_since_ms is not None else self._now_ms()
        fresh = held._replace(cause=cause, problems=problems, stale_since_ms=since)
        self._sources = {**self._sources, source: fresh}
        self._changed()

    def _changed(self) -> None:
        """Let the next snapshot be made anew, pin states and all."""
        self._number += 1
        self._shown, self._pinned = None, _NEVER


def _line(route: Route) -> bytes:
    """What a route puts into the revision; the length keeps one id from reading as two."""
    return f"{len(route.id)} {route.id} {route.fingerprint}\n".encode("utf-8", "surrogatepass")
