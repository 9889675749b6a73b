"""Who is asked at this door, and whether."""

from __future__ import annotations

from typing import NamedTuple

from admit.core.question import Judge

from .settings import GateSettings


class GateJudge(NamedTuple):
    """Who is asked, and what the profile says for this door; `judge` is None where nobody may be.

    Attributes:
        backend: Of the profile; with ``local`` the gate is off unless the settings turn it on.
        why_not: Why nobody is asked, as a fallback reason.
    """

    judge: Judge | None = None
    name: str = ""
    backend: str = "local"
    max_candidates: int = 8
    threshold: float = 0.3
    timeout_ms: int = 2000
    why_not: str = ""
    profile_hash: str = ""

    def mode(self, settings: GateSettings) -> str:
        """The mode in force."""
        if self.judge is None:
            return "off"
        return settings.mode or ("off" if self.backend == "local" else "enforce")

    def within(self, most_ms: int | None) -> GateJudge:
        """The same, with a deadline of at most so many ms; None leaves it."""
        return self if most_ms is None else self._replace(timeout_ms=min(self.timeout_ms, most_ms))
