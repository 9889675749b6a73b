"""Our own questions and failures: the JSON lines beside this package, joined with the generated outputs."""

from __future__ import annotations

import json
from pathlib import Path

from .case import Case
from .generate import listings, logs, texts, trees
from .generate.draft import Kind, build
from .generate.failures import FAILURES, failure
from .oracle import lines_holding

QUESTIONS = Path(__file__).resolve().parent.parent / "questions" / "questions.jsonl"
KINDS: dict[str, Kind] = {**logs.KINDS, **listings.KINDS, **trees.KINDS, **texts.KINDS}
FAILURE_TASK = "Run this and fix what is wrong."
SIZES = (12_500, 16_000, 24_000, 40_000, 60_000, 90_000, 140_000, 200_000)


def half(index: int) -> str:
    """Return ``dev`` for even question numbers, ``test`` for odd ones; fixed before anything was measured."""
    return "test" if index % 2 else "dev"


def output(kind: str, index: int, plants: list[str]) -> str:
    """Return the generated output of a question; sizes rotate over kinds, so both halves meet all of them."""
    place = (3 * index + sorted(KINDS).index(kind)) % len(SIZES)
    return build(KINDS[kind], f"{kind}/{index}", SIZES[place], plants)


def load_rows() -> list[dict]:
    """Return the question rows in file order: kind, index, link, task, needles, plant, perhaps decoys."""
    return [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]


def load(which: str) -> list[Case]:
    """Return the cases of a half (``dev`` or ``test``).

    Every output holds the answers to all questions of its kind, so each question has the other seven as
    distractors. The whole needle text counts: all needles of a question must be shown.
    """
    rows = load_rows()
    cases = []
    for row in rows:
        if half(row["index"]) != which:
            continue
        kin = [other for other in rows if other["kind"] == row["kind"]]
        plants = [plant for other in kin for plant in (other["plant"], *other.get("decoys", ()))]
        text = output(row["kind"], row["index"], plants)
        needles = tuple(row["needles"])
        at = lines_holding(text, needles)
        cases.append(
            Case(f"{row['kind']}/{row['index']}", row["kind"], text, row["task"], 0, needles, "all", at)
        )
    return cases


def load_failures() -> list[Case]:
    """Return our own failing runs with their labelled lines wanted; all are development cases."""
    cases = []
    for name in FAILURES:
        run = failure(name)
        lines = run.text.split("\n")
        wanted = tuple(lines[index].rstrip() for index in run.labelled)
        cases.append(Case(name, name, run.text, FAILURE_TASK, run.exit_code, wanted, "lines", run.labelled))
    return cases
