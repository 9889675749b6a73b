"""Our row with the output filter on: the local judge in both modes, and a judge that scores everything 0."""

from __future__ import annotations

from functools import lru_cache

from admit.core.question import Judge
from admit.judges.local import LocalConfig, LocalJudge
from admit.judges.scripted import ScriptedJudge
from admit.ledger.memory import MemoryOutputs
from admit.outputs.gate import OutputGate
from admit.outputs.model import FilterConfig, JudgeProfile, OutputConfig, OutputResult, RawOutput, Task

from .case import Case

# Quality is measured without the deadline: on a busy machine it would measure the machine.
NO_HURRY_MS = 60_000
ADVERSARY = "all 0"
ROWS = {"admit, filter lexical": "lexical", "admit, filter embed": "embed"}
GUARDS = ("failure", "summary", "term", "end")


def filtered(case: Case, budget: int, mode: str) -> OutputResult:
    """One case through the gate with the filter on; `mode` names the judge."""
    judge, least = _judge(mode)
    chosen = FilterConfig(
        enabled=True, scope="all", min_score=None, max_kept_chars=budget, timeout_ms=NO_HURRY_MS
    )
    gate = OutputGate(
        OutputConfig(max_kept_chars=budget, filter=chosen),
        store=MemoryOutputs(),
        judge=judge,
        profile=JudgeProfile(24, least, NO_HURRY_MS),
        recall_way="",
    )
    output = RawOutput(case.text.encode("utf-8", "surrogatepass"), case.exit_code)
    return gate.admit(output, Task(case.task))


def guarded_lines_lost(case: Case, budget: int) -> int:
    """Lines that guards or the end keep without a judge and that a judge of zeros took away."""
    config = OutputConfig(max_kept_chars=budget)
    plain = OutputGate(config, store=MemoryOutputs(), recall_way="").admit(
        RawOutput(case.text.encode("utf-8", "surrogatepass"), case.exit_code), Task(case.task)
    )
    shown = set(filtered(case, budget, ADVERSARY).text.split("\n"))
    lines = case.text.split("\n")
    guarded = [
        lines[number - 1].rstrip("\r")
        for one in plain.kept
        if one.rule in GUARDS
        for number in range(one.first, one.last + 1)
        if len(lines[number - 1]) <= config.long_line and "\x1b" not in lines[number - 1]
    ]
    return sum(line not in shown and f"{line}\r" not in shown for line in guarded if line.strip())


@lru_cache(maxsize=4)
def _judge(mode: str) -> tuple[Judge, float]:
    if mode == ADVERSARY:
        return ScriptedJudge(lambda question: 0.0), 1.5
    judge = LocalJudge(LocalConfig(mode=mode))  # type: ignore[arg-type]
    least = judge.threshold("outputs")
    return judge, 1.5 if least is None else least
