"""The pipeline of every door: order, cap, ask, rule, show.

    candidates ─ order ─▶ plan ─ the door asks a judge ─▶ rule ─▶ show
                          └──────────────── decide ──────────────┘

A door gathers candidates and orders them (`order`), then `plan` says who is asked about. The door puts one
question per asked candidate to a judge, once, and hands the reply to `decide`. Nothing here knows a
door, a file, a clock or a network; what differs between doors is a `Policy` value. Live calls, shadow
mode, replay and the lab call these same functions, so a number found in the lab is the number that acts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from .candidate import Candidate, Tally, fit
from .decision import Coverage, Decision, Plan, Reason, Ruling, Shown, Status, Verdict
from .order import children_of, under
from .policy import Policy
from .question import Answer, Reply


def plan(ordered: Sequence[Candidate], policy: Policy) -> Plan:
    """Cap: the first that fit are asked about, the rest is overflow; exempt ones are not counted."""
    offered = [candidate for candidate in ordered if not candidate.exempt]
    seats = offered
    if policy.fill == "scored_first":
        seats = sorted(offered, key=lambda candidate: candidate.rank[:1])
    within, _ = fit(seats, policy.cap)
    seated = {candidate.id for candidate in within}
    return Plan(
        ordered=tuple(ordered),
        asked=tuple(candidate for candidate in offered if candidate.id in seated),
        overflow=tuple(candidate for candidate in offered if candidate.id not in seated),
        exempt=tuple(candidate for candidate in ordered if candidate.exempt),
    )


def rule(plan: Plan, reply: Reply | None, policy: Policy) -> tuple[Ruling, ...]:
    """One ruling per candidate, in admission order.

    Without a usable reply every offered candidate is unjudged, overflow too: nothing is blocked because a
    judge failed. In shadow, of the door or of the reply, each ruling is what enforcing would give, moved to
    `would`.
    """
    rulings = {candidate.id: Ruling(candidate.id, "exempt", Reason.EXEMPT) for candidate in plan.exempt}
    failure = _failure(plan, reply, policy)
    if failure is not None:
        offered = (*plan.asked, *plan.overflow)
        rulings.update((one.id, Ruling(one.id, "unjudged", failure)) for one in offered)
    else:
        answers = _answers(plan, reply)
        judged = [_judged(candidate, answers.get(candidate.id), policy) for candidate in plan.asked]
        rulings.update((ruling.id, ruling) for ruling in judged)
        blockers = _blockers(plan, {ruling.id for ruling in judged if ruling.verdict == "blocked"})
        rulings.update((one.id, _over(one, blockers.get(one.id), policy)) for one in plan.overflow)
    ordered = tuple(rulings[candidate.id] for candidate in plan.ordered)
    return tuple(map(_shadowed, ordered)) if _shadow(reply, policy) else ordered


def show(plan: Plan, rulings: Sequence[Ruling], policy: Policy, left_out: Collection[str] = ()) -> Shown:
    """The second cap, the order for display, and children whose parent is left out.

    Exempt candidates come first in the count and stay, however little is left. `left_out` names what a
    budget of the door itself left out, exempt or not. What hangs under a candidate that is left out is
    withheld with it, whatever the order: a child is never shown without its parent.
    """
    display = _display(plan, rulings, policy)
    children = children_of(plan.ordered)
    reasons = dict.fromkeys(left_out, Reason.OVER_BUDGET)
    for identity in tuple(reasons):
        _withhold_under(identity, children, reasons)
    tally = Tally(policy.show)
    for candidate in plan.exempt:
        if candidate.id not in reasons:
            tally.charge(candidate)
    for candidate in display:
        if candidate.id not in reasons and not candidate.exempt and not tally.take(candidate):
            reasons[candidate.id] = Reason.OVER_BUDGET
            _withhold_under(candidate.id, children, reasons)
    return Shown(
        ids=tuple(one.id for one in display if one.id not in reasons),
        withheld=tuple((one.id, reasons[one.id]) for one in display if one.id in reasons),
    )


def decide(plan: Plan, reply: Reply | None, policy: Policy, left_out: Collection[str] = ()) -> Decision:
    """Rule, then show. `reply` is None when nothing was asked: the mode is off, or nothing was offered."""
    rulings = rule(plan, reply, policy)
    shown = show(plan, rulings, policy, left_out)
    status, reason = _status(plan, reply, policy)
    judged = sum(1 for ruling in rulings if ruling.reason in (Reason.JUDGE, Reason.WITHIN))
    exempt, overflow = len(plan.exempt), len(plan.overflow)
    return Decision(
        plan=plan,
        rulings=rulings,
        shown=shown.ids,
        withheld=shown.withheld,
        status=status,
        reason=reason,
        coverage=Coverage(judged, len(plan.ordered) - exempt - judged, overflow, exempt),
        shadow=_shadow(reply, policy),
    )


def _shadow(reply: Reply | None, policy: Policy) -> str | None:
    """Why verdicts are only recorded; None where they act."""
    if policy.mode == "shadow":
        return "mode"
    return reply.shadow if reply is not None else None


def _failure(plan: Plan, reply: Reply | None, policy: Policy) -> str | None:
    """Why the reply as a whole cannot be used, as a ruling's reason; None when it can."""
    status, reason = _status(plan, reply, policy)
    if status == "off":
        return Reason.OFF
    return f"{Reason.FALLBACK}:{reason}" if status == "fallback" else None


