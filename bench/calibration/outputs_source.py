"""The labelled tool outputs that the local judge is calibrated on at the outputs door.

    python bench/calibration/outputs_source.py

writes `outputs.jsonl` beside this file, the same bytes every time. Each source is one invented tool output:
filler lines in its style, snippets that stand in the filler, and tasks with the level of each snippet for
the task (3 answers directly, with specifics; 2 answers in part, or supports; 1 same topic, does not help; a
snippet that is not named is 0, and so is plain filler). Snippets share words with tasks they do not help.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from outputs_texts import SOURCES

SEED = 20240601
PLAIN_PASSAGES = 5
SIZES = (400, 2000)  # characters of a passage

WORDS = (
    "alpha", "amber", "basil", "birch", "cedar", "cobalt", "coral", "delta", "ember", "fern", "flint",
    "garnet", "hazel", "indigo", "iris", "jade", "kelp", "larch", "lilac", "maple", "mint", "moss",
    "olive", "onyx", "opal", "pearl", "pine", "quartz", "raven", "reed", "river", "rowan", "ruby", "sage",
    "slate", "sorrel", "spruce", "teal", "thyme", "topaz", "tulip", "umber", "violet", "willow",
)  # fmt: skip


class Source(NamedTuple):
    """One tool output. Filler templates hold {n} {m} {hex} {ip} {time} {word} {other}."""

    name: str
    filler: tuple[str, ...]
    snippets: dict[str, str]
    tasks: tuple[tuple[str, dict[str, int]], ...]


def passages(source: Source, random: Random) -> tuple[list[str], list[str]]:
    """The passages in document order, and the snippet each holds; empty for plain filler."""
    holds = [*source.snippets, *[""] * PLAIN_PASSAGES]
    random.shuffle(holds)
    found = []
    for key in holds:
        size = random.randint(*SIZES)
        lines = [line for line in source.snippets.get(key, "").strip("\n").split("\n") if key]
        before, after = [], []
        while sum(map(len, before + lines + after)) + len(before + lines + after) < size:
            (before if random.random() < 0.5 else after).append(filled(source, random))
        found.append("\n".join([*before, *lines, *after]))
    return found, holds


def filled(source: Source, random: Random) -> str:
    return random.choice(source.filler).format(
        n=random.randint(1, 99),
        m=random.randint(100, 9999),
        hex=f"{random.getrandbits(40):010x}",
        ip=f"10.{random.randint(0, 255)}.{random.randint(0, 255)}.{random.randint(1, 254)}",
        time=f"{random.randint(0, 23):02}:{random.randint(0, 59):02}:{random.randint(0, 59):02}",
        word=random.choice(WORDS),
        other=random.choice(WORDS),
    )


def rows() -> list[dict]:
    random = Random(SEED)
    found = []
    for name, filler, snippets, tasks in SOURCES:
        source = Source(name, filler, snippets, tasks)
        texts, holds = passages(source, random)
        labelled = []
        for number, (task, levels) in enumerate(source.tasks, 1):
            if not levels.keys() <= source.snippets.keys():
                raise ValueError(f"{name}: {task}")
            labelled.append(
                {"case": f"{name}/{number}", "task": task, "levels": [levels.get(key, 0) for key in holds]}
            )
        found.append({"output": name, "passages": texts, "tasks": labelled})
    return found


def content() -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows())


if __name__ == "__main__":
    (Path(__file__).parent / "outputs.jsonl").write_text(content(), encoding="utf-8")
