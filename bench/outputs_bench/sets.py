"""The sets by name: how to load each, and what its differences are taken against."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from . import agent_runs, ci_logs, data_questions, own
from .baselines import Baseline, blind_excerpt, tail
from .case import Case

BLIND = "blind excerpt of the same size"


class CaseSet(NamedTuple):
    """A named set.

    Attributes:
        load: Reads the cases; takes the data folder, which sets of our own ignore.
        title: What a heading says.
        needs_data: Skipped without ``--data``.
        versus: The baseline that each shown text is compared with at its own size.
        versus_name: Its name in the table.
        clustered: The interval draws groups of cases (runs) instead of cases.
        yes_or_no: Each case scores 0 or 1, so a level has Wilson's interval.
    """

    load: Callable[[Path], list[Case]]
    title: str
    needs_data: bool
    versus: Baseline = tail
    versus_name: str = "tail of the same size"
    clustered: bool = False
    yes_or_no: bool = False


def _answered(load: Callable[[Path], list[Case]], title: str, *, needs_data: bool) -> CaseSet:
    return CaseSet(load, title, needs_data, blind_excerpt, BLIND, yes_or_no=True)


SETS: dict[str, CaseSet] = {
    "ci": CaseSet(ci_logs.load, "CI logs, error lines labelled by hand", True),
    "ci-2nd": CaseSet(lambda data: ci_logs.load(data, 2), "CI logs, second annotator", True),
    "questions": _answered(data_questions.load, "five questions of the data folder", needs_data=True),
    "own-dev": _answered(lambda _: own.load("dev"), "our own questions, development half", needs_data=False),
    "own-test": _answered(lambda _: own.load("test"), "our own questions, test half", needs_data=False),
    "own-failures": CaseSet(lambda _: own.load_failures(), "our own failing runs", False),
    "wentback": CaseSet(
        agent_runs.load, "recorded agent runs: what was used next", True, blind_excerpt, BLIND, clustered=True
    ),
}
