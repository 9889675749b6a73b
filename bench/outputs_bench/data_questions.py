"""The five questions of the data folder: an output, a task, and the text that answers it."""

from __future__ import annotations

import json
from pathlib import Path

from .case import Case
from .oracle import lines_holding


def load(data: Path) -> list[Case]:
    """Return the questions by name; all needles of one must be shown, and the exit code is unknown."""
    cases = []
    for file in sorted((data / "outputs" / "questions").glob("*.json")):
        row = json.loads(file.read_text(encoding="utf-8"))
        text = file.with_suffix(".txt").read_bytes().decode("utf-8", "replace")
        needles = tuple(row["needles"])
        at = lines_holding(text, needles)
        cases.append(Case(file.stem, row["kind"], text, row["task"], None, needles, "all", at))
    return cases
