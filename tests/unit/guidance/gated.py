"""A real gate over a home and a project of files, with a matcher that says what it is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from admit.config import layers
from admit.guidance.gate import GuidanceGate
from admit.guidance.matching import Matched
from admit.guidance.model import GuidanceResult, Snippet, Surface
from admit.guidance.opening import open_gate
from admit.judges.clock import FrozenClock
from admit.judges.scripted import ScriptedJudge
from admit.ledger.memory import MemoryLedger

from .project import Guidance

SESSION = "s1"
PROFILE = "ollama"
"""A shipped chat profile, which gates where the settings say nothing."""


class FixedMatcher:
    """Gives each snippet the probability it is told, and proposes those at or above one half."""

    mode = "lexical"

    def __init__(self, scores: Mapping[str, float]) -> None:
        self._scores = scores

    def match(self, text: str, eligible: Sequence[Snippet]) -> Matched:
        scores = {one.id: self._scores[one.id] for one in eligible if one.id in self._scores}
        admitted = [name for name, p in sorted(scores.items(), key=lambda one: (-one[1], one[0])) if p >= 0.5]
        return Matched(scores, tuple(admitted))


def settings(guidance: Guidance, **values: object) -> layers.Config:
    """The settings of the project, by full name with ``__`` for the dots, under a judge that gates."""
    overrides: dict[str, object] = {"judge.profile": PROFILE, f"judge.profiles.{PROFILE}.model": "m"}
    overrides["guidance.matcher.encoder"] = "off"  # words alone, whatever is installed
    overrides |= {name.replace("__", "."): value for name, value in values.items()}
    return layers.load(str(guidance.project), overrides=overrides)


def opened(
    guidance: Guidance,
    *,
    judge: Any = None,
    scores: Mapping[str, float] | None = None,
    ledger: Any = None,
    host: str | None = None,
    clock: FrozenClock | None = None,
    real_matcher: bool = False,
    **values: object,
) -> GuidanceGate:
    """The gate of the project; `values` are settings."""
    config = settings(guidance, **values)
    return open_gate(
        GuidanceGate,
        str(guidance.project),
        host=host,
        config=config,
        judge=judge,
        ledger=ledger,
        clock=clock or FrozenClock(100.0),
        matcher_of=None if real_matcher else lambda index: FixedMatcher(scores or {}),
    )


def prompt(text: str, **more: Any) -> Surface:
    """A message of the session's person."""
    return Surface("prompt", text, **({"session": SESSION, "tokens_used": 1000} | more))


def stages(result: GuidanceResult) -> dict[str, str]:
    """Where each snippet's way ended."""
    return {one.id: one.stage for one in result.outcomes}


def judged_by(answers: Mapping[str, float], default: float = 0.9, **more: Any) -> ScriptedJudge:
    """A judge that answers by the id that a subject's first line spells."""

    def said(question: Any) -> float:
        return answers.get(question.subject.split("\n")[0].replace(" › ", "/"), default)

    return ScriptedJudge(said, **more)


def read(ledger: MemoryLedger) -> list[Any]:
    """The decisions of a ledger in the order they came."""
    return list(reversed(list(ledger.query(door="guidance"))))


def events(ledger: MemoryLedger, type: str) -> list[dict[str, Any]]:
    """The bodies of the events of a type, in the order they came."""
    return [dict(event.body) for record in ledger.records for event in record.events if event.type == type]
