"""The index of a catalog: which route says which word in which field, and the integer counts over them.

Every number held here is an integer or made from integers at the time of asking, so that routes added,
replaced and removed leave the same state as an index built anew. A change costs the size of the route.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, TypeVar

from admit.text.terms import stem

from . import exact
from .fields import FIELDS, NAME, field_terms
from .model import Route
from .words import singular, terms, written

Places = tuple[int, ...]
"""Where a term stands in one route: field number and count, in turn."""

PREFIX = 4

_Value = TypeVar("_Value")


class Share(NamedTuple):
    """When a word of names is taken for the mark of its source.

    Attributes:
        share: The part of a source's names that must hold it, 0 to 1.
        least: Routes that the source must have.
    """

    share: float = 0.5
    least: int = 4


class Index:
    """Routes by id, and the words they are found by. Not safe against a change during a reading."""

    def __init__(self, routes: Iterable[Route] = ()) -> None:
        self.routes: dict[str, Route] = {}
        self.postings: dict[str, dict[str, Places]] = {}
        self.lengths: dict[str, Places] = {}
        self.totals: list[int] = [0] * len(FIELDS)
        self.source_sizes: Counter[str] = Counter()
        self.source_names: dict[str, Counter[str]] = {}
        self.whole_names: dict[str, dict[str, None]] = {}
        self.whole_groups: dict[str, dict[str, None]] = {}
        self.spellings: dict[str, dict[str, bool]] = {}
        self.by_stem: dict[str, dict[str, None]] = {}
        self.by_prefix: dict[str, dict[str, None]] = {}
        self.revision = 0
        self._places: dict[Places, Places] = {}
        self.add(routes)

    def __len__(self) -> int:
        return len(self.routes)

    def __contains__(self, route_id: str) -> bool:
        return route_id in self.routes

    def add(self, routes: Iterable[Route]) -> None:
        """Take routes in; one whose id is there already is replaced."""
        for route in routes:
            if route.id in self.routes:
                self.remove((route.id,))
            self._add(route)

    def replace(self, routes: Iterable[Route]) -> None:
        """Hold exactly these routes; those that are the same as before are not touched."""
        wanted = {route.id: route for route in routes}
        self.remove([route_id for route_id in self.routes if route_id not in wanted])
        self.add(route for route in wanted.values() if self.routes.get(route.id) != route)

    def remove(self, ids: Iterable[str]) -> int:
        """Let routes go; ids that are not there do nothing. Returns how many went."""
        gone = [self.routes[route_id] for route_id in dict.fromkeys(ids) if route_id in self.routes]
        for route in gone:
            self._remove(route)
        return len(gone)

    def _add(self, route: Route) -> None:
        self.revision += 1
        self.routes[route.id] = route
        fields = field_terms(route)
        for term, places in self._term_places(fields).items():
            there = self.postings.get(term)
            if there is None:
                there = self.postings[term] = {}
                self._learn(term)
            there[route.id] = places
        lengths = tuple(map(len, fields))
        self.lengths[route.id] = self._places.setdefault(lengths, lengths)
        for number, length in enumerate(lengths):
            self.totals[number] += length
        self.source_sizes[route.source] += 1
        for term in set(fields[NAME]):
            self.source_names.setdefault(term, Counter())[route.source] += 1
        for table, text in ((self.whole_names, route.name), (self.whole_groups, route.group)):
            if key := one_word(text):
                table.setdefault(key, {})[route.id] = None
        for spelling, whole in exact.spellings(route).items():
            self.spellings.setdefault(spelling, {})[route.id] = whole

    def _remove(self, route: Route) -> None:
        self.revision += 1
        del self.routes[route.id]
        fields = field_terms(route)
        for term in self._term_places(fields):
            there = self.postings[term]
            del there[route.id]
            if not there:
                del self.postings[term]
                self._forget(term)
        for number, length in enumerate(self.lengths.pop(route.id)):
            self.totals[number] -= length
        _lower(self.source_sizes, route.source)
        for term in set(fields[NAME]):
            _lower(self.source_names[term], route.source)
            if not self.source_names[term]:
                del self.source_names[term]
        for table, text in ((self.whole_names, route.name), (self.whole_groups, route.group)):
            if key := one_word(text):
                _drop(table, key, route.id)
        for spelling in exact.spellings(route):
            _drop(self.spellings, spelling, route.id)

    def _term_places(self, fields: tuple[list[str], ...]) -> dict[str, Places]:
        places: dict[str, list[int]] = {}
        for number, field in enumerate(fields):
            for term, count in Counter(field).items():
                places.setdefault(term, []).extend((number, count))
        kept = self._places  # few distinct ones: each is held once
        return {term: kept.setdefault(key := tuple(where), key) for term, where in places.items()}

    def _learn(self, term: str) -> None:
        self.by_stem.setdefault(stem(term), {})[term] = None
        if len(term) >= PREFIX:
            self.by_prefix.setdefault(term[:PREFIX], {})[term] = None

    def _forget(self, term: str) -> None:
        _drop(self.by_stem, stem(term), term)
        if len(term) >= PREFIX:
            _drop(self.by_prefix, term[:PREFIX], term)


class View:
    """An index as if only some of its routes were there: counts, averages and postings without the others.

    Args:
        allowed: Ids of the routes; None for all. Ids that are not in the index do nothing.
    """

    def __init__(self, index: Index, allowed: Collection[str] | None, share: Share) -> None:
        self.index = index
        self._share = share
        self.outside: frozenset[str] = frozenset()
        if allowed is not None:
            self.outside = frozenset(index.routes.keys() - set(allowed))
        self.n = len(index.routes) - len(self.outside)
        totals, sizes = list(index.totals), index.source_sizes
        if self.outside:
            sizes = sizes.copy()
            for route_id in self.outside:
                sizes[index.routes[route_id].source] -= 1
                for number, length in enumerate(index.lengths[route_id]):
                    totals[number] -= length
        self._sizes = sizes
        self.averages = tuple(total / self.n if self.n else 0.0 for total in totals)

    def within(self, ids: Mapping[str, object]) -> Iterable[str]:
        """Those of these ids that are in the view."""
        return ids if not self.outside else [one for one in ids if one not in self.outside]

    def postings(self, term: str) -> Mapping[str, Places]:
        """Where the term stands, by route."""
        found = self.index.postings.get(term, {})
        if self.outside:
            return {route_id: places for route_id, places in found.items() if route_id not in self.outside}
        return found

    def marked_sources(self, term: str, postings: Mapping[str, Places]) -> frozenset[str]:
        """Sources whose mark this term is: it is the source's own name, or most of its names hold it."""
        counts = self.index.source_names.get(term)
        if not counts:
            return frozenset()
        if self.outside:
            routes = self.index.routes
            counts = Counter(routes[one].source for one, places in postings.items() if places[0] == NAME)
        share, least = self._share
        return frozenset(
            source
            for source, count in counts.items()
            if (self._sizes[source] >= least and count >= share * self._sizes[source])
            or term in terms(source)
        )


def one_word(text: str) -> str:
    """A whole name as one word, its last part singular."""
    return singular("".join(part for parts in written(text) for part in parts))


def _lower(counts: Counter[str], key: str) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]


def _drop(table: dict[str, dict[str, _Value]], key: str, member: str) -> None:
    members = table[key]
    members.pop(member, None)
    if not members:
        del table[key]
