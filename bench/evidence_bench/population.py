"""The public knowledge base: which notes are reviewed, how many artifacts each offers, and what a cap reads.

The population is the direct children of `kb/notes` and `kb/reference` with front matter, 338 files of
zby/commonplace at 6bf0a912. Percentiles are nearest-rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from admit.evidence.base import Base
from admit.evidence.plan import Plan
from admit.evidence.planning import plan

from .figures import Figure, nearest_rank, percent

ROOT = Path("evidence/commonplace-kb")
FOLDERS = ("kb/notes", "kb/reference")
# Cap: share of notes fully covered, as the published table has it.
PUBLISHED_CURVE = {5: 0.281, 8: 0.589, 12: 0.769, 16: 0.899, 20: 0.962, 32: 0.994}
PUBLISHED_POOLED = {5: 0.518, 16: 0.946}


class Population(NamedTuple):
    """The plans of every note, uncapped."""

    notes: tuple[str, ...]
    plans: tuple[Plan, ...]

    @property
    def offers(self) -> list[int]:
        """Distinct artifacts a note."""
        return [len(one.offers) for one in self.plans]

    @property
    def occurrences(self) -> list[int]:
        """Links to artifacts a note, repeats counted."""
        return [sum(len(offer.links) for offer in one.offers) for one in self.plans]


def notes_of(root: Path) -> list[str]:
    """The population, in byte order of paths."""
    found = [path for folder in FOLDERS for path in (root / folder).glob("*.md")]
    return sorted(
        path.relative_to(root).as_posix() for path in found if path.read_bytes().startswith(b"---\n")
    )


def measure(data: Path) -> Population:
    """Plan every note of the population."""
    root = data / ROOT
    notes = notes_of(root)
    with Base.open(root) as base:
        return Population(tuple(notes), tuple(plan(base, note) for note in notes))


def figures(population: Population) -> list[Figure]:
    """The distribution and the coverage curve beside the published ones."""
    offers, occurrences = population.offers, population.occurrences
    marks = " · ".join(
        f"p{100 * share:.0f} {nearest_rank(offers, share):.0f}" for share in (0.5, 0.9, 0.95, 0.99)
    )
    repeating = sum(1 for a, b in zip(offers, occurrences, strict=True) if b > a) / len(offers)
    rows = [
        Figure("notes of the population", f"{len(offers)}", "338"),
        Figure("distinct artifacts a note (distinct-v1)", f"{marks} · max {max(offers)}",
               "p50 7 · p90 17 · p95 19 · p99 27 · max 36", "published: 7, 16, max 35"),
        Figure("links to artifacts, distinct of them", f"{sum(occurrences):,}, {sum(offers):,}",
               "4,267, 3,036"),
        Figure("notes that link one artifact twice", percent(repeating), "75.4 %"),
    ]  # fmt: skip
    for cap, published in PUBLISHED_CURVE.items():
        covered = share_covered(offers, cap)
        pooled = sum(min(one, cap) for one in offers) / sum(offers)
        wanted = PUBLISHED_POOLED.get(cap)
        beside = f"pooled artifacts {percent(pooled)}" + (f", to reach {percent(wanted)}" if wanted else "")
        rows.append(Figure(f"notes fully covered at {cap}", percent(covered), percent(published), beside))
    return rows


def share_covered(offers: Sequence[int], cap: int) -> float:
    """The share of notes whose offers all fit the cap."""
    return sum(1 for one in offers if one <= cap) / len(offers)
