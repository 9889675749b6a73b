"""A measured figure beside its bar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

# The median of a bare interpreter where the bars in ms were set.
REFERENCE_MS = 11.0


class Figure(NamedTuple):
    """One row of the table.

    Attributes:
        measured: In `unit`.
        bar: The most, or with `least` the least, that is good; in `unit`.
        beside: What is told beside it.
    """

    name: str
    measured: float
    bar: float
    unit: str
    beside: str = ""
    least: bool = False

    @property
    def met(self) -> bool:
        """Whether the bar is met."""
        return self.measured >= self.bar if self.least else self.measured <= self.bar

    def scaled(self, bare_ms: float) -> Figure:
        """The same with its bar in ms scaled to a machine that is slower, or busier."""
        return self._replace(bar=self.bar * max(1.0, bare_ms / REFERENCE_MS))


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies, by the nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def table(figures: Sequence[Figure]) -> str:
    """The figures as a Markdown table."""
    rows = ["| what | measured | bar | | beside |", "|---|---:|---:|---|---|"]
    for one in figures:
        sign = "≥" if one.least else "≤"
        rows.append(
            f"| {one.name} | {_number(one.measured)} {one.unit} | {sign} {_number(one.bar)} {one.unit} | "
            f"{'met' if one.met else 'MISSED'} | {one.beside} |"
        )
    return "\n".join(rows)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}" if value < 10 else f"{value:,.1f}"
