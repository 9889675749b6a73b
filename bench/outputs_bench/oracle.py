"""The most a selector could show: the best choice of whole lines by someone who sees the labels."""

from __future__ import annotations

import math

from .baselines import MARKER, join
from .case import Case
from .lines import terminal_lines


def oracle(case: Case, budget: int) -> str:
    """Return the lines that hold most of ``case.at`` inside ``budget``, at the baselines' line and gap costs.

    Exact: for each number of wanted lines the cheapest choice is known, so lines between two wanted ones are
    kept where they cost less than a gap.
    """
    lines = terminal_lines(case.text)
    return join(lines, cheapest_choice([len(line) + 1 for line in lines], set(case.at), budget))


def cheapest_choice(costs: list[int], wanted: set[int], budget: int) -> list[int]:
    """Return the line indexes, ascending, that hold the most ``wanted`` ones for at most ``budget``
    characters.

    ``kept[k]`` and ``gap[k]`` are the least costs of a prefix with ``k`` wanted lines that ends in a kept
    line or in a gap; ``steps`` remembers for both which of the two the prefix before ended in.
    """
    kept: list[float] = [0]
    gap: list[float] = [math.inf]
    steps: list[tuple[list[bool], list[bool]]] = []
    for index, cost in enumerate(costs):
        was_gap = [g < k for k, g in zip(kept, gap, strict=True)]
        stays_gap = [g <= k + MARKER for k, g in zip(kept, gap, strict=True)]
        steps.append((was_gap, stays_gap))
        taken = [min(k, g) + cost for k, g in zip(kept, gap, strict=True)]
        gap = [min(g, k + MARKER) for k, g in zip(kept, gap, strict=True)]
        kept = taken
        if index in wanted:
            kept, gap = [math.inf, *kept], [*gap, math.inf]
        while len(kept) > 1 and min(kept[-1], gap[-1]) > budget:
            kept.pop()
            gap.pop()
    count = len(kept) - 1
    in_gap = gap[count] < kept[count]
    chosen = []
    for index in reversed(range(len(costs))):
        was_gap, stays_gap = steps[index]
        if in_gap:
            in_gap = stays_gap[count]
        else:
            chosen.append(index)
            count -= index in wanted
            in_gap = was_gap[count]
    return chosen[::-1] if kept else []


def lines_holding(text: str, needles: tuple[str, ...]) -> tuple[int, ...]:
    """Return for each needle the index of its shortest terminal line, ascending, each once."""
    lines = terminal_lines(text)
    best = set()
    for needle in needles:
        holding = [i for i, line in enumerate(lines) if needle in line]
        if holding:
            best.add(min(holding, key=lambda i: len(lines[i])))
    return tuple(sorted(best))


def distinct_lines(case: Case) -> tuple[int, ...]:
    """Return ``case.at`` with equal lines left out but for their last one."""
    lines = terminal_lines(case.text)
    return tuple(sorted({lines[index].rstrip(): index for index in case.at}.values()))
