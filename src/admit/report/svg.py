"""Plots as inline SVG: bars over time and a scatter on logarithmic axes. Colours are classes of the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 720, 240
LEFT, RIGHT, TOP, BOTTOM = 56, 28, 20, 28
MOST_LABELS = 5


class Column(NamedTuple):
    """One column: its label, and its parts from the bottom up, each a class name and a value."""

    label: str
    parts: tuple[tuple[str, int], ...]


class Dot(NamedTuple):
    """One dot, with its class name."""

    x: int
    y: int
    name: str


def columns(data: Sequence[Column], *, title: str, unit: str) -> str:
    """Stacked columns from zero. Every part says its value when it is pointed at."""
    if not data:
        return ""
    top = _ceiling(max(sum(value for _, value in one.parts) for one in data))
    plot_width, plot_height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    step = plot_width / len(data)
    bar = max(1.0, min(step * 0.8, 48.0))
    parts = [_grid(level * top // 4, TOP + plot_height * (1 - level / 4)) for level in range(5)]
    every = -(-len(data) // MOST_LABELS)
    for place, one in enumerate(data):
        left = LEFT + step * place + (step - bar) / 2
        base = float(TOP + plot_height)
        for name, value in one.parts:
            height = plot_height * value / top
            base -= height
            if value:
                said = escape(f"{one.label}: {value:,} {name if len(one.parts) > 1 else unit}")
                parts.append(
                    f'<rect class="{name}" x="{left:.1f}" y="{base:.1f}" width="{bar:.1f}" '
                    f'height="{max(height, 0.5):.1f}"><title>{said}</title></rect>'
                )
        if place % every == 0:
            parts.append(_text(left + bar / 2, HEIGHT - 8, one.label, "middle"))
    return _svg(title, parts)


def scatter(data: Sequence[Dot], *, title: str, x: str, y: str) -> str:
    """Dots on two logarithmic axes of one range, with the line on which nothing is left out."""
    if not data:
        return ""
    values = [value for dot in data for value in (dot.x, dot.y) if value > 0]
    low = math.floor(math.log10(min(values, default=1)))
    high = max(math.ceil(math.log10(max(values, default=10))), low + 1)
    height = 2 * HEIGHT

    def across(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(max(value, 10**low)) - low) / (high - low)

    def up(value: float) -> float:
        plot = height - TOP - BOTTOM
        return TOP + plot * (1 - (math.log10(max(value, 10**low)) - low) / (high - low))

    parts = []
    for power in range(low, high + 1):
        parts.append(_grid(10**power, up(10**power)))
        parts.append(_text(across(10**power), height - 10, _short(10**power), "middle"))
    parts.append(
        f'<line class="whole" x1="{across(10**low):.1f}" y1="{up(10**low):.1f}" '
        f'x2="{across(10**high):.1f}" y2="{up(10**high):.1f}"/>'
    )
    for dot in data:
        said = escape(f"{dot.x:,} {x}, {dot.y:,} {y}, {dot.name}")
        parts.append(
            f'<circle class="{dot.name}" cx="{across(dot.x):.1f}" cy="{up(dot.y):.1f}" r="4">'
            f"<title>{said}</title></circle>"
        )
    return _svg(title, parts, height)


def _svg(title: str, parts: Sequence[str], height: int = HEIGHT) -> str:
    said = escape(title)
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{said}">'
        f"<title>{said}</title>{''.join(parts)}</svg>"
    )


def _grid(value: int, y: float) -> str:
    line = f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>'
    return line + _text(LEFT - 6, y + 4, _short(value), "end")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _ceiling(value: int) -> int:
    """The next of 4, 8, 20, 40, 80, 200, … so that a quarter of it is a whole number."""
    size = 4
    while True:
        for factor in (1, 2, 5):
            if size * factor >= value:
                return size * factor
        size *= 10


def _short(value: int) -> str:
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value}"
