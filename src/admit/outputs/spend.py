"""A character budget being spent on lines, gap markers included."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import eq

from .view import View

LEAST_MARKER = 48
STRETCHES = 8


def line_cost(text: str) -> int:
    """Characters of a line with its end; a carriage return before the line feed is part of the end."""
    return len(text) + 1 - text.endswith("\r")


class Spender:
    """Which lines are kept, by which rule, and what is left of the budget.

    A line costs its characters and 1 for its end. Each gap costs its marker: taking a line inside a gap
    opens a second one, taking the last line of a gap closes it.
    """

    def __init__(self, view: View, budget: int) -> None:
        self._view = view
        self.budget = budget
        self.n = len(view.texts)
        self.rules: dict[int, str] = {}
        self.marker = _widest_marker(view)
        self.spent = self.marker if self.n else 0

    @property
    def room(self) -> int:
        """Characters left."""
        return self.budget - self.spent

    def cost(self, line: int) -> int:
        """What taking a line would spend: below its length where it closes a gap."""
        if line in self.rules:
            return 0
        before = self._open(line, line - 1)
        after = self._open(line + 1, line + 1)
        return line_cost(self._view.texts[line]) + self.marker * (before + after - 1)

    def cost_of(self, lines: Sequence[int]) -> int:
        """The most that taking these lines, which stand in a row, would spend."""
        texts, follows = self._view.texts, self._view.follows
        gaps = 1 + sum(not follows(line) for line in lines)
        return sum(line_cost(texts[line]) for line in lines if line not in self.rules) + self.marker * gaps

    def take(self, line: int, rule: str) -> None:
        """Keep a line, whether it fits or not; taken twice it keeps its first rule."""
        if line not in self.rules:
            self.spent += self.cost(line)
            self.rules[line] = rule

    def try_take(self, line: int, rule: str, limit: int | None = None) -> bool:
        """Keep a line if it fits the room left, and `limit` where given."""
        cost = self.cost(line)
        if cost > self.room or (limit is not None and cost > limit):
            return False
        self.take(line, rule)
        return True

    def try_take_all(self, lines: range, rule: str, limit: float | None = None) -> bool:
        """Keep lines together if they fit the room left, and `limit` where given; else none of them."""
        most = self.room if limit is None else min(self.room, limit)
        # A line costs 1 at least: what is longer than the room has characters is not even added up.
        if len(lines) > most or self.cost_of(lines) > most:
            return False
        for line in lines:
            self.take(line, rule)
        return True

    def _open(self, boundary: int, neighbour: int) -> bool:
        """Whether a gap would stand at this boundary: something left out between two lines."""
        if boundary >= self.n:
            return False
        if not self._view.follows(boundary):
            return True
        return boundary > 0 and neighbour not in self.rules


def _widest_marker(view: View) -> int:
    """Characters of the widest marker this output can need, with its line end.

    Of whole lines it names how many, the first and the last; of parts of lines, how many characters.
    """
    if not view.numbers:
        return 0
    last, in_parts = view.numbers[-1], any(map(eq, view.numbers, view.numbers[1:]))
    count = 42 + len(f"{len(view.data):,}") if in_parts else 36 + len(f"{last:,}")
    return max(LEAST_MARKER, count + 2 * len(str(last)))


def stretches(n: int) -> list[tuple[int, int]]:
    """Eight equal stretches of `n` lines, as half-open ranges; fewer where there are fewer lines."""
    edges = [n * part // STRETCHES for part in range(STRETCHES + 1)]
    return [(low, high) for low, high in pairwise(edges) if low < high]
