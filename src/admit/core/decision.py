"""What was decided: a ruling per candidate, what is shown, and how much of it was judged."""

from __future__ import annotations

from typing import Literal, NamedTuple

from .candidate import Candidate

Verdict = Literal["admitted", "blocked", "unjudged", "exempt"]
Status = Literal["idle", "off", "judged", "partial", "fallback", "shed"]


class Reason:
    """The words a ruling or a withholding gives as its reason; a failure adds its own after the colon."""

    JUDGE = "judge"
    WITHIN = "within"
    OVERFLOW = "overflow"
    ANCESTOR = "ancestor"
    EXEMPT = "exempt"
    DEFECT = "defect"
    OFF = "off"
    FALLBACK = "fallback"
    OVER_BUDGET = "over_budget"
    PARENT_WITHHELD = "parent_withheld"
    PARTIAL = "partial"
    NONE_PASSED = "none_passed"


class Plan(NamedTuple):
    """Who is asked about, who is over the cap, who is exempt.

    Attributes:
        ordered: Every candidate, in admission order.
        asked: Those the judge is asked about, in admission order; question ``qK`` is about the K-th.
        overflow: Those over the cap, in admission order.
        exempt: Those never asked about and not counted, in admission order.
    """

    ordered: tuple[Candidate, ...]
    asked: tuple[Candidate, ...]
    overflow: tuple[Candidate, ...]
    exempt: tuple[Candidate, ...]


class Ruling(NamedTuple):
    """What was ruled on one candidate.

    Attributes:
        verdict: What holds. In shadow mode nothing asked about is more than ``unjudged``.
        reason: Which rule decided, or ``fallback:<reason>``, or ``defect:<defect>``.
        would: In shadow mode, the verdict that enforcing would have given.
        value: What the judge answered: a probability or an expectation; None when it did not.
        p: The judge's probabilities, as answered.
        ancestor: The nearest ancestor that the judge blocked, where that decided.
    """

    id: str
    verdict: Verdict
    reason: str
    would: Verdict | None = None
    value: float | None = None
    p: tuple[float, ...] = ()
    ancestor: str | None = None


class Coverage(NamedTuple):
    """How many of the candidates were judged (counts)."""

    judged: int
    unjudged: int
    overflow: int
    exempt: int


class Shown(NamedTuple):
    """What the agent sees, in display order, and what was passed but left out, with the reason."""

    ids: tuple[str, ...]
    withheld: tuple[tuple[str, str], ...] = ()


class Decision(NamedTuple):
    """One decision of one door.

    Attributes:
        rulings: One per candidate, in admission order.
        shown: Ids in display order.
        withheld: Pairs (id, reason) that passed and are left out all the same.
        reason: Why the status is not ``judged``; None where there is nothing to say.
        shadow: Why verdicts were only recorded: the door's ``mode``, or what the reply said; None where
            they act.
    """

    plan: Plan
    rulings: tuple[Ruling, ...]
    shown: tuple[str, ...]
    withheld: tuple[tuple[str, str], ...]
    status: Status
    reason: str | None
    coverage: Coverage
    shadow: str | None = None
