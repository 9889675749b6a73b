"""The figures that the outputs door set out to reach, beside what was measured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from . import filtered, report, speed
from .case import score
from .runner import OURS, Result, admit_output, run
from .sets import SETS, CaseSet
from .stats import mean, paired, wilson


class Bar(NamedTuple):
    """One line of the table; ``met`` is ``None`` where it was not measured."""

    name: str
    reach: str
    measured: str
    met: bool | None


def measure(data: Path | None) -> list[Bar]:
    """Measure every bar that can be; those that need the data folder are not run without it."""
    bars = []
    for budget, reach in ((6_000, 0.80), (10_000, 0.88)):
        bars += _by_set(
            "ci", budget, data, lambda s, r, reach=reach, budget=budget: _recall(s, r, reach, budget)
        )
    bars.append(Bar("CI jobs labelled by segment, 6,000", "≥ 0.60", "not run: no data", None))
    bars += _by_set("own-test", 6_000, data, _answers)
    bars += _by_set("wentback", 6_000, data, _went_back)
    bars += _filter()
    bars += _speed()
    return bars


def _by_set(
    name: str, budget: int, data: Path | None, judge: Callable[[CaseSet, list[Result]], list[Bar]]
) -> list[Bar]:
    case_set = SETS[name]
    if case_set.needs_data and data is None:
        return [Bar(f"{case_set.title}, {budget:,}", "–", "not run: no --data", None)]
    done = run(name, case_set, case_set.load(data or Path()), budget)
    if OURS in done.not_run:
        return [Bar(f"{case_set.title}, {budget:,}", "–", f"not run: {done.not_run[OURS]}", None)]
    return judge(case_set, report.rows_of(done)[OURS])


def _recall(case_set: CaseSet, ours: list[Result], reach: float, budget: int) -> list[Bar]:
    name = f"CI failures, {budget:,}"
    bars = []
    for counted in (False, True):
        way = "counted lines" if counted else "labelled lines shown"
        level = report.level(case_set, ours, counted=counted)
        better = report.difference(case_set, ours, counted=counted)
        bars.append(Bar(f"{name}: {way}", f"≥ {reach:.2f}", report.plain(level), level.mean >= reach))
        bars.append(
            Bar(
                f"{name}: {way}, minus a tail of the same size",
                "interval above 0",
                report.signed(better),
                better.low > 0,
            )
        )
    most = max(result.chars for result in ours)
    bars.append(
        Bar(
            f"{name}: most characters shown",
            f"≤ {budget + report.ALLOWED_OVER:,}",
            f"{most:,}",
            most <= budget + report.ALLOWED_OVER,
        )
    )
    return bars


def _answers(case_set: CaseSet, ours: list[Result]) -> list[Bar]:
    kept = wilson(sum(result.score for result in ours), len(ours))
    met = kept.mean >= 0.95 and kept.low >= 0.88
    return [
        Bar(
            f"{case_set.title} ({len(ours)}), 6,000",
            "≥ 0.95, lower Wilson bound ≥ 0.88",
            report.plain(kept),
            met,
        )
    ]


def _went_back(case_set: CaseSet, ours: list[Result]) -> list[Bar]:
    better = report.difference(case_set, ours)
    kept = mean([result.score for result in ours])
    text = f"kept {kept:.3f}, {report.signed(better)} on {len(ours)} outputs"
    return [
        Bar("used next, minus a blind excerpt of the same size, 6,000", "≥ +0.20", text, better.mean >= 0.20)
    ]


def _filter() -> list[Bar]:
    """The filter against the local selection where that misses something, and against a hostile judge."""
    case_set, budget = SETS["own-dev"], 2_000
    cases = case_set.load(Path())
    local = [score(case, admit_output(case, budget)) for case in cases]
    bars = []
    for row, mode in filtered.ROWS.items():
        judged = [score(case, filtered.filtered(case, budget, mode).text) for case in cases]
        better = paired(judged, local)
        name = f"{row.removeprefix('admit, ')}, minus local selection, {case_set.title}, {budget:,}"
        bars.append(Bar(name, "interval above 0, else off", report.signed(better), better.low > 0))
    failures = SETS["own-failures"].load(Path())
    lost = sum(filtered.guarded_lines_lost(case, 6_000) for case in [*failures, *cases])
    bars.append(Bar("guarded lines lost to a judge that scores all 0", "0", f"{lost}", lost == 0))
    return bars


def _speed() -> list[Bar]:
    bars = []
    try:
        bare, admit = speed.cold()
        bars.append(
            Bar(
                "cold `admit output`, 121 kB",
                "≤ 250 ms",
                f"{admit.ms:.0f} ms (bare {bare.ms:.0f})",
                admit.ms <= 250,
            )
        )
    except (RuntimeError, OSError) as reason:
        bars.append(Bar("cold `admit output`, 121 kB", "≤ 250 ms", f"not run: {reason}", None))
    try:
        rows = speed.all_warm()
    except RuntimeError as reason:
        return [*bars, Bar("warm calls", "–", f"not run: {reason}", None)]
    for row in rows:
        if row.bytes < 1_000_000:
            bars.append(Bar(f"warm, {row.name}", "≤ 50 ms", f"{row.ms:.0f} ms", row.ms <= 50))
            continue
        slack = 1 if row.name.startswith("10 MB log") else 2
        text = f"{row.ms / 1_000:.2f} s, {row.peak_over_input:.1f} × input"
        met = row.ms <= 1_500 * slack and row.peak_over_input <= 6 * slack
        bars.append(Bar(f"warm, {row.name}", f"≤ {1.5 * slack} s, peak ≤ {6 * slack} × input", text, met))
    return bars


def table(bars: list[Bar]) -> str:
    """Return the bars as Markdown."""
    words = {True: "yes", False: "no", None: "–"}
    lines = ["### bars", "", "| bar | reach | measured | met |", "| --- | --- | --- | --- |"]
    lines += [f"| {bar.name} | {bar.reach} | {bar.measured} | {words[bar.met]} |" for bar in bars]
    return "\n".join(lines) + "\n"
