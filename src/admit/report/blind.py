"""The excerpt that knows nothing of the task: what the door's choice is measured against, at equal size."""

from __future__ import annotations

from collections.abc import Iterable

from admit.outputs.view import clean

MARKER = 48
DIAGNOSTIC = (
    "error", "exception", "fail", "fatal", "panic", "traceback", "assert", "abort", "denied", "refused",
    "cannot", "could not", "not found", "warn",
)  # fmt: skip
GAP = "[" + "." * (MARKER - 3) + "]"  # with its line end exactly MARKER characters


def blind_excerpt(text: str, budget: int) -> str:
    """Head, lines with a diagnostic word, tail, in 1 : 2 : 2 of `budget` characters, as whole lines."""
    lines = [clean(line) for line in text.split("\n")]
    if sum(len(line) + 1 for line in lines) <= budget:
        return "\n".join(lines)
    room = budget - 2 * MARKER
    head = _while_it_fits(lines, room // 5, range(len(lines)))
    last = _while_it_fits(lines, 2 * room // 5, reversed(range(len(lines))))
    between = range(len(head), len(lines) - len(last))
    speaking = (index for index in between if _is_diagnostic(lines[index].lower()))
    told = _while_it_fits(lines, 2 * room // 5, speaking)
    return "\n".join(
        [
            *(lines[index] for index in head),
            GAP,
            *(lines[index] for index in told),
            GAP,
            *(lines[index] for index in reversed(last)),
        ]
    )


def _while_it_fits(lines: list[str], budget: int, order: Iterable[int]) -> list[int]:
    """Lines in an order, up to the first that does not fit."""
    kept: list[int] = []
    for index in order:
        budget -= len(lines[index]) + 1
        if budget < 0:
            break
        kept.append(index)
    return kept


def _is_diagnostic(lowered: str) -> bool:
    return any(word in lowered for word in DIAGNOSTIC)
