"""What a judge's verdicts on passages do to the choice of lines.

A judge re-weights lines; it never renders, and the guards and the reserved end stand above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from admit.core.admission import decide
from admit.core.decision import Decision
from admit.core.question import Judge, Reply, fallback
from admit.judges.advice import SHADOW

from .ask import Asked, Chunk
from .model import ChunkRuling
from .select import Judged

LEAST_COVERAGE = 0.5
COVERAGE = "coverage"


class Verdicts(NamedTuple):
    """A settled ask."""

    asked: Asked
    reply: Reply
    decision: Decision

    @property
    def usable(self) -> bool:
        """Whether the verdicts count; else the excerpt stands."""
        return self.decision.status in ("judged", "partial") and self.decision.shadow is None

    @property
    def unused(self) -> str:
        """Why they do not count: a failure, else ``shadow:<why>``; empty where they do, or none was asked."""
        if self.decision.status not in ("judged", "partial"):
            return self.decision.reason or ""
        return "" if self.usable else f"{SHADOW}{self.decision.shadow}"

    @property
    def requests(self) -> int:
        """Requests that left, or may have left, the machine."""
        return sum(call.sent != "no" for call in self.reply.calls)

    def judged(self, n: int, *, whole_only: bool) -> Judged:
        """For the selector: a factor for each of `n` lines, and the qualifying passages, the best first."""
        return Judged(self._factors(n), [chunk.lines for chunk in self._qualifying()], whole_only)

    def dropped(self, kept: Sequence[int]) -> dict[str, float] | None:
        """Admitted passages of which the budget left no line: how many, their characters, the best score."""
        lines = set(kept)
        gone = [chunk for chunk in self._qualifying() if lines.isdisjoint(chunk.lines)]
        if not gone:
            return None
        scores = {ruling.id: ruling.value or 0.0 for ruling in self.decision.rulings}
        best = max(scores[chunk.id] for chunk in gone)
        return {"chunks": len(gone), "chars": sum(chunk.chars for chunk in gone), "best_score": best}

    def chunk_rulings(self) -> tuple[ChunkRuling, ...]:
        """State and score per passage, in document order: enough to replay another threshold."""
        rulings = {ruling.id: ruling for ruling in self.decision.rulings}
        return tuple(
            ChunkRuling(chunk.id, chunk.chars, rulings[chunk.id].verdict, rulings[chunk.id].value)
            for chunk in self.asked.chunks
        )

    def _factors(self, n: int) -> list[float]:
        """1 + score for an admitted passage's lines, 0 for a blocked one's, 1 where nothing was judged."""
        result = [1.0] * n
        rulings = {ruling.id: ruling for ruling in self.decision.rulings}
        for chunk in self.asked.chunks:
            ruling = rulings[chunk.id]
            if ruling.value is not None:
                factor = 1.0 + ruling.value if ruling.verdict == "admitted" else 0.0
                result[chunk.first : chunk.last + 1] = [factor] * len(chunk.lines)
        return result

    def _qualifying(self) -> list[Chunk]:
        admitted = {one.id: one.value or 0.0 for one in self.decision.rulings if one.verdict == "admitted"}
        found = [chunk for chunk in self.asked.chunks if chunk.id in admitted]
        return sorted(found, key=lambda chunk: (-admitted[chunk.id], chunk.first))


def ask_judge(judge: Judge, asked: Asked) -> Verdicts:
    """Ask once, and rule. Under half of the asked characters judged, the judge's word is not used."""
    reply = judge.ask(asked.ask)
    decision = decide(asked.plan, reply, asked.policy)
    if decision.status == "partial":
        sizes = {candidate.id: candidate.size("chars") for candidate in asked.plan.asked}
        judged = sum(sizes[ruling.id] for ruling in decision.rulings if ruling.value is not None)
        if judged < LEAST_COVERAGE * sum(sizes.values()):
            failed = fallback(COVERAGE, elapsed_ms=reply.elapsed_ms, calls=reply.calls)
            decision = decide(asked.plan, failed, asked.policy)
    return Verdicts(asked, reply, decision)