def _status(plan: Plan, reply: Reply | None, policy: Policy) -> tuple[Status, str | None]:
    if policy.mode == "off":
        return "off", None
    if not plan.asked and not plan.overflow:
        return "idle", None
    if reply is None:
        return "fallback", "not_asked"
    if reply.status == "fallback":
        return "fallback", reply.reason or "internal"
    if policy.threshold is None:
        usable = reply.status == "judged" or policy.unjudged != "reject"
        return (reply.status, reply.reason) if usable else ("fallback", reply.reason or Reason.PARTIAL)
    answers = _answers(plan, reply)
    values = [answer.value for answer in answers.values() if answer.value is not None]
    whole = reply.status == "judged" and len(values) == len(plan.asked)
    if not whole and policy.unjudged == "reject":
        return "fallback", reply.reason or Reason.PARTIAL
    if not values:
        return "fallback", reply.reason or "answer_defects"
    if policy.none_admitted == "fail" and max(values) < policy.threshold:
        return "fallback", Reason.NONE_PASSED
    return ("judged", None) if whole else ("partial", reply.reason or "answer_defects")


def _answers(plan: Plan, reply: Reply | None) -> dict[str, Answer]:
    """Answers by candidate id. Only the ids we gave out count: anything else in the reply is ignored."""
    by_question = {answer.id: answer for answer in reply.answers} if reply is not None else {}
    pairs = ((candidate.id, by_question.get(f"q{k}")) for k, candidate in enumerate(plan.asked, 1))
    return {identity: answer for identity, answer in pairs if answer is not None}


def _judged(candidate: Candidate, answer: Answer | None, policy: Policy) -> Ruling:
    if policy.threshold is None:
        return Ruling(candidate.id, "admitted", Reason.WITHIN)
    value = answer.value if answer is not None else None
    if answer is None or value is None:
        defect = "missing" if answer is None else answer.defect or "out_of_range"
        return Ruling(candidate.id, "unjudged", f"{Reason.DEFECT}:{defect}")
    verdict: Verdict = "admitted" if value >= policy.threshold else "blocked"
    return Ruling(candidate.id, verdict, Reason.JUDGE, value=value, p=answer.p)


def _blockers(plan: Plan, blocked: Collection[str]) -> dict[str, str]:
    """For what hangs under a blocked candidate, the nearest blocked one above it."""
    children = children_of(plan.ordered)
    return {identity: above for above in blocked for identity in under(above, children, blocked)}


def _withhold_under(parent: str, children: Mapping[str, Sequence[str]], reasons: dict[str, str]) -> None:
    for identity in under(parent, children, reasons):
        reasons[identity] = Reason.PARENT_WITHHELD


def _over(candidate: Candidate, blocker: str | None, policy: Policy) -> Ruling:
    if blocker is not None:
        return Ruling(candidate.id, "blocked", Reason.ANCESTOR, ancestor=blocker)
    verdict: Verdict = "blocked" if policy.overflow == "block" else "unjudged"
    return Ruling(candidate.id, verdict, Reason.OVERFLOW)


def _shadowed(ruling: Ruling) -> Ruling:
    if ruling.verdict == "exempt":
        return ruling
    return ruling._replace(verdict="unjudged", would=ruling.verdict)


def _display(plan: Plan, rulings: Sequence[Ruling], policy: Policy) -> list[Candidate]:
    """Those that pass, in display order."""
    verdicts = {ruling.id: ruling for ruling in rulings}
    passing = [one for one in plan.ordered if _passes(verdicts[one.id], policy)]
    if policy.reorder == "admission":
        return passing

    def key(candidate: Candidate) -> tuple[int, float]:
        ruling = verdicts[candidate.id]
        tier = {"exempt": 0, "admitted": 1}.get(ruling.verdict, 2)
        return tier, -(ruling.value or 0.0) if tier == 1 else 0.0

    return sorted(passing, key=key)


def _passes(ruling: Ruling, policy: Policy) -> bool:
    if ruling.verdict in ("admitted", "exempt"):
        return True
    if ruling.verdict == "blocked":
        return False
    unasked = ruling.would is not None or ruling.reason.startswith((Reason.FALLBACK, Reason.OFF))
    if unasked:
        return policy.failure == "pass"
    if ruling.reason == Reason.OVERFLOW:
        return True
    return policy.unjudged != "withhold"
