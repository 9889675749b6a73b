"""What the relevance gate did in a session, from the record: sums, ids, times. Nothing is asked anew.

Verdicts, what was not judged, and fallbacks stand side by side. What was blocked below an ancestor was never
judged: it is part of the unjudged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from admit.ledger.port import DecisionView, VerdictRow

ASKED = frozenset(("judged", "partial", "fallback"))
"""Statuses of a scan that had something to ask."""


class GateSummary(NamedTuple):
    """Sums over scans.

    Attributes:
        requests: Scans that had something to ask a judge.
        judged: Verdicts received: passed, blocked and would_block.
        would_block: Verdicts that were only recorded and would have blocked.
        unjudged: Candidates past the cap, as `guidance.gate_capped` counts them.
        defects: Candidates whose answer could not be used.
        ancestor_blocked: Of the unjudged, those under one that the judge blocked.
        exempt: Candidates that are never judged.
        fallbacks: Requests without a usable answer, by reason.
        gate_ms_p50, gate_ms_p95: Time of the judge over requests, nearest rank; None is unknown.
        blocked_ids, unjudged_ids: How often each, most often first.
    """

    requests: int = 0
    judged: int = 0
    passed: int = 0
    blocked: int = 0
    would_block: int = 0
    unjudged: int = 0
    defects: int = 0
    capped_requests: int = 0
    ancestor_blocked: int = 0
    exempt: int = 0
    fallbacks: Mapping[str, int] = MappingProxyType({})
    gate_ms_p50: float | None = None
    gate_ms_p95: float | None = None
    blocked_ids: Mapping[str, int] = MappingProxyType({})
    unjudged_ids: Mapping[str, int] = MappingProxyType({})


def summary(views: Iterable[DecisionView]) -> GateSummary:
    """Sum up scans of the guidance door.

    Args:
        views: In any order.
    """
    counts: Counter[str] = Counter()
    fallbacks: Counter[str] = Counter()
    blocked: Counter[str] = Counter()
    unjudged: Counter[str] = Counter()
    times: list[float] = []
    for view in views:
        row = view.decision
        if row.status in ASKED:
            counts["requests"] += 1
            if row.judge_ms is not None:
                times.append(row.judge_ms)
        if row.status == "fallback":
            fallbacks[row.reason or "internal"] += 1
        ids = {one.ord: one.candidate_id for one in view.candidates}
        for verdict in acted(view):
            kind = kind_of(verdict)
            counts[kind] += 1
            if kind == "blocked":
                blocked[ids.get(verdict.ord, "")] += 1
        for event in view.events:
            if event.type == "guidance.gate_capped":
                counts["capped_requests"] += 1
                counts["unjudged"] += int(event.body.get("unjudged", 0))
                unjudged.update(event.body.get("unjudged_ids", ()))
    passed, blocked_n, recorded = counts["passed"], counts["blocked"], counts["would_block"]
    return GateSummary(
        requests=counts["requests"],
        judged=passed + blocked_n + recorded,
        passed=passed,
        blocked=blocked_n,
        would_block=recorded,
        unjudged=counts["unjudged"],
        defects=counts["defects"],
        capped_requests=counts["capped_requests"],
        ancestor_blocked=counts["ancestor_blocked"],
        exempt=counts["exempt"],
        fallbacks=_by_count(fallbacks),
        gate_ms_p50=nearest_rank(times, 0.5),
        gate_ms_p95=nearest_rank(times, 0.95),
        blocked_ids=_by_count(blocked),
        unjudged_ids=_by_count(unjudged),
    )


def acted(view: DecisionView) -> list[VerdictRow]:
    """The rulings of the scan itself, without those of a later look at it."""
    return [one for one in view.verdicts if one.source in ("live", "shadow")]


def kind_of(verdict: VerdictRow) -> str:
    """``passed``, ``blocked``, ``would_block``, ``ancestor_blocked``, ``defects``, ``exempt``, or ``open``.

    ``open`` is a candidate without a verdict: past the cap, or in a scan whose judge gave none.
    """
    word, reason = verdict.would or verdict.verdict, verdict.reason or ""
    if verdict.verdict == "exempt":
        return "exempt"
    if reason == "judge":
        if word != "blocked":
            return "passed"
        return "blocked" if verdict.would is None else "would_block"
    if reason == "ancestor":
        return "ancestor_blocked"
    return "defects" if reason.startswith("defect") else "open"


def nearest_rank(values: Sequence[float], share: float) -> float | None:
    """The value at round((n - 1) · share) of the sorted values; None of none."""
    ordered = sorted(values)
    return ordered[round((len(ordered) - 1) * share)] if ordered else None


def _by_count(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
