"""The curve of what each row keeps by budget, as a small stand-alone SVG."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from html import escape

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 52, 150, 34, 40
COLOURS = ("#0b6e4f", "#6b7280", "#b45309", "#7c3aed", "#2563eb", "#be123c", "#0891b2", "#a16207", "#334155")


def curve_svg(title: str, points: dict[str, dict[int, float]], first: str = "admit") -> str:
    """Return the SVG of ``points`` (row, budget in characters, share kept 0..1), ``first`` drawn last and
    thick.
    """
    budgets = sorted({budget for by_budget in points.values() for budget in by_budget})
    names = sorted(points, key=lambda name: name == first)
    ends = _spread([_y(points[name][max(points[name])]) for name in names])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
        ' font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="18" font-size="13" fill="#111827">{escape(title)}</text>',
    ]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(f'<path d="M{LEFT} {_y(tick):.1f}H{WIDTH - RIGHT}" stroke="#e5e7eb"/>')
        parts.append(_text(LEFT - 6, _y(tick) + 4, "end", "#4b5563", f"{tick:.0%}"))
    for budget in budgets:
        parts.append(_text(_x(budget, budgets), HEIGHT - 22, "middle", "#4b5563", f"{budget // 1000}k"))
    parts.append(
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "middle", "#4b5563", "characters shown at most")
    )
    for place, name in enumerate(names):
        colour = COLOURS[0] if name == first else COLOURS[1 + place % (len(COLOURS) - 1)]
        ordered = sorted(points[name].items())
        path = "L".join(f"{_x(budget, budgets):.1f} {_y(value):.1f}" for budget, value in ordered)
        dash = ' stroke-dasharray="4 3"' if name == "oracle" else ""
        thick = 3 if name == first else 1.5
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="{thick}"{dash}/>')
        parts.append(_text(WIDTH - RIGHT + 8, ends[place] + 4, "start", colour, name))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _text(x: float, y: float, anchor: str, colour: str, words: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'


def _x(budget: int, budgets: Sequence[int]) -> float:
    span = max(budgets) - min(budgets) or 1
    return LEFT + (budget - min(budgets)) / span * (WIDTH - LEFT - RIGHT)


def _y(value: float) -> float:
    return TOP + (1 - value) * (HEIGHT - TOP - BOTTOM)


def _spread(heights: Sequence[float], apart: float = 13.0) -> list[float]:
    """Return label heights in the given order, moved apart so that no two names overlap."""
    order = sorted(range(len(heights)), key=lambda i: (heights[i], -i))
    placed = list(heights)
    for before, after in itertools.pairwise(order):
        placed[after] = max(placed[after], placed[before] + apart)
    lowest = HEIGHT - BOTTOM
    excess = placed[order[-1]] - lowest if order else 0.0
    return [height - max(0.0, excess) for height in placed]
