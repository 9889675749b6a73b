"""Admission control for an LLM agent's context.

The public names load what they need at first use; importing the package does no work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from admit.core.admission import decide, plan, rule, show
    from admit.core.candidate import Budget, Candidate, fit
    from admit.core.order import as_given, by_rank, forest
    from admit.core.policy import Policy
    from admit.outputs.gate import OutputGate
    from admit.outputs.model import OutputResult, RawOutput, Task
    from admit.outputs.once import filter_output

_HOMES = {
    "Budget": "admit.core.candidate",
    "Candidate": "admit.core.candidate",
    "OutputGate": "admit.outputs.gate",
    "OutputResult": "admit.outputs.model",
    "Policy": "admit.core.policy",
    "RawOutput": "admit.outputs.model",
    "Task": "admit.outputs.model",
    "as_given": "admit.core.order",
    "by_rank": "admit.core.order",
    "decide": "admit.core.admission",
    "filter_output": "admit.outputs.once",
    "fit": "admit.core.candidate",
    "forest": "admit.core.order",
    "plan": "admit.core.admission",
    "rule": "admit.core.admission",
    "show": "admit.core.admission",
}

__all__ = [
    "Budget",
    "Candidate",
    "OutputGate",
    "OutputResult",
    "Policy",
    "RawOutput",
    "Task",
    "as_given",
    "by_rank",
    "decide",
    "filter_output",
    "fit",
    "forest",
    "plan",
    "rule",
    "show",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'admit' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
