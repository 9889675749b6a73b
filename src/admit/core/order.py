"""The three admission orders. Each is total and deterministic: ties are always broken the same way, by id.

Candidates that share an id are one candidate, the first in the order; so repeated links to one artifact
take one place. A rank that is not a number counts as the lowest.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from math import inf

from .candidate import Candidate


def as_given(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """The order in which they came: the document's own order."""
    return _distinct(candidates)


def by_rank(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Largest rank first; equal ranks by id, by code points."""
    return _distinct(sorted(candidates, key=_descending))


def forest(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Depth first, each tree whole before the next, parents before their children.

    Roots, and siblings under one parent, stand by the best rank in their subtree, largest first, then by
    their own id. A parent that is not among the candidates makes its child a root; a cycle of parents is
    broken above its first member by rank.
    """
    # Explicit stacks throughout: a chain of ten thousand parents must not meet the recursion limit.
    ordered = by_rank(candidates)
    parents = _acyclic(ordered)
    children: dict[str | None, list[Candidate]] = {}
    for candidate in ordered:
        children.setdefault(parents[candidate.id], []).append(candidate)

    best: dict[str, tuple[float, ...]] = {}
    for candidate in reversed(_depth_first(children)):
        below = (best[child.id] for child in children.get(candidate.id, ()))
        best[candidate.id] = min([_negated(candidate.rank), *below])
    for siblings in children.values():
        siblings.sort(key=lambda one: (best[one.id], one.id))
    return tuple(_depth_first(children))


def children_of(candidates: Iterable[Candidate]) -> dict[str, list[str]]:
    """The ids of each parent's children, in the order given."""
    children: dict[str, list[str]] = {}
    for candidate in candidates:
        if candidate.parent is not None:
            children.setdefault(candidate.parent, []).append(candidate.id)
    return children


def under(root: str, children: Mapping[str, Sequence[str]], stop: Container[str]) -> Iterator[str]:
    """Every id below `root`, without what is in `stop` and what hangs under that."""
    stack = [root]
    while stack:
        for child in children.get(stack.pop(), ()):
            if child not in stop:
                stack.append(child)
                yield child


def _acyclic(ordered: Sequence[Candidate]) -> dict[str, str | None]:
    """Each candidate's parent among these, None for a root."""
    place = {candidate.id: k for k, candidate in enumerate(ordered)}
    parents = {one.id: one.parent if one.parent in place else None for one in ordered}
    visited: set[str] = set()
    for candidate in ordered:
        path: list[str] = []
        here: str | None = candidate.id
        while here is not None and here not in visited:
            visited.add(here)
            path.append(here)
            here = parents[here]
        if here is not None and here in path:
            first = min(path[path.index(here) :], key=place.__getitem__)
            parents[first] = None
    return parents


def _depth_first(children: Mapping[str | None, Sequence[Candidate]]) -> list[Candidate]:
    """The whole forest, parents before their children, siblings as they stand."""
    found: list[Candidate] = []
    stack = list(reversed(children.get(None, ())))
    while stack:
        candidate = stack.pop()
        found.append(candidate)
        stack.extend(reversed(children.get(candidate.id, ())))
    return found


def _descending(candidate: Candidate) -> tuple[object, ...]:
    # After the id come the fields in which two candidates of one id can still differ.
    parent, sizes = candidate.parent or "", sorted(candidate.sizes.items())
    return _negated(candidate.rank), candidate.id, not candidate.exempt, parent, sizes


def _negated(rank: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(-value if value == value else inf for value in rank)


def _distinct(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    first: dict[str, Candidate] = {}
    for candidate in candidates:
        first.setdefault(candidate.id, candidate)
    return tuple(first.values())
