"""Public fakes for tests of code that uses Admit: nothing here touches a file, a network or a real clock."""

from __future__ import annotations

from admit.judges.clock import FrozenClock
from admit.judges.scripted import FaultyJudge, ScriptedJudge
from admit.ledger.memory import MemoryLedger, MemoryOutputs

__all__ = ["FaultyJudge", "FrozenClock", "MemoryLedger", "MemoryOutputs", "ScriptedJudge"]
