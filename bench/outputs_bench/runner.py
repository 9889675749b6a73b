"""Runs rows over the cases of a set and keeps one result for each case and row."""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from peers import OUTPUT_PEERS, NotRun, Worker

from . import filtered
from .baselines import BASELINES, Baseline
from .case import Case, counted_recall, score
from .oracle import distinct_lines, oracle
from .sets import CaseSet

OURS = "admit"
ORACLE = "oracle"


class Result(NamedTuple):
    """One row on one case.

    Attributes:
        score: By the case's measure, 0..1.
        counted: Recall with a shown line answering for one wanted line; equals ``score`` unless lines are
            wanted.
        versus: The score of the set's comparison baseline at the size of this shown text.
        counted_versus: The same, counted.
        chars: Length of the shown text in characters.
        ms: Time to make it in milliseconds, in this process or a peer's.
    """

    set: str
    budget: int
    row: str
    case: str
    group: str
    score: float
    counted: float
    versus: float
    counted_versus: float
    chars: int
    ms: float


class Report(NamedTuple):
    """All results of a set at a budget, and the rows that did not run with the reason."""

    results: list[Result]
    not_run: dict[str, str]


def admit_output(case: Case, budget: int) -> str:
    """Our row: the public library call with the task and the exit code."""
    from admit import filter_output

    return filter_output(case.text, case.task, exit_code=case.exit_code, max_chars=budget)


def run(
    name: str,
    case_set: CaseSet,
    cases: list[Case],
    budget: int,
    *,
    peers: bool = False,
    judges: bool = False,
) -> Report:
    """Run ours, the oracle, the baselines and, if asked, ours with judges and the peers over ``cases``."""
    report = Report([], {})
    try:
        _add(report, name, case_set, budget, OURS, _timed(admit_output, cases, budget))
    except Exception as error:  # a fault of ours must not hide the other rows
        report.not_run[OURS] = f"{type(error).__name__}: {error}"
    for row, mode in filtered.ROWS.items():
        if judges:
            shown_by = partial(_filtered, mode=mode)
            _add(report, name, case_set, budget, row, _timed(shown_by, cases, budget))
        else:
            report.not_run[row] = "asked for with --judges"
    _add_oracle(report, name, case_set, cases, budget)
    for row, baseline in BASELINES.items():
        _add(report, name, case_set, budget, row, _timed(baseline, cases, budget))
    for peer in OUTPUT_PEERS:
        shown: dict[str, list[tuple[Case, str, float]]] = {row: [] for row in peer.rows}
        try:
            if not peers:
                raise NotRun("asked for with --peers")
            with Worker(peer) as worker:
                for case in cases:
                    for row, (text, ms) in worker.shorten(case.text, case.task, budget).items():
                        shown[row].append((case, text, ms))
        except NotRun as reason:
            report.not_run.update(dict.fromkeys(peer.rows, str(reason)))
            continue
        for row, made in shown.items():
            _add(report, name, case_set, budget, row, made, trimmed=True)
    return report


def _filtered(case: Case, budget: int, mode: str) -> str:
    return filtered.filtered(case, budget, mode).text


def _add_oracle(report: Report, name: str, case_set: CaseSet, cases: list[Case], budget: int) -> None:
    """Add the oracle: its ``score`` and its ``counted`` each come from the choice that is best for that
    measure.
    """
    distinct = [case._replace(at=distinct_lines(case)) for case in cases]
    by_text, by_count = Report([], {}), Report([], {})
    _add(by_text, name, case_set, budget, ORACLE, _timed(oracle, distinct, budget))
    _add(by_count, name, case_set, budget, ORACLE, _timed(oracle, cases, budget))
    for text, count in zip(by_text.results, by_count.results, strict=True):
        best_score = max(text.score, count.score)
        report.results.append(
            count._replace(score=best_score, versus=text.versus if best_score == text.score else count.versus)
        )


def _timed(row: Baseline, cases: list[Case], budget: int) -> Iterable[tuple[Case, str, float]]:
    for case in cases:
        begin = time.perf_counter()
        text = row(case, budget)
        yield case, text, (time.perf_counter() - begin) * 1_000


def _add(
    report: Report,
    name: str,
    case_set: CaseSet,
    budget: int,
    row: str,
    made: Iterable[tuple[Case, str, float]],
    *,
    trimmed: bool = False,
) -> None:
    for case, text, ms in made:
        same_size = case_set.versus(case, len(text) + 1)  # one for the line end that ``text`` lacks
        report.results.append(
            Result(
                name,
                budget,
                row,
                case.id,
                case.group,
                score(case, text, trimmed=trimmed),
                counted_recall(case, text, trimmed=trimmed),
                score(case, same_size),
                counted_recall(case, same_size),
                len(text),
                round(ms, 2),
            )
        )
