"""From a choice to what is said of it: the tools shown, the outcome, and which servers there are."""

from __future__ import annotations

from admit.core.decision import Reason

from .choose import Choice
from .filters import Filtered
from .model import HIDDEN, Admitted, Exclusion, OutcomeWord, Ranked, Route
from .policy import ToolPolicy
from .rank import DEPTH, Order
from .snapshot import Snapshot


def admitted(choice: Choice, snapshot: Snapshot) -> tuple[Admitted, ...]:
    """What is shown, in rank order."""
    rulings = {ruling.id: ruling for ruling in choice.decision.rulings}
    limit = choice.policy.show.limits.get("tokens")
    found: list[Admitted] = []
    ranked = {one.route_id: one for one in choice.pool}
    for name in choice.decision.shown:
        one, ruling = ranked[name], rulings.get(name)
        size = choice.sizes.get(name, 0)
        if one.exact:
            verdict, reason = "exempt", "exact"
        elif ruling is not None and ruling.verdict == "admitted":
            verdict, reason = "admitted", "judge"
        elif choice.reply is not None and ruling is not None and choice.decision.shadow is None:
            verdict, reason = "unjudged", ruling.reason
        else:
            verdict, reason = "unjudged", "budget" if limit is not None else "depth"
        if limit is not None and size > limit:
            reason = "over_budget"
        value = ruling.value if ruling is not None else None
        found.append(
            Admitted(snapshot.routes[name], one.rank, one.score, one.components, verdict, reason, value, size)  # type: ignore[arg-type]
        )
    return tuple(found)


def outcome(
    snapshot: Snapshot,
    filtered: Filtered,
    order: Order,
    choice: Choice,
    admitted: tuple[Admitted, ...],
    again: tuple[Route, ...],
) -> OutcomeWord:
    """What a find came to, in one word."""
    if not len(snapshot) or _all_down(snapshot, filtered):
        return "empty_catalog"
    if choice.reply is not None and choice.decision.status == "fallback":
        return "fallback"
    if not order.ranked and not choice.pool:
        return "already" if again else "no_match"
    if choice.reply is not None and not any(one.verdict != "exempt" for one in admitted):
        return "none_fits"
    return "admitted" if admitted else "none_fits"


def _all_down(snapshot: Snapshot, filtered: Filtered) -> bool:
    """Whether every route that may be known of cannot be called."""
    down = sum(one.reason == "not_ready" for one in filtered.excluded)
    hidden = sum(one.reason in HIDDEN for one in filtered.excluded)
    return down > 0 and down + hidden == len(snapshot)


def passed_over(choice: Choice, admitted: tuple[Admitted, ...], policy: ToolPolicy) -> tuple[Exclusion, ...]:
    """What was left out for its schema tokens alone while there was a place for one more tool."""
    if "tokens" not in choice.policy.show.limits:
        return ()
    shown = {one.route.id for one in admitted}
    full = len(shown) >= policy.max_tools
    last = max((place for place, one in enumerate(choice.pool) if one.route_id in shown), default=-1)
    left = {name for name, reason in choice.decision.withheld if reason == Reason.OVER_BUDGET}
    left |= set(choice.decision.shown) - shown
    return tuple(
        Exclusion(one.route_id, "over_tokens", f"{choice.sizes[one.route_id]:,} schema tokens")
        for place, one in enumerate(choice.pool)
        if one.route_id in left and (place < last or not full)
    )


def open_sources(snapshot: Snapshot, filtered: Filtered) -> list[str]:
    """Servers with a route that may be known of."""
    hidden = {one.route_id for one in filtered.excluded if one.reason in HIDDEN}
    return sorted({route.source for name, route in snapshot.routes.items() if name not in hidden})


def padded(order: Order, snapshot: Snapshot, left: frozenset[str] | None) -> Order:
    """The order with what nothing matched after it, so that a published depth has its count."""
    ranked = list(order.ranked)
    there = {one.route_id for one in ranked}
    for name in snapshot.routes:
        if len(ranked) >= DEPTH:
            break
        if name not in there and (left is None or name in left):
            ranked.append(Ranked(name, len(ranked) + 1, 0.0))
    return order._replace(ranked=ranked)
