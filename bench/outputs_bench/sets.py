"""The sets by name: how to load each, and what its differences are taken against."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from . import agent_runs, ci_logs, data_questions, own
from .baselines import Baseline, blind_excerpt, tail
from .case import Case


class CaseSet(NamedTuple):
    """A named set.

    Attributes:
        load: Reads the cases; takes the data folder, which sets of our own ignore.
        title: What a heading says.
        needs_data: Skipped without ``--data``.
        versus: The baseline that each shown text is compared with at its own size.
        versus_name: Its name in the table.
        clustered: The interval draws groups of cases (runs) instead of cases.
    """

    load: Callable[[Path], list[Case]]
    title: str
    needs_data: bool
    versus: Baseline = tail
    versus_name: str = "tail of the same size"
    clustered: bool = False


def _blind(
    load: Callable[[Path], list[Case]], title: str, *, needs_data: bool, clustered: bool = False
) -> CaseSet:
    return CaseSet(load, title, needs_data, blind_excerpt, "blind excerpt of the same size", clustered)


SETS: dict[str, CaseSet] = {
    "ci": CaseSet(ci_logs.load, "CI logs, error lines labelled by hand", True),
    "ci-2nd": CaseSet(lambda data: ci_logs.load(data, 2), "CI logs, second annotator", True),
    "questions": _blind(data_questions.load, "five questions of the data folder", needs_data=True),
    "own-dev": _blind(lambda _: own.load("dev"), "our own questions, development half", needs_data=False),
    "own-test": _blind(lambda _: own.load("test"), "our own questions, test half", needs_data=False),
    "own-failures": CaseSet(lambda _: own.load_failures(), "our own failing runs", False),
    "wentback": _blind(
        agent_runs.load, "recorded agent runs: what was used next", needs_data=True, clustered=True
    ),
}
