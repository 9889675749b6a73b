"""One measured figure beside what is to be reached, and how a table of them is printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from typing import NamedTuple


class Figure(NamedTuple):
    """A row: what was measured, the value in words, what is to be reached, and what stands beside it."""

    what: str
    measured: str
    reach: str = "–"
    beside: str = "–"


def nearest_rank(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile: the smallest value with at least `share` of all at or below it."""
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def print_table(title: str, figures: Iterable[Figure]) -> None:
    """Print Markdown."""
    print(f"\n## {title}\n\n| what | measured | to reach | beside it |\n|---|---|---|---|")
    for one in figures:
        print(f"| {one.what} | {one.measured} | {one.reach} | {one.beside} |")


def percent(share: float) -> str:
    """A share as a percentage with one digit."""
    return f"{100 * share:.1f} %"
