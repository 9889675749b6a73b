"""The smallest change that would alter what became of one snippet in one scan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from admit.errors import UnknownSnippet

from .changes import BY_STAGE
from .gate import GuidanceGate
from .look import Change, Look
from .model import GuidanceResult, Surface


def smallest_change(
    gate: GuidanceGate, surface: Surface, result: GuidanceResult, id: str, values: Mapping[str, Any]
) -> Change:
    """What would alter the outcome of one snippet.

    Args:
        surface: What was scanned.
        result: What the scan gave.
        values: Settings by full key.

    Raises:
        UnknownSnippet: There is no such snippet.
    """
    outcome = next((one for one in result.outcomes if one.id == id), None)
    index = gate.library.guidance
    snippet = next((one for one in (*index.snippets, *index.disabled) if one.id == id), None)
    if outcome is None or snippet is None:
        raise UnknownSnippet(id)
    return BY_STAGE[outcome.stage](Look(gate, surface, result, outcome, snippet, values))
