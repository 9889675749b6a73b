"""Where each snippet's way ended in one scan: exactly one stage each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from admit.core.decision import Reason, Ruling

from .choose import Choice
from .hits import Found
from .model import Index, Outcome


def outcomes_of(
    guidance: Index, found: Found, choice: Choice, shown: Sequence[str], delivers: bool
) -> tuple[Outcome, ...]:
    """One for every snippet, disabled ones last."""
    rulings = {ruling.id: ruling for ruling in choice.decision.rulings}
    ranks = {candidate.id: place for place, candidate in enumerate(choice.plan.ordered, 1)}
    withheld = dict(choice.decision.withheld)
    outcomes: list[Outcome] = []
    for snippet in (*guidance.snippets, *guidance.disabled):
        ended = found.ended.get(snippet.id)
        if ended is None:
            hit = found.hits[snippet.id]
            ruling = rulings.get(snippet.id)
            stage = _stage(snippet.id, ruling, withheld, choice.left_out, shown, delivers)
            ended = Outcome(snippet.id, stage, ranks.get(snippet.id), hit, hit.score, ruling)
        outcomes.append(ended)
    return tuple(outcomes)


def _stage(
    name: str, ruling: Ruling | None, withheld: Mapping[str, str], left_out: Mapping[str, str],
    shown: Sequence[str], delivers: bool,
) -> str:  # fmt: skip
    if name in shown:
        return "shown"
    if ruling is None:
        return "over_budget"  # the file could not be read
    if ruling.verdict == "blocked":
        return {Reason.ANCESTOR: "ancestor", Reason.OVERFLOW: "overflow_blocked"}.get(
            ruling.reason, "blocked"
        )
    if name in left_out:
        return left_out[name]
    if withheld.get(name) == Reason.PARENT_WITHHELD:
        return "parent_withheld"
    return "held_refire" if delivers else "undeliverable"
