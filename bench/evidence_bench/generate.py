"""A large synthetic base of Markdown with a fixed seed: 2,013 files, about 35 MB, 21,900 links.

Sizes and links a file are drawn from heavy-tailed distributions, as in a lived-in base; one link in thirty
is broken and one in eight has a fragment, one in five of those a wrong one. The words mean nothing.
"""

from __future__ import annotations

import random
from pathlib import Path

FILES, LINKS, BYTES = 2013, 21_900, 35_000_000
SEED = 20240731
# fmt: off
_WORDS = (
    "budget", "cache", "claim", "context", "deadline", "drift", "edge", "evidence", "fact",
    "field", "file", "form", "frame", "gate", "graph", "index", "judge", "label",
    "ledger", "limit", "line", "link", "list", "load", "map", "mark", "note",
    "offer", "order", "page", "plan", "point", "prompt", "queue", "rank", "read",
    "reason", "record", "review", "root", "route", "rule", "scope", "score", "seed",
    "shape", "slot", "source", "span", "state", "step", "store", "table", "text",
    "token", "tool", "trace", "tree", "turn", "unit", "value", "verdict", "view",
    "window", "word",
)
# fmt: on


def write(root: Path, files: int = FILES, links: int = LINKS, size: int = BYTES, seed: int = SEED) -> None:
    """Write the base below an empty folder; the same bytes for the same arguments."""
    draw = random.Random(seed)
    names = [f"area-{k % 23:02}/{'deep/' * (k % 3 == 0)}note-{k:04}.md" for k in range(files)]
    weights = [draw.paretovariate(1.4) for _ in names]
    share = size / sum(weights)
    per_file = [0] * files
    for k in draw.choices(range(files), weights=[min(weight, 12) for weight in weights], k=links):
        per_file[k] += 1
    for k, name in enumerate(names):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_text(draw, k, names, per_file[k], int(weights[k] * share)), encoding="utf-8")


def _text(draw: random.Random, own: int, names: list[str], links: int, size: int) -> str:
    up = "../" * names[own].count("/")
    parts = [f"---\ntype: note\ndescription: {' '.join(draw.choices(_WORDS, k=9))}\n---\n\n# Note {own}\n"]
    written = len(parts[0])
    waiting = [_link(draw, up, names) for _ in range(links)]
    section = 0
    while written < size or waiting:
        if draw.random() < 0.12:
            section += 1
            parts.append(f"\n## Section {section}\n")
        words = draw.choices(_WORDS, k=draw.randint(20, 90))
        for _ in range(min(len(waiting), 1 + (size <= written))):
            words.insert(draw.randrange(len(words)), waiting.pop())
        parts.append("\n" + " ".join(words) + ".\n")
        written += len(parts[-1])
    return "".join(parts)


def _link(draw: random.Random, up: str, names: list[str]) -> str:
    target = up + draw.choice(names)
    if draw.random() < 1 / 30:
        target = target.replace("note-", "gone-")
    elif draw.random() < 1 / 8:
        target += "#section-1" if draw.random() < 0.8 else "#no-such-heading"
    return f"[{' '.join(draw.choices(_WORDS, k=3))}]({target})"
