"""Recompute recorded scans under another cap, fill or overflow, by the functions that decided them.

The order and the judge's answers are those of the record. A candidate that was never judged has no verdict,
and what would become of it is unknown, never guessed; so is what lies past the cap under such a one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from admit.core.admission import plan, rule
from admit.core.candidate import Candidate
from admit.core.decision import Plan, Ruling
from admit.core.order import children_of, under
from admit.core.policy import DOORS, Policy, count
from admit.core.question import Answer, Reply, fallback
from admit.ledger.port import DecisionView, VerdictRow

from .session_report import ASKED, acted

Word = Literal["admitted", "blocked", "unjudged", "exempt", "unknown"]
WORDS: tuple[Word, ...] = ("admitted", "blocked", "unjudged", "exempt", "unknown")


class Asked(NamedTuple):
    """What to replay with; None is what the scan had."""

    max_candidates: int | None = None
    fill: Literal["admission", "scored_first"] | None = None
    overflow: Literal["pass", "block"] | None = None


class Moved(NamedTuple):
    """One candidate before and in the replay.

    Attributes:
        was, now: The verdict that acted, in shadow the one that would have.
        was_reason, now_reason: Why; empty for what is unknown.
    """

    id: str
    was: Word
    was_reason: str
    now: Word
    now_reason: str


class Replayed(NamedTuple):
    """One scan, replayed.

    Attributes:
        asked, past: Candidates in the request, and past the cap, in the replay.
    """

    scan_id: str
    ts_ms: int
    lane: str
    status: str
    asked: int
    past: int
    candidates: tuple[Moved, ...]


def replay(view: DecisionView, wanted: Asked) -> Replayed:
    """Decide one recorded scan of the guidance door again."""
    row = view.decision
    ordered = candidates_of(view)
    policy = policy_of(view, wanted)
    planned = plan(ordered, policy)
    was = {one.ord: one for one in acted(view)}
    by_id = {one.candidate_id: was.get(one.ord) for one in view.candidates}
    rulings, unknown = _rulings(view, planned, policy)
    moved = []
    for candidate in planned.ordered:
        before, ruling = by_id.get(candidate.id), rulings[candidate.id]
        word: Word = "unknown" if before is None else before.would or before.verdict  # type: ignore[assignment]
        reason = before.reason or "" if before is not None else ""
        is_open = candidate.id in unknown
        moved.append(
            Moved(
                candidate.id,
                word,
                reason,
                "unknown" if is_open else ruling.verdict,
                "" if is_open else ruling.reason,
            )
        )
    lane = str(row.extra.get("lane", ""))
    past = len(planned.overflow) if row.status in ASKED else 0
    asked = len(planned.asked) if row.status in ASKED else 0
    return Replayed(row.decision_id, row.ts_ms, lane, row.status, asked, past, tuple(moved))


def totals(scans: Iterable[Replayed]) -> dict[str, dict[str, int]]:
    """Candidates by verdict, before and in the replay."""
    was: Counter[str] = Counter()
    now: Counter[str] = Counter()
    for scan in scans:
        was.update(one.was for one in scan.candidates)
        now.update(one.now for one in scan.candidates)
    return {
        "was": {word: was[word] for word in WORDS},
        "now": {word: now[word] for word in WORDS},
    }


def candidates_of(view: DecisionView) -> tuple[Candidate, ...]:
    """The recorded candidates, in admission order."""
    names = {one.ord: one.candidate_id for one in view.candidates}
    exempt = {one.ord for one in acted(view) if one.verdict == "exempt"}
    return tuple(
        Candidate(
            one.candidate_id,
            tuple(one.rank_key or ()),
            names.get(one.parent_ord) if one.parent_ord is not None else None,
            {"chars": one.size or 0},
            exempt=one.ord in exempt,
        )
        for one in view.candidates
    )


def policy_of(view: DecisionView, wanted: Asked) -> Policy:
    """The policy of a scan, with what is wanted in its place."""
    row = view.decision
    held = row.extra.get("policy")
    stored: Mapping[str, object] = held if isinstance(held, Mapping) else {}
    base = DOORS["guidance"]
    cap = wanted.max_candidates or row.cap
    return base._replace(
        cap=count(cap) if cap is not None else base.cap,
        fill=wanted.fill or stored.get("fill", base.fill),
        overflow=wanted.overflow or stored.get("overflow", base.overflow),
        threshold=row.threshold if row.threshold is not None else base.threshold,
        mode="enforce" if row.status in ASKED else "off",
    )


def _rulings(view: DecisionView, planned: Plan, policy: Policy) -> tuple[dict[str, Ruling], frozenset[str]]:
    """Rulings by id, and the ids of which the record cannot say what would become of them."""
    row = view.decision
    names = {one.ord: one.candidate_id for one in view.candidates}
    said = {names[one.ord]: one for one in acted(view) if one.ord in names}
    within = {one.candidate_id for one in view.candidates if one.within}
    asked = [one.id for one in planned.asked]
    if row.status not in ASKED or {*asked, *(one.id for one in planned.exempt)} == within:
        # The same request: what it gave then stands, a defect or a failure too.
        answers = (_answer(k, said.get(name)) for k, name in enumerate(asked, 1))
        reply = Reply("partial" if row.status == "partial" else "judged", tuple(filter(None, answers)))
        if row.status == "fallback":
            reply = fallback(row.reason or "internal")
        return {one.id: one for one in rule(planned, reply, policy)}, frozenset()
    known = {name: one.p for name, one in said.items() if one.reason == "judge" and one.p}
    # What is not known is put in as admitted, so that the others are ruled, and taken out again below.
    answers = tuple(Answer(f"q{k}", "noul", known.get(name, (1.0,))) for k, name in enumerate(asked, 1))
    rulings = {one.id: one for one in rule(planned, Reply("judged", answers), policy)}
    unknown = {name for name in asked if name not in known}
    children = children_of(planned.ordered)
    below = {one for above in unknown for one in under(above, children, ())}
    past = {one.id for one in planned.overflow if rulings[one.id].verdict != "blocked"}
    return rulings, frozenset(unknown | (below & past))


def _answer(place: int, verdict: VerdictRow | None) -> Answer | None:
    """What was answered, from its verdict."""
    reason = (verdict.reason or "") if verdict is not None else ""
    if verdict is not None and verdict.p:
        return Answer(f"q{place}", "noul", tuple(verdict.p))
    head, _, defect = reason.partition(":")
    return Answer(f"q{place}", "noul", defect=defect) if head == "defect" else None
