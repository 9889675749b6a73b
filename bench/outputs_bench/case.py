"""One case of a set, and the share of what it wants that a shown text holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from .lines import reader_lines, without_escapes

Measure = Literal["lines", "all", "any", "share"]


class Case(NamedTuple):
    """One tool output with a task and the text that must survive.

    Attributes:
        id: Name of the case, unique in its set.
        group: What a cluster bootstrap draws: the run or kind it belongs to.
        text: The whole output, decoded, with its line ends.
        task: The user's words as every row gets them; may be empty.
        exit_code: Of the command, ``None`` where it is unknown.
        wanted: Lines (``lines``) or substrings (the other measures).
        measure: ``lines``: share of wanted lines shown whole.
            ``all`` and ``any``: 1 or 0 for the substrings. ``share``: share of the substrings.
        at: Indexes of the terminal lines that hold ``wanted``; what the oracle picks from.
    """

    id: str
    group: str
    text: str
    task: str
    exit_code: int | None
    wanted: tuple[str, ...]
    measure: Measure
    at: tuple[int, ...] = ()


def score(case: Case, shown: str, *, trimmed: bool = False) -> float:
    """Return the share (0..1) of what ``case`` wants that stands in ``shown``, by the case's measure.

    Both sides are compared without escapes. A wanted line is found when an equal line is shown,
    right-stripped; ``trimmed`` strips the left end as well and is set for peers that drop indentation.
    """
    if case.measure == "lines":
        wanted, lines = _counts(case.wanted, trimmed), _counts(_lines(shown), trimmed)
        return sum(count for line, count in wanted.items() if line in lines) / len(case.wanted)
    plain = without_escapes(shown)
    found = [needle in plain for needle in case.wanted]
    if case.measure == "share":
        return sum(found) / len(found)
    return float(all(found) if case.measure == "all" else any(found))


def counted_recall(case: Case, shown: str, *, trimmed: bool = False) -> float:
    """Return the stricter share for wanted lines: a shown line answers for one of several equal wanted ones.

    Other measures are returned as ``score`` has them.
    """
    if case.measure != "lines":
        return score(case, shown, trimmed=trimmed)
    wanted, lines = _counts(case.wanted, trimmed), _counts(_lines(shown), trimmed)
    return sum(min(count, lines[line]) for line, count in wanted.items()) / len(case.wanted)


def _lines(shown: str) -> list[str]:
    return reader_lines(without_escapes(shown))


def _counts(lines: Sequence[str], trimmed: bool) -> Counter[str]:
    return Counter(line.strip() if trimmed else line.rstrip() for line in lines)
