"""How many tools a request is shown: the depth rules of this door as values of the core's policy.

``budget`` and ``judge`` are this product's own; the published ones (`core.depth`) are fixed counts and the
gaps of a score list. A depth is exposure alone: it grants and removes no right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from admit.core.candidate import Budget
from admit.core.depth import DEEPEST, PUBLISHED, Depth, cut
from admit.core.policy import DOORS, Mode, Policy, count
from admit.errors import UsageError

from .model import Ranked

OWN = ("budget", "judge", "cover")
FIXED = "fixed-"


class ToolPolicy(NamedTuple):
    """What a find goes by (`[tools]`).

    Attributes:
        depth: ``budget``, ``judge``, ``cover``, ``fixed-K``, or a published id in either case.
        pad: Whether a depth's count is filled with routes that nothing matched, as published.
        max_tools, max_tokens: The most that is shown, by count and by schema tokens.
        max_exact: The most routes that are shown because the request names them.
        cover_gain, cover_min: Shares of the request's word weight, for ``cover``.
        counter: What counts schema tokens.
        form: Whose definitions they are counted on, one of `export.EXPORTERS`.
        max_candidates, threshold, timeout_ms: Of the judge's profile: asked at once, the least probability,
            and the deadline in ms.
    """

    mode: Mode = "enforce"
    depth: str = "budget"
    pad: bool = False
    max_tools: int = 8
    max_tokens: int = 1000
    max_exact: int = 20
    cover_gain: float = 0.15
    cover_min: float = 0.30
    counter: str = "estimate"
    form: str = "openai"
    order_out: str = "id"
    max_candidates: int = 24
    threshold: float = 0.3
    timeout_ms: int = 1000


def family(depth: str) -> str:
    """``control`` or ``candidate`` of the published experiment, else ``outside``."""
    known = PUBLISHED.get(depth.upper())
    return known.family if known is not None else "outside"


def checked(depth: str) -> str:
    """The depth's own spelling.

    Raises:
        UsageError: There is no such depth; learned policies are none.
    """
    name = depth.lower()
    if name in OWN or name.upper() in PUBLISHED:
        return name
    if name.startswith(FIXED) and name[len(FIXED) :].isdecimal() and int(name[len(FIXED) :]) > 0:
        return name
    known = ", ".join((*OWN, *(one.lower() for one in PUBLISHED), "fixed-K"))
    raise UsageError(f"there is no depth {depth!r}; choose {known}")


def published_cut(depth: str, ranked: Sequence[Ranked]) -> int:
    """How many of an order a control or a gap rule exposes: from its scores alone."""
    rule = PUBLISHED.get(depth.upper())
    if rule is None:
        rule = Depth(depth, "outside", "fixed", k=int(depth[len(FIXED) :]))
    return cut(rule, [one.score for one in ranked])


def cover_cut(ranked: Sequence[Ranked], weights: Sequence[dict[str, float]], policy: ToolPolicy) -> int:
    """How many of an order the ``cover`` rule keeps.

    A route is kept where it explains at least `cover_gain` of the request's word weight that none before
    it does, or stands level with the last kept one. Where the first explains under `cover_min`, none is.

    Args:
        weights: For each ranked route the weight of each word of the request that it explains, as shares
            of the whole request.
    """
    explained: set[str] = set()
    kept = 0
    for place, (one, words) in enumerate(zip(ranked, weights, strict=True)):
        gain = sum(share for word, share in words.items() if word not in explained)
        level = place > 0 and (one.score, one.matched) == (ranked[place - 1].score, ranked[place - 1].matched)
        if not place and gain < policy.cover_min:
            return 0
        if place and gain < policy.cover_gain and not level:
            break
        explained.update(words)
        kept += 1
    return kept


def own_show(policy: ToolPolicy) -> Budget:
    """The agent's own budget: tools and schema tokens, whichever ends first; what does not fit is skipped."""
    return Budget({"count": policy.max_tools, "tokens": policy.max_tokens}, "skip")


def core_policy(policy: ToolPolicy, *, asks: bool, depth_count: int | None) -> Policy:
    """The policy that the core decides by.

    Args:
        asks: Whether a judge is asked.
        depth_count: The count of a control, gap or cover rule; None where the budget decides.
    """
    show = own_show(policy) if depth_count is None else Budget({"count": depth_count})
    return DOORS["tools"]._replace(
        cap=count(policy.max_candidates),
        show=show,
        threshold=policy.threshold,
        mode=policy.mode if asks else "off",
    )


def first_offered(policy: ToolPolicy, depth_count: int | None) -> int:
    """How many of the order are looked at without a judge."""
    return 2 * policy.max_tools if depth_count is None else max(depth_count, DEEPEST)


def tool_policy(values: dict[str, Any]) -> ToolPolicy:
    """The `[tools]` settings, by their names without the prefix."""
    return ToolPolicy(**{name: values[name] for name in ToolPolicy._fields if name in values})


def valid(policy: ToolPolicy) -> ToolPolicy:
    """The policy, its depth in its own spelling.

    Raises:
        UsageError: A value cannot be; the message names it.
    """
    for name in ("max_tools", "max_tokens", "max_exact", "max_candidates", "timeout_ms"):
        if getattr(policy, name) < 1:
            raise UsageError(f"{name} must be 1 or more, not {getattr(policy, name)}")
    for name in ("threshold", "cover_gain", "cover_min"):
        if not 0 <= getattr(policy, name) <= 1:  # also what is no number
            raise UsageError(f"{name} must be between 0 and 1, not {getattr(policy, name)}")
    return policy._replace(depth=checked(policy.depth))
