"""Reviews on record: the newest of each pair, the queue of those that ask for work, and another cap for them.

A replay decides the recorded plans again under another cap, unit or order. No file is read and nobody is
asked: it says which findings rest on an artifact that would have stayed unread, never what a review would
have said instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from admit.errors import IntegrityError
from admit.evidence.coverage import scoped
from admit.evidence.criterion import Criterion
from admit.evidence.model import (
    SEVERITY_ORDER,
    Coverage,
    Finding,
    Opened,
    OrderName,
    Pair,
    Unavailable,
    Unit,
    Unread,
    Verdict,
)
from admit.evidence.plan import Plan
from admit.evidence.planning import from_canonical, replay
from admit.ledger.evidence_rows import JobRow

QUEUED: tuple[Verdict, ...] = ("FAIL", "WARN", "ERROR", "UNJUDGED")
"""Verdicts that ask for work, the gravest first."""


class Recorded(NamedTuple):
    """One review as it is on record.

    Attributes:
        ended_ms: UTC epoch milliseconds.
        scoped: What the verdict does not cover, in words; empty where it covers all.
        plan: Without the text of the note.
    """

    pair: Pair
    verdict: str
    reason: str
    ended_ms: int
    job: str
    attempt: int
    findings: tuple[Finding, ...]
    coverage: Coverage | None
    scoped: str
    plan: Plan


class Replayed(NamedTuple):
    """One recorded plan under another cap.

    Attributes:
        was, now: Artifacts that the review read, and that it might have read, counts.
        kept, lost: What a judge or an agent found about an artifact that stays within, and about one that
            would be unread.
        other: Other findings, a count: about no artifact of the plan, or by a check.
    """

    recorded: Recorded
    plan: Plan
    was: int
    now: int
    kept: tuple[Finding, ...]
    lost: tuple[Finding, ...]
    other: int


def newest(
    rows: Iterable[JobRow], criterion: Callable[[str, str], Criterion | None] = lambda id, sha256: None
) -> tuple[Recorded, ...]:
    """The newest ended review of each pair, by note, criterion and partition.

    Args:
        rows: Attempts in the order in which they were made.
        criterion: Gives one by id and hash, for the order ``label``; None where it is not as it was.

    Raises:
        IntegrityError: A row is not as it was written.
    """
    last: dict[Pair, JobRow] = {}
    for row in rows:
        if row.review is not None and row.manifest is not None:
            pair = Pair(row.note, row.criterion, str(row.review.get("partition", row.partition)))
            if pair not in last or (row.ended_ms or 0) >= (last[pair].ended_ms or 0):
                last[pair] = row
    return tuple(_recorded(pair, last[pair], criterion) for pair in sorted(last))


def queue(recorded: Iterable[Recorded]) -> tuple[Recorded, ...]:
    """Reviews that ask for work, the gravest first, then by pair."""
    asking = [one for one in recorded if one.verdict in QUEUED]
    return tuple(sorted(asking, key=lambda one: (QUEUED.index(one.verdict), one.pair)))  # type: ignore[arg-type]


def replayed(
    recorded: Iterable[Recorded],
    *,
    cap: int | None,
    unit: Unit | None = None,
    order: OrderName | None = None,
) -> tuple[Replayed, ...]:
    """Each recorded plan under another cap of slots; None is no cap.

    Raises:
        EvidenceError: A cap below 1.
    """
    return tuple(_replayed(one, replay(one.plan, cap=cap, unit=unit, order=order)) for one in recorded)


def _replayed(one: Recorded, plan: Plan) -> Replayed:
    within = set(plan.within)
    inside: dict[str, bool] = {}
    for offer in plan.offers:
        for path in (offer.artifact, *(material.path for material in offer.materials)):
            inside[path] = offer.id in within
    resting = [found for found in one.findings if found.origin != "check" and found.artifact in inside]
    kept = tuple(found for found in resting if inside[found.artifact])
    lost = tuple(found for found in resting if not inside[found.artifact])
    was = one.coverage.read if one.coverage is not None else 0
    return Replayed(one, plan, was, len(within), kept, lost, len(one.findings) - len(resting))


def _recorded(pair: Pair, row: JobRow, criterion: Callable[[str, str], Criterion | None]) -> Recorded:
    try:
        held, review = row.manifest or {}, row.review or {}
        plan = from_canonical(held.get("plan", held), criterion(row.criterion, row.criterion_sha256))
        told = review["coverage"]
        coverage = None if told is None else _coverage(told)
        verdict = str(review["verdict"])
        return Recorded(
            pair,
            verdict,
            str(review["reason"]),
            row.ended_ms or 0,
            row.job,
            row.attempt,
            tuple(_finding(row.note, one) for one in review["findings"]),
            coverage,
            scoped(verdict, coverage) if coverage is not None else "",
            plan,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        key = f"{row.job}/{row.attempt}"
        raise IntegrityError("evidence_job", key, f"its review is not as it was written: {fault!r}") from None


def _finding(note: str, held: Mapping[str, Any]) -> Finding:
    if held["severity"] not in SEVERITY_ORDER:
        raise ValueError(f"a severity {held['severity']!r}")
    return Finding(
        held["rule"], held["severity"], note, int(held["line"]), held["block"], held["claim"],
        held["artifact"], held.get("passage", ""), int(held.get("passage_line", 0)), held.get("text", ""),
        held["origin"],
    )  # fmt: skip


def _coverage(held: Mapping[str, Any]) -> Coverage:
    unread = (Unread(**{"links": (), **one, "blocks": tuple(one["blocks"])}) for one in held["unread"])
    parts = {
        "opened": tuple(Opened(**one) for one in held["opened"]),
        "unread": tuple(unread),
        "unavailable": tuple(Unavailable(**one) for one in held["unavailable"]),
    }
    return Coverage(**{**held, **parts})
