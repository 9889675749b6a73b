"""Where a parser writes down what it knows of an output, line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from admit.outputs.model import Block, Mark, MarkKind, Parsed

RANK: dict[MarkKind, int] = {"failure": 0, "summary": 1, "detail": 2, "term": 3, "structure": 4, "noise": 5}


class Sheet:
    """Marks and blocks of one parser.

    A line may carry several kinds of mark; the first rule that gave a kind keeps it.
    """

    __slots__ = ("_blocks", "_marks", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._marks: dict[tuple[int, int], Mark] = {}
        self._blocks: list[Block] = []

    def mark(self, line: int, kind: MarkKind, rule: str) -> None:
        """Mark the line with this index, counted from 0."""
        self._marks.setdefault((line, RANK[kind]), Mark(line, kind, f"{self._name}.{rule}"))

    def block(self, first: int, last: int, whole: bool = False) -> None:
        """Note that the lines from `first` to `last`, both included, belong together."""
        self._blocks.append(Block(first, last, whole))

    def details(
        self,
        lines: Sequence[str],
        first: int,
        most: int,
        rule: str,
        *,
        stop: Callable[[str], bool],
        wanted: Callable[[str], bool] | None = None,
        reach: int = 40,
    ) -> int:
        """Mark wanted lines (None: any not blank) from `first` on as detail: at most `most`, within `reach`.

        Returns:
            The index of the last line looked at, or ``first - 1``.
        """
        last = first - 1
        for i in range(first, min(first + reach, len(lines))):
            if most <= 0 or stop(lines[i]):
                break
            last = i
            if wanted(lines[i]) if wanted else lines[i].strip():
                self.mark(i, "detail", rule)
                most -= 1
        return last

    def parsed(self, note: str = "") -> Parsed | None:
        """Return everything in line order, or None where nothing was marked."""
        if not self._marks:
            return None
        marks = tuple(self._marks[key] for key in sorted(self._marks))
        return Parsed(self._name, marks, disjoint(self._blocks), note)


def disjoint(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Return blocks in line order without overlaps: whole ones win, then the earlier, then the longer."""
    kept: list[Block] = []
    for whole in (True, False):
        fixed = sorted(kept)
        kept = list(fixed)
        at = 0
        end = -1
        same = {(block.first, block.last) for block in blocks if block.whole is whole}
        for first, last in sorted(same, key=lambda span: (span[0], -span[1])):
            while at < len(fixed) and fixed[at].last < first:
                at += 1
            if first > end and not (at < len(fixed) and fixed[at].first <= last):
                kept.append(Block(first, last, whole))
                end = last
    return tuple(sorted(kept))
