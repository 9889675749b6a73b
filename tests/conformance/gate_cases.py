"""One gate in three steps, as every door has it: plan, ask, decide."""

from typing import NamedTuple

from admit.core.admission import decide, plan
from admit.core.candidate import Candidate
from admit.core.decision import Decision, Plan
from admit.core.order import forest
from admit.core.policy import Policy
from admit.core.question import Ask, Noul, Score
from admit.judges.bounded import BoundedJudge
from admit.judges.clock import FrozenClock
from admit.judges.scripted import ScriptedJudge

LEVELS = ("unrelated", "same topic, does not help", "answers in part", "answers with specifics")


class Gated(NamedTuple):
    """What one request did: `asks` are those that reached the judge."""

    plan: Plan
    decision: Decision
    asks: list[Ask]


def noul(k: int, candidate: Candidate) -> Noul:
    return Noul(f"q{k}", candidate.id, "Would this help?", "It would.", "It would not.")


def score(k: int, candidate: Candidate) -> Score:
    return Score(f"q{k}", candidate.id, "How useful is this passage?", LEVELS)


def gate(candidates, policy: Policy, answers, *, order=forest, question=noul, delay_ms=0.0, timeout_ms=2000):
    """One request through the core: `answers` is a judge, or what a scripted one says of each id."""
    clock = FrozenClock()
    scripted = ScriptedJudge(answers, clock=clock, delay_ms=delay_ms) if _is_script(answers) else answers
    judge = BoundedJudge(scripted, clock)
    planned = plan(order(candidates), policy)
    questions = tuple(question(k, one) for k, one in enumerate(planned.asked, 1))
    reply = judge.ask(Ask("guidance", "fix the build", (), questions, None, timeout_ms, "r1"))
    return Gated(planned, decide(planned, reply, policy), scripted.asks)


def verdicts(decision: Decision) -> dict[str, tuple[str, str]]:
    """Verdict and reason by candidate."""
    return {ruling.id: (ruling.verdict, ruling.reason) for ruling in decision.rulings}


def hits(n: int) -> list[Candidate]:
    """n scored hits, the best first."""
    return [Candidate(f"w{k:02d}", (0, 1 - k / 1000)) for k in range(n)]


def yes(question: object) -> float:
    return 0.9


def no(question: object) -> float:
    return 0.1


def _is_script(answers: object) -> bool:
    return callable(answers) or isinstance(answers, dict)
