"""The values that make one pipeline serve four doors, and the failure table of the doors.

Two kinds of failure are never one switch. Relevance (is it useful?) fails open: to what would have
happened without a judge. Authority (may it be read, may it leave this machine?) fails closed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from .candidate import UNBOUNDED, Budget

Mode = Literal["enforce", "shadow", "off"]


class Policy(NamedTuple):
    """What the pipeline does at one door.

    Attributes:
        cap: How much may be asked about; what is over it is overflow.
        show: How much the agent sees: the second cap.
        threshold: The least value (probability, or expectation of a score) that admits. None: being
            within the cap admits, for the questions are not about the candidates (evidence).
        mode: ``enforce`` acts, ``shadow`` asks and records but shows what no judge would have shown,
            ``off`` does not ask.
        fill: Who takes the seats under the cap first: ``admission`` order, or ``scored_first``, the
            lowest tier first, each tier in admission order. The request keeps admission order.
        overflow: What is over the cap: ``pass`` unjudged, or ``block``.
        failure: No usable reply: everything offered would ``pass`` as without a judge, or is withheld
            (``withhold``).
        unjudged: One answer is missing or spoiled: that candidate would ``pass``, or is withheld
            (``withhold``), or it spoils the whole reply (``reject``).
        none_admitted: Every answer stands and nothing reaches the threshold: that is the answer
            (``hide``), or it counts as a failure (``fail``).
        reorder: Shown in ``admission`` order, or ``by_p``: the most probable first, unjudged ones after.
    """

    cap: Budget = UNBOUNDED
    show: Budget = UNBOUNDED
    threshold: float | None = None
    mode: Mode = "enforce"
    fill: Literal["admission", "scored_first"] = "admission"
    overflow: Literal["pass", "block"] = "pass"
    failure: Literal["pass", "withhold"] = "pass"
    unjudged: Literal["pass", "withhold", "reject"] = "pass"
    none_admitted: Literal["hide", "fail"] = "hide"
    reorder: Literal["admission", "by_p"] = "admission"


def count(n: int) -> Budget:
    """A budget of `n` candidates, whatever their size."""
    return Budget(MappingProxyType({"count": n}))


DOORS: Mapping[str, Policy] = MappingProxyType(
    {
        # All pass, as the matcher decided; the character budget is what the host takes.
        "guidance": Policy(cap=count(8), threshold=0.3),
        # Without a judge: the first tools that fit, in rank order; nothing reached is an answer, zero tools.
        "tools": Policy(
            cap=count(24),
            show=Budget(MappingProxyType({"count": 8, "tokens": 1000}), "skip"),
            threshold=0.3,
            overflow="block",
            reorder="by_p",
        ),
        # Verdicts become line weights; without them the deterministic excerpt stands.
        "outputs": Policy(cap=count(24), threshold=1.5, none_admitted="fail"),
        # What may be read. A reply that cannot be used leaves the pair unjudged, never passed.
        "evidence": Policy(
            cap=Budget(MappingProxyType({"artifacts": 16})),
            overflow="block",
            failure="withhold",
            unjudged="reject",
        ),
    }
)
