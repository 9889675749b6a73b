"""Markdown tables and JSON rows of the results."""

from __future__ import annotations

from collections.abc import Sequence

from .runner import ORACLE, Report, Result
from .sets import CaseSet
from .stats import Interval, bootstrap, mean, paired, wilson

ALLOWED_OVER = 500  # characters of header on top of the budget; a row that shows more is marked


def rows_of(report: Report) -> dict[str, list[Result]]:
    """Return the results by row, in the order they ran."""
    rows: dict[str, list[Result]] = {}
    for result in report.results:
        rows.setdefault(result.row, []).append(result)
    return rows


def clusters(case_set: CaseSet, results: Sequence[Result]) -> list[str] | None:
    """Return what the bootstrap draws: groups where the set is clustered, else single cases (``None``)."""
    return [result.group for result in results] if case_set.clustered else None


def level(case_set: CaseSet, results: Sequence[Result], *, counted: bool = False) -> Interval:
    """Return the mean score with its interval: Wilson's where every score is 0 or 1."""
    values = [result.counted if counted else result.score for result in results]
    if case_set.yes_or_no:
        return wilson(sum(values), len(values))
    return bootstrap(values, clusters(case_set, results))


def difference(case_set: CaseSet, results: Sequence[Result], *, counted: bool = False) -> Interval:
    """Return the paired difference to the set's baseline at the size of each shown text."""
    ours = [result.counted if counted else result.score for result in results]
    theirs = [result.counted_versus if counted else result.versus for result in results]
    return paired(ours, theirs, clusters(case_set, results))


def table(case_set: CaseSet, report: Report, budget: int) -> str:
    """Return a heading and one Markdown table of the set at a budget."""
    rows = rows_of(report)
    count = len(next(iter(rows.values()), []))
    groups = len({result.group for result in report.results})
    among = f"{count} outputs" + (f" of {groups} runs" if case_set.clustered else "")
    by_line = any(result.score != result.counted for result in report.results)
    head = ["row", "kept [95 %]"]
    head += ["counted [95 %]"] if by_line else []
    head += ["of the oracle's", f"minus {case_set.versus_name} [95 %]", "chars mean / max", "ms median"]
    lines = [f"### {case_set.title}: {among}, budget {budget:,}", "", _line(head), _line(["---"] * len(head))]
    best = rows.get(ORACLE, [])
    for row, results in rows.items():
        cells = [row, plain(level(case_set, results))]
        cells += [plain(level(case_set, results, counted=True))] if by_line else []
        own, most = mean([r.counted for r in results]), mean([r.counted for r in best])
        chars = [result.chars for result in results]
        cells += [f"{own / most:.0%}" if most else "–", signed(difference(case_set, results))]
        size = f"{mean(chars):,.0f} / {max(chars):,}"
        cells += [
            size + (" (over)" if max(chars) > budget + ALLOWED_OVER else ""),
            f"{sorted(r.ms for r in results)[len(results) // 2]:,.1f}",
        ]
        lines.append(_line(cells))
    for row, reason in report.not_run.items():
        lines.append(_line([row, f"not run: {reason}", *[""] * (len(head) - 2)]))
    return "\n".join(lines) + "\n"


def curve_table(title: str, points: dict[str, dict[int, float]]) -> str:
    """Return the mean kept of each row at each budget."""
    budgets = sorted({budget for by_budget in points.values() for budget in by_budget})
    lines = [f"### {title}: kept by budget in characters", "", _line(["row", *(f"{b:,}" for b in budgets)])]
    lines.append(_line(["---"] * (len(budgets) + 1)))
    for row, by_budget in points.items():
        lines.append(_line([row, *(f"{by_budget[b]:.3f}" if b in by_budget else "–" for b in budgets)]))
    return "\n".join(lines) + "\n"


def plain(interval: Interval) -> str:
    """Return ``0.812 [0.700, 0.901]``."""
    return f"{interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def signed(interval: Interval) -> str:
    """Return ``+0.120 [+0.010, +0.240]``."""
    return f"{interval.mean:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
