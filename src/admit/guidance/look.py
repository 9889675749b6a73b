"""One outcome, the gate that gave it, and the same scan under other settings."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple

from admit.core.decision import Decision
from admit.core.question import NO_LIMITS, Answer, Ask, Question, Reply, RequestLimits

from .choose import choose
from .gate import GuidanceGate
from .hits import cleaned, find
from .judging import GateJudge
from .model import GuidanceResult, Outcome, Snippet, Surface
from .outcomes import outcomes_of
from .settings import GateSettings


class Change(NamedTuple):
    """What would alter an outcome.

    Attributes:
        text: A sentence for a person.
        key: The setting that does it; empty where it is the text, the file, or the host.
        value: What that setting would have to be.
    """

    text: str
    key: str = ""
    value: Any = None


class Look(NamedTuple):
    gate: GuidanceGate
    surface: Surface
    result: GuidanceResult
    outcome: Outcome
    snippet: Snippet
    values: Mapping[str, Any]

    @property
    def settings(self) -> GateSettings:
        return self.gate.settings

    @property
    def decision(self) -> Decision:
        assert self.result.decision is not None  # only hits come here
        return self.result.decision

    def stage_with(self, **changed: Any) -> str:
        """Where its way would end under other settings, with the judge's word as it was given."""
        gate, settings = self.gate, self.gate.settings._replace(**changed)
        library = gate.library
        surface = cleaned(self.surface, settings.envelopes) or self.surface
        found = find(
            surface, library.guidance, library.triggers, library.matcher, gate.memory, settings, -inf
        )
        choice = choose(surface, found, self._recorded(), settings, gate.memory, ask=True)
        outcomes = outcomes_of(library.guidance, found, choice, choice.decision.shown, surface.delivers)
        return next(one.stage for one in outcomes if one.id == self.outcome.id)

    def _recorded(self) -> GateJudge:
        """The judge's word as it was given; nobody where it did not act."""
        decision = self.decision
        if decision.status not in ("judged", "partial") or decision.shadow is not None:
            return GateJudge()
        return self.gate.judge._replace(judge=_Recorded(decision), backend="own")


class _Recorded:
    """Answers as the judge answered, by place; what it left out stays without an answer."""

    name = "recorded"

    def __init__(self, decision: Decision) -> None:
        values = {ruling.id: ruling.p for ruling in decision.rulings if ruling.p}
        asked = enumerate(decision.plan.asked, 1)
        self._answers = tuple(Answer(f"q{k}", "noul", values[one.id]) for k, one in asked if one.id in values)

    def supports(self, question: Question) -> bool:
        return True

    def limits(self) -> RequestLimits:
        return NO_LIMITS

    def ask(self, ask: Ask) -> Reply:
        return Reply("judged" if len(self._answers) == len(ask.questions) else "partial", self._answers)
