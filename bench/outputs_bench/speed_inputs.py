"""Inputs for the speed set: a realistic log and the shapes that defeat careless code."""

from __future__ import annotations

import random

from .generate.draft import hexes, pick
from .generate.logs import KINDS
from .own import output

MEGABYTE = 1_000_000


def realistic(size: int, *, emoji: bool = False) -> str:
    """Return a service log of ``size`` bytes in UTF-8, an error among every hundred lines."""
    draw = random.Random("speed")
    kind = KINDS["service-log"]
    block = [kind.record(draw, n).replace("@TIME@", f"2031-04-11T06:{n % 60:02}:00Z") for n in range(2_000)]
    if emoji:
        block = [f"{line} {pick(draw, '✅ 🚀 🐢 🧩')}" for line in block]
    text = "\n".join(block) + "\n"
    repeats = size // len(text.encode()) + 1
    lines = (f"{text}run {n} {hexes(draw, 6)}\n" for n in range(repeats))
    return _cut("".join(lines), size)


def named(name: str) -> str:
    """Return the input called ``name``; raises ``KeyError`` for an unknown one."""
    return INPUTS[name]()


def _cut(text: str, size: int) -> str:
    return text.encode()[:size].decode("utf-8", "ignore")


def _repeat(line: str, size: int) -> str:
    return line * (size // len(line))


def _unique(size: int) -> str:
    draw = random.Random("unique")
    words = ["alder", "brook", "crane", "delta", "ember", "flint", "grove", "heath", "inlet", "knoll"]
    lines, total = [], 0
    while total < size:
        line = " ".join(
            draw.choice(words) + hexes(draw, draw.randint(2, 5)) for _ in range(draw.randint(4, 9))
        )
        lines.append(line)
        total += len(line) + 1
    return _cut("\n".join(lines), size)


def _nested_json(size: int) -> str:
    item = '{"id": 1, "tags": ["a", "b"], "child": {"name": "x", "list": [1, 2, 3]}}'
    inner = ", ".join([item] * (size // (len(item) + 2)))
    depth = 60
    return '{"level": ' * depth + "[" + inner + "]" + "}" * depth


INPUTS = {
    "121 kB log": lambda: realistic(121_000),
    "121 kB pod list": lambda: _cut(output("pod-list", 7, ["x"]), 121_000),
    "10 MB log, ASCII": lambda: realistic(10 * MEGABYTE),
    "10 MB log, emoji": lambda: realistic(10 * MEGABYTE, emoji=True),
    "10 MB in one line": lambda: realistic(10 * MEGABYTE).replace("\n", " "),
    "10 MB, all lines unique": lambda: _unique(10 * MEGABYTE),
    "10 MB, all lines equal": lambda: _repeat(
        "WARN row skipped: field 'discount' is missing\n", 10 * MEGABYTE
    ),
    "10 MB, all ANSI": lambda: _repeat("\x1b[31mE\x1b[0m\x1b[1m \x1b[32mo\x1b[0m\x1b[K\n", 10 * MEGABYTE),
    "10 MB nested JSON": lambda: _nested_json(10 * MEGABYTE),
}
