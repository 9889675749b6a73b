"""Running a frozen plan of the reopening rule: each review is kept as it comes, so a killed run goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from admit.errors import LabError
from admit.evidence.batch import in_order

from . import canon, tail
from .journal import Journal
from .tail_plan import FrozenTail

if TYPE_CHECKING:
    from admit.evidence.plan import Plan


def run(
    frozen: FrozenTail, journal: Journal, reviewer: tail.Reviewer, *, workers: int = 1
) -> tail.Tail:  # fmt: skip
    """Review what is not reviewed yet, and say what all readings show.

    A reading without a verdict is kept out of the file, so that the next run asks for it again.

    Args:
        workers: Reviews at once, a count.

    Raises:
        LabError: The file of readings is not one of this plan; or the ledger does not take a step.
    """
    path = frozen.plan.path.with_suffix(".runs") / "readings.jsonl"
    wanted = tail.arms(frozen)
    held = {(one.note, one.arm): one for one in _held(path, frozen.hash)}
    missing: list[tuple[Plan, tail.Arm]] = [one for one in wanted if (one[0].note.path, one[1]) not in held]
    journal.write("run", plan=frozen.hash, name=frozen.plan.name, result="start", surface="evidence")
    path.parent.mkdir(parents=True, exist_ok=True)
    unjudged: list[tail.Reading] = []
    with open(path, "ab") as file:
        for reading in in_order(lambda one: tail.read(one[0], one[1], reviewer), missing, workers):
            if reading.verdict in ("PASS", "WARN", "FAIL"):
                held[reading.note, reading.arm] = reading
                file.write(canon.dump({"plan": frozen.hash, **reading._asdict()}) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            else:
                unjudged.append(reading)
    ordered = [held[plan.note.path, arm] for plan, arm in wanted if (plan.note.path, arm) in held]
    found = tail.summarise(frozen, [*ordered, *unjudged])
    journal.write(
        "run",
        plan=frozen.hash,
        name=frozen.plan.name,
        surface="evidence",
        result="incomplete" if unjudged else "complete",
        missing=len(unjudged),
        result_hash=canon.hash_of([one._asdict() for one in ordered]),
    )
    return found


def _held(path: Path, plan: str) -> Iterator[tail.Reading]:
    """Readings that are kept; a torn last line is one that is asked for again."""
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return
    for line in lines:
        if not line.endswith(b"\n"):
            with open(path, "r+b") as file:
                file.truncate(sum(map(len, lines)) - len(line))
            return
        try:
            values = json.loads(line)
            told = values.pop("plan")
            reading = tail.Reading(**{**values, "findings": tuple(values["findings"])})
        except (ValueError, TypeError, KeyError):
            raise LabError(f"{path} is damaged; delete it and run again") from None
        if told != plan:
            raise LabError(f"{path} holds readings of another plan, {told}; move it away and run again")
        yield reading
