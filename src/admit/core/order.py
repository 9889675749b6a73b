"""The three admission orders. Each is total and deterministic: ties are always broken the same way, by id.

Candidates that share an id are one candidate, the first in the order; so repeated links to one artifact
take one place.
"""

from __future__ import annotations

from collections.abc import Iterable

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
    their own id. A parent that is not among the candidates makes its child a root; so does a cycle of
    parents, which is broken at its first member by rank.
    """
    ordered = by_rank(candidates)
    known = {candidate.id: candidate for candidate in ordered}
    children: dict[str | None, list[Candidate]] = {}
    for candidate in ordered:
        parent = candidate.parent if candidate.parent in known else None
        children.setdefault(parent, []).append(candidate)

    result: list[Candidate] = []
    seen: set[str] = set()
    best: dict[str, tuple[float, ...]] = {}

    def grow(roots: list[Candidate]) -> None:
        # Two explicit stacks: a chain of ten thousand parents must not meet the recursion limit.
        for candidate in reversed(_preorder(roots, children, seen)):
            below = [best[child.id] for child in children.get(candidate.id, ()) if child.id in best]
            best[candidate.id] = max([candidate.rank, *below])
        stack = _siblings(roots, best)
        while stack:
            candidate = stack.pop()
            if candidate.id in seen:
                continue
            seen.add(candidate.id)
            result.append(candidate)
            stack.extend(_siblings(children.get(candidate.id, ()), best))

    grow(children.get(None, []))
    for candidate in ordered:
        if candidate.id not in seen:
            grow([candidate])
    return tuple(result)


def ancestors(candidate: Candidate, known: dict[str, Candidate]) -> Iterable[Candidate]:
    """The candidate's ancestors among `known`, nearest first; a cycle ends where it closes."""
    visited = {candidate.id}
    parent = candidate.parent
    while parent is not None and parent in known and parent not in visited:
        visited.add(parent)
        yield known[parent]
        parent = known[parent].parent


def _preorder(
    roots: Iterable[Candidate], children: dict[str | None, list[Candidate]], seen: set[str]
) -> list[Candidate]:
    found: list[Candidate] = []
    visited: set[str] = set()
    stack = list(roots)
    while stack:
        candidate = stack.pop()
        if candidate.id in visited or candidate.id in seen:
            continue
        visited.add(candidate.id)
        found.append(candidate)
        stack.extend(children.get(candidate.id, ()))
    return found


def _siblings(group: Iterable[Candidate], best: dict[str, tuple[float, ...]]) -> list[Candidate]:
    """A sibling group as a stack: the first to be taken stands last."""
    ordered = sorted(group, key=lambda one: (_negated(best.get(one.id, one.rank)), one.id))
    return ordered[::-1]


def _descending(candidate: Candidate) -> tuple[tuple[float, ...], str]:
    return (_negated(candidate.rank), candidate.id)


def _negated(rank: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(-value for value in rank)


def _distinct(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    first: dict[str, Candidate] = {}
    for candidate in candidates:
        first.setdefault(candidate.id, candidate)
    return tuple(first.values())
