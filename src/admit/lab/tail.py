"""The reopening rule of the reading budget (E11): what capping changes that repeating does not.

For each pair one uncapped review, one under the criterion's budget, one uncapped again for the share of
pairs that is repeated, and one by the historical rule as a comparison. A divergence is another verdict. The
excess is how often capping diverges less how often repeating does, on the pairs that have both; its interval
draws whole notes (percentile bootstrap).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from admit.evidence.model import Finding, Review

from .statistics import Estimate, Resample

if TYPE_CHECKING:
    from admit.evidence.plan import Plan

    from .tail_plan import FrozenTail

Arm = Literal["uncapped", "capped", "repeat", "occurrences"]
Reopen = Literal["yes", "no", "not shown"]
Reviewer = Callable[["Plan"], Review]


class Reading(NamedTuple):
    """One review of one arm, as a run keeps it.

    Attributes:
        findings: Those that weigh (WARN, FAIL), as ``rule block artifact``, sorted.
        read: Artifacts read, a count.
    """

    note: str
    arm: Arm
    verdict: str
    reason: str
    findings: tuple[str, ...]
    read: int


class Divergence(NamedTuple):
    """A pair whose verdict is another one in an arm.

    Attributes:
        lost: Findings of the uncapped review that the arm has not; `gained`: the other way round.
    """

    note: str
    arm: Arm
    uncapped: str
    verdict: str
    lost: tuple[str, ...]
    gained: tuple[str, ...]


class Tail(NamedTuple):
    """What a run found.

    Attributes:
        pairs: Of the plan; `judged`: with a verdict in both the uncapped and the capped arm.
        unjudged: Reviews without a verdict by arm, counts.
        capped, repeat, occurrences: Share of pairs whose verdict diverges from the uncapped one.
        excess: Of capping over repeating, on the pairs that have both.
        lost: Weighing findings of uncapped reviews that capped ones have not, a count.
    """

    pairs: int
    judged: int
    unjudged: Mapping[str, int]
    capped: Estimate
    repeat: Estimate
    occurrences: Estimate
    excess: Estimate
    lost: int
    divergences: tuple[Divergence, ...]
    reopen: Reopen


def arms(frozen: FrozenTail) -> list[tuple[Plan, Arm]]:
    """Every review of a run, in order; the repeated pairs are drawn by the plan's seed."""
    from admit.evidence.planning import replay

    plan = frozen.plan
    n = max(1, round(plan.repeat_share * len(frozen.pairs)))
    repeated = set(random.Random(f"{plan.seed}/repeat").sample(range(len(frozen.pairs)), n))
    made: list[tuple[Plan, Arm]] = []
    for k, uncapped in enumerate(frozen.pairs):
        assert uncapped.criterion is not None
        made.append((uncapped, "uncapped"))
        made.append((replay(uncapped, cap=uncapped.criterion.budget), "capped"))
        if k in repeated:
            made.append((uncapped, "repeat"))
        if plan.occurrences:
            historical = replay(uncapped, cap=plan.occurrences, unit="occurrences-v0")
            made.append((historical, "occurrences"))
    return made


def read(plan: Plan, arm: Arm, reviewer: Reviewer) -> Reading:
    """Review one arm of one pair."""
    review = reviewer(plan)
    weighing = (one for one in review.findings if one.severity != "INFO" and one.origin != "check")
    said = tuple(sorted(map(_said, weighing)))
    count = review.coverage.read if review.coverage is not None else 0
    return Reading(plan.note.path, arm, review.verdict, review.reason, said, count)


def summarise(frozen: FrozenTail, readings: Iterable[Reading]) -> Tail:
    """What the readings of a run show. A pair without a verdict in an arm says nothing about it."""
    plan = frozen.plan
    by_arm: dict[str, dict[str, Reading]] = {}
    unjudged: dict[str, int] = {}
    for one in readings:
        if one.verdict in ("PASS", "WARN", "FAIL"):
            by_arm.setdefault(one.arm, {})[one.note] = one
        else:
            unjudged[one.arm] = unjudged.get(one.arm, 0) + 1
    full = by_arm.get("uncapped", {})
    capped, repeat = by_arm.get("capped", {}), by_arm.get("repeat", {})
    divergences = [
        _divergence(full[note], by_arm[arm][note])
        for note in sorted(full)
        for arm in ("capped", "repeat", "occurrences")
        if note in by_arm.get(arm, {}) and by_arm[arm][note].verdict != full[note].verdict
    ]
    both = [note for note in sorted(full) if note in capped and note in repeat]
    apart = [[full[note].verdict != arm[note].verdict for note in both] for arm in (capped, repeat)]
    excess = Resample(both, draws=plan.draws, seed=plan.seed).difference(
        [float(one) for one in apart[0]], [float(one) for one in apart[1]], [1.0] * len(both), "share"
    )
    lost = sum(len(set(full[note].findings) - set(capped[note].findings)) for note in full if note in capped)
    return Tail(
        pairs=len(frozen.pairs),
        judged=sum(1 for note in full if note in capped),
        unjudged=dict(sorted(unjudged.items())),
        capped=_share(full, capped, plan.draws, plan.seed),
        repeat=_share(full, repeat, plan.draws, plan.seed),
        occurrences=_share(full, by_arm.get("occurrences", {}), plan.draws, plan.seed),
        excess=excess,
        lost=lost,
        divergences=tuple(divergences),
        reopen=reopened(excess, plan.margin),
    )


def reopened(excess: Estimate, margin: float) -> Reopen:
    """What the interval says.

    Returns:
        ``yes`` where capping surely moves more verdicts than repeating does, ``no`` where it surely moves at
        most `margin` more, else ``not shown``.
    """
    if excess.low is None or excess.high is None:
        return "not shown"
    if excess.low > 0:
        return "yes"
    return "no" if excess.high <= margin else "not shown"


def as_json(tail: Tail) -> dict[str, Any]:
    """A result as JSON values, keys in the order of `Tail`."""
    return {
        name: value._asdict() if isinstance(value, Estimate)
        else [one._asdict() for one in value] if name == "divergences"
        else value
        for name, value in tail._asdict().items()
    }  # fmt: skip


def _share(full: Mapping[str, Reading], arm: Mapping[str, Reading], draws: int, seed: int) -> Estimate:
    notes: Sequence[str] = [note for note in sorted(full) if note in arm]
    moved = [float(full[note].verdict != arm[note].verdict) for note in notes]
    return Resample(notes, draws=draws, seed=seed).ratio(moved, [1.0] * len(notes), "share")


def _divergence(full: Reading, other: Reading) -> Divergence:
    lost = tuple(sorted(set(full.findings) - set(other.findings)))
    gained = tuple(sorted(set(other.findings) - set(full.findings)))
    return Divergence(full.note, other.arm, full.verdict, other.verdict, lost, gained)


def _said(finding: Finding) -> str:
    return " ".join(part for part in (finding.rule, finding.block, finding.artifact) if part)
