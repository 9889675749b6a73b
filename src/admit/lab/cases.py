"""Labelled cases for calibration: one file a door, JSON lines, written by people and never by telemetry.

Guidance: ``{"item", "description"}`` for each item, then ``{"case", "task", "relevant": [items]}``; every
case is held against every item. Outputs: ``{"output", "passages": [texts], "tasks": [{"case", "task",
"levels": [one per passage]}]}``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from admit.errors import CalibrationError


class Case(NamedTuple):
    """A task and labelled subjects.

    Attributes:
        group: What must not be split between fitting and testing: the case itself, or the output that
            several tasks are about.
        labels: One per subject: 0 or 1 of a yes-or-no question, the level of a rubric.
    """

    id: str
    group: str
    task: str
    subjects: tuple[str, ...]
    labels: tuple[int, ...]


def read_cases(path: Path) -> tuple[tuple[Case, ...], str]:
    """The cases of a file in its order, and the ``sha256:`` of its bytes.

    Raises:
        CalibrationError: The file cannot be read, or a row is not as described above; names the line.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CalibrationError(f"{path}: {error.strerror}") from None
    items: dict[str, str] = {}
    cases: list[Case] = []
    for number, line in enumerate(data.decode().splitlines(), 1):
        try:
            row = json.loads(line)
            if "item" in row:
                items[row["item"]] = guidance_subject(row["item"], row["description"])
            elif "output" in row:
                cases.extend(_output_cases(row))
            else:
                cases.append(_guidance_case(row, items))
        except (ValueError, KeyError, TypeError) as error:
            raise CalibrationError(f"{path}:{number}: not a labelled case ({error})") from None
    return tuple(cases), "sha256:" + hashlib.sha256(data).hexdigest()


def guidance_subject(path: str, description: str) -> str:
    """What a judge reads of a guidance item: its path, a line break, its description."""
    return " › ".join(path.split("/")) + "\n" + description


def normalised(text: str) -> str:
    """A text without what may differ between two copies of the same input: case and white space."""
    return " ".join(text.lower().split())


def _guidance_case(row: Any, items: dict[str, str]) -> Case:
    relevant = set(row["relevant"])
    if not relevant <= items.keys():
        raise ValueError(f"no such item: {min(relevant - items.keys())}")
    labels = tuple(int(item in relevant) for item in items)
    return Case(row["case"], row["case"], row["task"], tuple(items.values()), labels)


def _output_cases(row: Any) -> Iterable[Case]:
    passages = tuple(row["passages"])
    for task in row["tasks"]:
        levels = tuple(task["levels"])
        if len(levels) != len(passages) or not set(levels) <= {0, 1, 2, 3}:
            raise ValueError(f"levels of {task['case']}")
        yield Case(task["case"], row["output"], task["task"], passages, levels)
