"""What the record says about the outputs door, counted for the page. Sizes are characters, days are UTC."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from admit.ledger.moments import utc
from admit.ledger.port import Counters, DecisionView

from .outputs_report import Name, OutputsRow, acted, fallback_of, kind_of, report_rows

DAY_MS = 86_400_000
MOST_BARS = 60
MOST_POINTS = 1_500
LARGEST = 20


class Bar(NamedTuple):
    """One stretch of time: decisions by kind, and characters saved in it.

    Attributes:
        start: Its first day, as 2026-01-31.
    """

    start: str
    filtered: int = 0
    excerpt: int = 0
    other: int = 0
    saved: int = 0


class Point(NamedTuple):
    """One decision: characters of the output and of what was shown."""

    original: int
    shown: int
    name: Name


class Largest(NamedTuple):
    """One of the largest outputs, by its newest decision."""

    output_id: str
    ts_ms: int
    tool: str
    original: int
    shown: int
    how: str
    reason: str
    recalls: int


class Door(NamedTuple):
    """One door: decisions, those a judge ruled on, and those that fell back."""

    door: str
    decisions: int
    judged: int
    fallbacks: int


class LedgerReport(NamedTuple):
    """Everything the page shows.

    Attributes:
        since_ms, first_ms, last_ms: What was asked for, and the first and last decision in it; 0 is none.
        rows: Filtered, excerpt and other outputs.
        bar_days: Days in one bar.
        saved_host: Characters saved where it is known what the host would have shown, of `known` decisions.
        saved_raw: Characters saved against the raw output, of `unknown` decisions.
        restored: Characters that recalls brought back; they are taken off neither sum.
        whole: Why outputs were shown whole, by reason.
        fallbacks: Why a judge's word was not used, by reason.
        points: Newest first, at most 1,500; `decisions` says how many there are.
        dropped: Records that were not written, by cause.
    """

    since_ms: int
    first_ms: int
    last_ms: int
    decisions: int
    rows: tuple[OutputsRow, ...]
    bar_days: int
    bars: tuple[Bar, ...]
    saved_host: int
    known: int
    saved_raw: int
    unknown: int
    restored: int
    whole: Mapping[str, int]
    fallbacks: Mapping[str, int]
    points: tuple[Point, ...]
    largest: tuple[Largest, ...]
    doors: tuple[Door, ...]
    dropped: Mapping[str, int]
    counters: Counters


def gather(
    decisions: Iterable[DecisionView],
    since_ms: int = 0,
    *,
    dropped: Mapping[str, int] | None = None,
    counters: Counters | None = None,
) -> LedgerReport:
    """Count decisions of every door.

    Args:
        decisions: Newest first, with their recalls.
        since_ms: The time they were asked for.
        dropped: Records that were not written since then, by cause.
        counters: What the ledger says went wrong.
    """
    everything = list(decisions)
    outputs = [view for view in everything if view.decision.door == "outputs"]
    times = [view.decision.ts_ms for view in outputs]
    shown = [view for view in outputs if view.decision.mode == "enforce" or acted(view)]
    known = [view for view in shown if view.decision.size_host is not None]
    whole = Counter(
        str(view.decision.extra.get("reason") or view.decision.extra.get("how") or "unknown")
        for view in outputs
        if view.decision.extra.get("how") in ("exempt", "kept")
    )
    fallbacks = Counter(reason for view in outputs if (reason := fallback_of(view)))
    recalled = {recall.recall_id: recall.chars for view in outputs for recall in view.recalls}
    bar_days, bars = _bars(outputs)
    return LedgerReport(
        since_ms,
        min(times, default=0),
        max(times, default=0),
        len(outputs),
        tuple(report_rows(decisions=outputs)),
        bar_days,
        bars,
        sum(map(saved, known)),
        len(known),
        sum(saved(view) for view in shown if view.decision.size_host is None),
        len(shown) - len(known),
        sum(recalled.values()),
        dict(sorted(whole.items())),
        dict(sorted(fallbacks.items())),
        tuple(_point(view) for view in outputs[:MOST_POINTS] if view.decision.size_in),
        _largest(outputs),
        _doors(everything),
        dict(sorted((dropped or {}).items())),
        counters or Counters(),
    )


def saved(view: DecisionView) -> int:
    """Characters spared: what the host would have shown, else the raw output, less what was shown."""
    row = view.decision
    if row.size_in is None or row.size_out is None or not (row.mode == "enforce" or acted(view)):
        return 0
    without = row.size_in if row.size_host is None else min(row.size_in, row.size_host)
    return max(0, without - row.size_out)


def _bars(outputs: list[DecisionView]) -> tuple[int, tuple[Bar, ...]]:
    """Stretches of as many whole days as give at most 60 bars, empty ones included."""
    days = [view.decision.ts_ms // DAY_MS for view in outputs]
    if not days:
        return 1, ()
    first = min(days)
    width = -(-(max(days) - first + 1) // MOST_BARS)
    counts: list[Counter[str]] = [Counter() for _ in range((max(days) - first) // width + 1)]
    for day, view in zip(days, outputs, strict=True):
        counts[(day - first) // width].update({kind_of(view): 1, "saved": saved(view)})
    starts = (utc((first + n * width) * 86_400_000) for n in range(len(counts)))
    return width, tuple(
        Bar(f"{start:%Y-%m-%d}", one["filtered"], one["excerpt"], one["other"], one["saved"])
        for start, one in zip(starts, counts, strict=True)
    )


def _point(view: DecisionView) -> Point:
    row = view.decision
    return Point(
        row.size_in or 0, (row.size_in or 0) if row.size_out is None else row.size_out, kind_of(view)
    )


def _largest(outputs: list[DecisionView]) -> tuple[Largest, ...]:
    newest: dict[str, DecisionView] = {}
    for view in outputs:
        if view.decision.size_in:
            newest.setdefault(view.decision.output_id or view.decision.decision_id, view)
    ordered = sorted(newest.items(), key=lambda one: (-(one[1].decision.size_in or 0), one[0]))
    found = []
    for output_id, view in ordered[:LARGEST]:
        row, extra = view.decision, view.decision.extra
        point = _point(view)
        words = (str(extra.get(name) or "") for name in ("tool", "how", "reason"))
        tool, how, reason = words
        found.append(
            Largest(output_id, row.ts_ms, tool, point.original, point.shown, how, reason, len(view.recalls))
        )
    return tuple(found)


def _doors(everything: list[DecisionView]) -> tuple[Door, ...]:
    counts: dict[str, Counter[str]] = {}
    for view in everything:
        counts.setdefault(view.decision.door, Counter()).update(("all", view.decision.status))
    return tuple(
        Door(door, one["all"], one["judged"] + one["partial"], one["fallback"])
        for door, one in sorted(counts.items())
    )
