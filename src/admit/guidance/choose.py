"""From hits to a decision: order, cap, ask, rule, and the budgets of the turn and of the hook."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from admit.core.admission import decide, plan, rule, show
from admit.core.candidate import Budget, Candidate, Tally
from admit.core.decision import Decision, Plan, Reason
from admit.core.order import forest
from admit.core.policy import DOORS, Policy, count
from admit.core.question import Reply

from . import ask as asking
from .hits import Found, context_of
from .judging import GateJudge
from .memory import Memory
from .model import JUDGED_LANES, GateReport, Hit, Surface
from .render import Rendered, render
from .settings import GateSettings

TOOL_LANES = frozenset(("command", "file"))


class Choice(NamedTuple):
    """What was ruled on the hits of a scan.

    Attributes:
        left_out: Ids that a budget left out, with the stage where their way ended.
        units: Each hit as it is shown.
    """

    hits: Mapping[str, Hit]
    plan: Plan
    policy: Policy
    reply: Reply | None
    decision: Decision
    left_out: Mapping[str, str]
    units: Mapping[str, Rendered]

    def report(self, judge: GateJudge, surface: Surface) -> GateReport:
        """What the gate did, in numbers."""
        decision, reply = self.decision, self.reply
        overflow = len(decision.plan.overflow) if decision.status not in ("off", "idle") else 0
        verdicts = sum(ruling.reason == Reason.JUDGE for ruling in decision.rulings)
        reason = decision.reason or (judge.why_not if surface.lane in JUDGED_LANES else "")
        return GateReport(
            decision.status,
            self.policy.mode if decision.shadow is None else "shadow",
            judge.name,
            self.policy.threshold if self.policy.mode != "off" else None,
            verdicts,
            overflow,
            reply.elapsed_ms if reply is not None else 0.0,
            reason or None,
        )


class Ruled(NamedTuple):
    """What the judge's word makes of the hits of a scan, before any budget is spent.

    Attributes:
        passing: Ids that may be shown, in their order.
        units: Each hit as it is shown.
    """

    hits: Mapping[str, Hit]
    plan: Plan
    policy: Policy
    reply: Reply | None
    passing: tuple[str, ...]
    units: Mapping[str, Rendered]


def choose(
    surface: Surface, found: Found, judge: GateJudge, settings: GateSettings, memory: Memory, *, ask: bool
) -> Choice:
    """Order, cap, ask, rule, and spend the budgets of the turn and of the hook."""
    return spend(ruled(surface, found, judge, settings, ask=ask), surface, settings, memory)


def ruled(surface: Surface, found: Found, judge: GateJudge, settings: GateSettings, *, ask: bool) -> Ruled:
    """Order, cap, ask, rule."""
    units = {
        name: unit
        for name, hit in found.hits.items()
        if (unit := render(hit.snippet, settings.budget)) is not None
    }
    hits = {name: hit for name, hit in found.hits.items() if name in units}
    judged = surface.lane in JUDGED_LANES
    ordered = forest(_candidate(hit, hits, units[name].units) for name, hit in hits.items())
    mode = judge.mode(settings) if judged and ask else "off"
    policy = DOORS["guidance"]._replace(
        cap=count(judge.max_candidates),
        threshold=judge.threshold,
        mode=mode,
        overflow=settings.overflow,
        fill=settings.fill,
    )
    planned = plan(ordered, policy)
    reply = _asked(planned, hits, surface, judge, settings) if mode != "off" and planned.asked else None
    passing = show(planned, rule(planned, reply, policy), policy).ids
    return Ruled(hits, planned, policy, reply, passing, units)


def spend(
    found: Ruled, surface: Surface, settings: GateSettings, memory: Memory, taken: Collection[str] = ()
) -> Choice:
    """Spend the budgets of the turn and of the hook.

    Who claims what is shown holds `Memory.alone` over both, else hooks that run at once spend one room twice.

    Args:
        taken: Ids that another hook shows, which take no room here.
    """
    passing = [name for name in found.passing if name not in taken]
    left_out = _over(passing, found.plan.ordered, found.hits, surface, settings, memory)
    decision = decide(found.plan, found.reply, found.policy, tuple(left_out))
    return Choice(found.hits, found.plan, found.policy, found.reply, decision, left_out, found.units)


def _asked(
    planned: Plan, hits: Mapping[str, Hit], surface: Surface, judge: GateJudge, settings: GateSettings
) -> Reply | None:
    if judge.judge is None:
        return None
    request = asking.ask(
        [hits[candidate.id] for candidate in planned.asked],
        surface,
        settings,
        deadline_ms=judge.timeout_ms,
        request_id=secrets.token_hex(8),
    )
    return judge.judge.ask(request)


def _over(
    passing: Sequence[str],
    ordered: Sequence[Candidate],
    hits: Mapping[str, Hit],
    surface: Surface,
    settings: GateSettings,
    memory: Memory,
) -> dict[str, str]:
    """What the turn's count and the hook's characters leave out, by id, with the stage.

    What hangs under one that is left out takes no room.
    """
    parents = {candidate.id: candidate.parent for candidate in ordered}
    sizes = {candidate.id: candidate for candidate in ordered}
    room = max(0, settings.max_per_turn - memory.turn_count(context_of(surface)))
    if surface.lane in TOOL_LANES:
        room = min(room, settings.max_per_tool_call)
    left_out: dict[str, str] = {}
    tally = Tally(Budget({"chars": settings.budget}, "skip"))
    for name in passing:
        if _under(name, parents, left_out):
            continue
        counted = hits[name].trigger.kind != "state"
        if counted and not room:
            left_out[name] = "turn_cap"
        elif not tally.take(sizes[name]):
            left_out[name] = "over_budget"
        elif counted:
            room -= 1
    return left_out


def _candidate(hit: Hit, hits: Mapping[str, Hit], units: int) -> Candidate:
    """Tier and value: a state, an explicit trigger by its specificity, a scored hit by its probability."""
    if hit.trigger.kind == "state":
        rank = (2.0, 0.0)
    elif hit.explicit is not None:
        rank = (1.0, float(hit.explicit))
    else:
        rank = (0.0, hit.score or 0.0)
    strict = hit.snippet.strict and hit.trigger.kind == "pattern"
    return Candidate(
        hit.snippet.id,
        rank,
        _nearest(hit.snippet.id, hits),
        {"chars": units},
        exempt=strict or hit.trigger.kind in ("mention", "state"),
    )


def _nearest(name: str, hits: Mapping[str, Hit]) -> str | None:
    """The nearest proper ancestor among the hits; whole segments are compared."""
    while "/" in name:
        name = name.rpartition("/")[0]
        if name in hits:
            return name
    return None


def _under(name: str, parents: Mapping[str, str | None], left_out: Mapping[str, str]) -> bool:
    above = parents[name]
    while above is not None:
        if above in left_out:
            return True
        above = parents[above]
    return False
