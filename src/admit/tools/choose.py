"""From an order to what is shown: the cap, the judge, and the budget of tools and tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from admit.core.admission import decide, plan
from admit.core.candidate import Candidate
from admit.core.decision import Decision
from admit.core.policy import Policy
from admit.core.question import Reply

from .model import Ranked, Route
from .policy import ToolPolicy, core_policy, cover_cut, first_offered, published_cut
from .rank import Order

Sizes = Callable[[Route], int]
Asked = Callable[[Sequence[Route]], Reply]


class Choice(NamedTuple):
    """What was decided for one request.

    Attributes:
        pool: What was looked at, in order.
        policy: What it was decided by.
        reply: The judge's; None where none was asked.
        sizes: Schema tokens by route id; where no tokens are counted, of what is shown alone.
    """

    pool: tuple[Ranked, ...]
    policy: Policy
    reply: Reply | None
    decision: Decision
    sizes: Mapping[str, int]


def choose(
    order: Order,
    routes: Mapping[str, Route],
    policy: ToolPolicy,
    depth: str,
    size_of: Sizes,
    asked: Asked | None = None,
    pool: Sequence[Ranked] = (),
) -> Choice:
    """Cut an order by a depth.

    Args:
        size_of: Schema tokens of one route.
        asked: Puts routes to the judge; None asks nobody.
        pool: What the judge is asked about, first to last, in place of the order.
    """
    count = _count(order, policy, depth)
    if depth == "judge" and asked is not None and policy.mode != "off":
        # Past the profile's cap nobody is asked about; the record says what was there.
        looked = tuple(pool or order.ranked)
        choice = _decided(looked, routes, core_policy(policy, asks=True, depth_count=None), size_of, asked)
        if choice.decision.status in ("judged", "partial", "idle") and choice.decision.shadow is None:
            return choice
        # As without a judge: the shortlist of the budget, over the plain order.
        plain = _plain(order, routes, policy, None, size_of)
        there = {one.route_id for one in plain.pool}
        return choice._replace(
            pool=(*plain.pool, *(one for one in choice.pool if one.route_id not in there)),
            decision=choice.decision._replace(shown=plain.decision.shown, withheld=plain.decision.withheld),
            sizes={**choice.sizes, **plain.sizes},
        )
    return _plain(order, routes, policy, count, size_of)


def _plain(
    order: Order, routes: Mapping[str, Route], policy: ToolPolicy, count: int | None, size_of: Sizes
) -> Choice:
    exact = len(_exact(order.ranked))
    looked = tuple(order.ranked[: first_offered(policy, count) + exact])
    if count is not None:
        looked = looked[: max(count, exact)]
    return _decided(looked, routes, core_policy(policy, asks=False, depth_count=count), size_of, None)


def _decided(
    pool: tuple[Ranked, ...], routes: Mapping[str, Route], policy: Policy, size_of: Sizes, asked: Asked | None
) -> Choice:
    limit = policy.show.limits.get("tokens")
    whole = {one.route_id: size_of(routes[one.route_id]) if limit is not None else 0 for one in pool}
    # One that alone is over the budget is shown rather than none.
    sizes = {name: size if limit is None else min(size, limit) for name, size in whole.items()}
    candidates = tuple(
        Candidate(one.route_id, (float(-place),), sizes={"tokens": sizes[one.route_id]}, exempt=one.exact)
        for place, one in enumerate(pool)
    )
    planned = plan(candidates, policy)
    reply = None
    if asked is not None and planned.asked:
        reply = asked([routes[candidate.id] for candidate in planned.asked])
    decision = decide(planned, reply, policy)
    if limit is None:
        # For the reader: nothing was cut by them.
        whole = {name: size_of(routes[name]) for name in decision.shown}
    return Choice(pool, policy, reply, decision, whole)


def _count(order: Order, policy: ToolPolicy, depth: str) -> int | None:
    """The count that a depth gives; None where the budget decides."""
    if depth in ("budget", "judge"):
        return None
    scored = [one for one in order.ranked if not one.exact]
    if depth != "cover":
        return published_cut(depth, scored)
    total = sum(order.worth.values())
    shares = [
        {word: order.worth.get(word, 0.0) / total if total else 0.0 for word in one.matched} for one in scored
    ]
    return cover_cut(scored, shares, policy)


def _exact(ranked: Sequence[Ranked]) -> list[Ranked]:
    return [one for one in ranked if one.exact]
