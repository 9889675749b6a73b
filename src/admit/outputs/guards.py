"""Guards: lines that stay whatever a weight or a judge says, inside a share of the budget."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from .model import Block
from .spend import STRETCHES, Spender
from .view import View
from .weigh import Weighed

TERM_LINES = 3


def guard(view: View, weighed: Weighed, spender: Spender, chars: int, context: int) -> None:
    """Keep guarded lines until `chars` are spent on them.

    First one failure line, whatever it costs, if none is kept yet: an output that failed is never shown as
    one that did not. Then the summaries, the last first; the best lines with a rare word of the task; and
    per shape the first and the last failure line, one per stretch of the output in turn, with their
    neighbours. Of a block that is kept whole or not at all no line is kept alone.
    """
    whole = {line: block for block in weighed.report.blocks if block.whole for line in block.lines}
    budget = _Share(spender, chars, whole)
    _one_failure(weighed, spender)
    summaries = [mark.line for mark in weighed.report.marks if mark.kind == "summary"]
    for line in reversed(summaries):
        budget.take(line, "summary")
    for line in weighed.task.rare[:TERM_LINES]:
        budget.take(line, "term")
    for line in _failures_in_turn(len(view.texts), weighed):
        if budget.left <= 0:
            return  # mutant: only faster
        if budget.take(line, "failure"):
            for near in range(line - context, line + context + 1):
                if 0 <= near < len(view.texts):
                    budget.take(near, "failure")


def first_and_last(weighed: Weighed) -> list[int]:
    """The first and the last failure line of each shape, in line order."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for line in weighed.failing:
        shape = weighed.shapes.ids[line]
        first.setdefault(shape, line)
        last[shape] = line
    return sorted({*first.values(), *last.values()})


class _Share:
    """What the guards may spend of the whole budget."""

    def __init__(self, spender: Spender, chars: int, whole: Mapping[int, Block]) -> None:
        self._spender = spender
        self._whole = whole
        self.left = chars

    def take(self, line: int, rule: str) -> bool:
        """Whether the line is kept now, with its block where that goes whole or not at all."""
        block = self._whole.get(line)
        before = self._spender.spent
        if block is None:
            taken = self._spender.try_take(line, rule, self.left)
        else:
            taken = self._spender.try_take_all(block.lines, rule, self.left)
        self.left -= self._spender.spent - before
        return taken


def _one_failure(weighed: Weighed, spender: Spender) -> None:
    if any(line in spender.rules for line in weighed.failing):
        return
    for line in sorted(weighed.failing, key=lambda one: (one not in weighed.marked, -one)):
        if spender.try_take(line, "failure"):
            return


def _failures_in_turn(n: int, weighed: Weighed) -> Iterator[int]:
    """Failure lines one per stretch in turn, the last stretch first; in a stretch parsers' marks first."""
    queues: dict[int, deque[int]] = {}
    for line in sorted(first_and_last(weighed), key=lambda one: (one not in weighed.marked, one)):
        queues.setdefault(line * STRETCHES // max(1, n), deque()).append(line)
    while queues:
        for stretch in sorted(queues, reverse=True):
            yield queues[stretch].popleft()
            if not queues[stretch]:
                del queues[stretch]
