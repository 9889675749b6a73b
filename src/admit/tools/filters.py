"""Who is taken out before ranking, each with a reason; the first that holds wins.

What is switched off, not allowed, or approved by nobody is hidden from the agent as if it did not exist. A
check that fails takes the route out: this is authority, and it fails closed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, NamedTuple

from .model import Exclusion, Route
from .snapshot import Snapshot

_KEPT = 16  # choices of filters that one snapshot remembers


class Globs(NamedTuple):
    """What of one source may be used: globs over ``group/name``, the name, or the whole id; deny wins."""

    allow: tuple[str, ...] = ("*",)
    deny: tuple[str, ...] = ()
    disabled: bool = False

    def denies(self, route: Route) -> str:
        """Why a route is off, as a sentence; empty where it is not."""
        if self.disabled:
            return f"the source {route.source} is off"
        words = (route.name, route.id.partition("/")[2], route.id)
        if any(fnmatchcase(word, glob) for glob in self.deny for word in words):
            return "denied by a glob"
        if not any(fnmatchcase(word, glob) for glob in self.allow for word in words):
            return "no glob allows it"
        return ""


class Filters(NamedTuple):
    """What a find is held against.

    Attributes:
        globs: By source.
        authorised: May a principal know of a route? What it raises means no.
        ready: Can a route be called now? What it raises means no.
        sources, groups: The caller's own choice; empty is any.
        exposed: Ids that the agent has already.
    """

    globs: Mapping[str, Globs] = MappingProxyType({})
    authorised: Callable[[Any, Route], bool] | None = None
    ready: Callable[[Route], bool] | None = None
    principal: Any = None
    sources: Sequence[str] = ()
    groups: Sequence[str] = ()
    exposed: Collection[str] = ()


class Filtered(NamedTuple):
    """What is not ranked, in the order of ids, and what is.

    Attributes:
        open: Ids of the routes that are left; None where all are. The same object for the same filters on the
            same snapshot, as long as no check of the caller is in them.
        faults: How many checks of the caller raised.
    """

    excluded: tuple[Exclusion, ...]
    open: frozenset[str] | None
    faults: int = 0


def apply(snapshot: Snapshot, filters: Filters) -> Filtered:
    """Hold the routes of a snapshot against the filters."""
    if filters.authorised is not None or filters.ready is not None:
        return _applied(snapshot, filters, snapshot.routes.values())
    chosen = (tuple(filters.sources), tuple(filters.groups), frozenset(filters.exposed))
    key = (tuple(filters.globs.items()), *chosen)
    held = snapshot.memo.get(key)
    if held is None:
        if len(snapshot.memo) >= _KEPT:
            snapshot.memo.clear()
        held = snapshot.memo[key] = _applied(snapshot, filters, _suspects(snapshot, filters))
    return held


def _suspects(snapshot: Snapshot, filters: Filters) -> Iterable[Route]:
    """The routes that may be out, in the order of ids, without looking at all where few may be."""
    if filters.sources or filters.groups:
        return snapshot.routes.values()
    whole = {name for name, globs in filters.globs.items() if globs != Globs()}
    whole |= {name for name, source in snapshot.sources.items() if source.cause}
    ids = {*snapshot.held, *filters.exposed} | {one.id for name in whole for one in snapshot.of(name)}
    return [route for id in sorted(ids) if (route := snapshot.find(id)) is not None]


def _applied(snapshot: Snapshot, filters: Filters, routes: Iterable[Route]) -> Filtered:
    excluded: list[Exclusion] = []
    faults = 0
    exposed = frozenset(filters.exposed)
    for route in routes:
        found, raised = _reason(snapshot, filters, exposed, route)
        faults += raised
        if found is not None:
            excluded.append(found)
    left = frozenset(snapshot.routes.keys() - {one.route_id for one in excluded}) if excluded else None
    return Filtered(tuple(excluded), left, faults)


def _reason(
    snapshot: Snapshot, filters: Filters, exposed: frozenset[str], route: Route
) -> tuple[Exclusion | None, bool]:
    """Why a route is out, and whether a check raised."""
    globs = filters.globs.get(route.source)
    if globs is not None and (why := globs.denies(route)):
        return Exclusion(route.id, "disabled", why), False
    if filters.authorised is not None:
        allowed, raised = _asked(filters.authorised, filters.principal, route)
        if not allowed:
            return Exclusion(route.id, "not_authorised", "the check failed" if raised else ""), raised
    state = snapshot.held.get(route.id)
    if state is not None:
        return Exclusion(route.id, state), False
    source = snapshot.sources.get(route.source)
    if source is not None and source.cause:
        return Exclusion(route.id, "not_ready", f"{route.source}: {source.cause}"), False
    if filters.ready is not None:
        ready, raised = _asked(filters.ready, route)
        if not ready:
            why = "the check failed" if raised else "not ready"
            return Exclusion(route.id, "not_ready", f"{route.source}: {why}"), raised
    outside = (filters.sources and route.source not in filters.sources) or (
        filters.groups and route.group not in filters.groups
    )
    if outside:
        return Exclusion(route.id, "out_of_filter"), False
    if route.id in exposed:
        return Exclusion(route.id, "already_exposed"), False
    return None, False


def _asked(check: Callable[..., bool], *values: Any) -> tuple[bool, bool]:
    """Whether a check said yes, and whether it raised; only `True` is yes."""
    try:
        return check(*values) is True, False
    except Exception:
        return False, True
