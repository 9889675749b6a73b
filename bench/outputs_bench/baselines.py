"""What a reader could do without us at the same size: ends, a blind excerpt, BM25 over lines, and an oracle.

Every baseline reads terminal lines (no escapes, last redraw), pays length + 1 for a line and ``MARKER`` for
a gap.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable

from .case import Case
from .lines import terminal_lines

MARKER = 48
GAP = "[" + "." * (MARKER - 3) + "]"  # with its line end exactly MARKER characters
WORD = re.compile(r"[a-z0-9_]+")
DIAGNOSTIC = re.compile(
    r"error|exception|fail|fatal|panic|traceback|assert|abort|denied|refused|cannot|could not|not found|warn",
    re.IGNORECASE,
)
STOP_WORDS = frozenset(
    WORD.findall(
        "a an and are be by did do does for from has have how in is it of on or that the this to was"
    )
)
Baseline = Callable[[Case, int], str]


def join(lines: list[str], kept: Iterable[int]) -> str:
    """Return the kept lines in order, a marker line for each gap."""
    shown: list[str] = []
    expected = 0
    for index in sorted(kept):
        if index != expected:
            shown.append(GAP)
        shown.append(lines[index])
        expected = index + 1
    if expected != len(lines):
        shown.append(GAP)
    return "\n".join(shown)


def from_end(lines: list[str], budget: int, order: Iterable[int]) -> list[int]:
    """Take lines in ``order`` until the first that does not fit ``budget`` characters."""
    kept: list[int] = []
    for index in order:
        budget -= len(lines[index]) + 1
        if budget < 0:
            break
        kept.append(index)
    return kept


def tail(case: Case, budget: int) -> str:
    """The last ``budget`` characters, whole lines; a longer last line is cut."""
    lines = terminal_lines(case.text)
    kept = from_end(lines, budget, reversed(range(len(lines))))
    return "\n".join(lines[i] for i in sorted(kept)) if kept else "\n".join(lines)[-budget:]


def head_tail(case: Case, budget: int) -> str:
    """Half of the budget from each end, in characters, one marker between."""
    text = "\n".join(terminal_lines(case.text))
    if len(text) <= budget:
        return text
    half = (budget - MARKER - 1) // 2
    return f"{text[:half]}\n{GAP}\n{text[-half:]}"


def blind_excerpt(case: Case, budget: int) -> str:
    """Head, lines with a diagnostic word, tail: 1,000 : 2,000 : 2,000 scaled to the budget, task unseen."""
    lines = terminal_lines(case.text)
    if sum(len(line) + 1 for line in lines) <= budget:
        return "\n".join(lines)
    room = budget - 2 * MARKER
    head = from_end(lines, room // 5, range(len(lines)))
    last = from_end(lines, 2 * room // 5, reversed(range(len(lines))))
    between = range(len(head), len(lines) - len(last))
    words = from_end(lines, 2 * room // 5, (i for i in between if DIAGNOSTIC.search(lines[i])))
    return "\n".join(
        [lines[i] for i in head]
        + [GAP]
        + [lines[i] for i in words]
        + [GAP]
        + [lines[i] for i in sorted(last)]
    )


def bm25(case: Case, budget: int) -> str:
    """Best lines by BM25 (k1 1.2, b 0.75) of the task's words, then by line number; then from the end."""
    lines = terminal_lines(case.text)
    words = [WORD.findall(line.lower()) for line in lines]
    terms = sorted(set(WORD.findall(case.task.lower())) - STOP_WORDS)
    average = sum(map(len, words)) / max(len(words), 1) or 1.0
    frequency = Counter(word for line in words for word in set(line))
    scores = [_bm25_score(line, terms, frequency, len(lines), average) for line in words]
    ranked = sorted((i for i in range(len(lines)) if scores[i] > 0), key=lambda i: (-scores[i], i))
    return join(lines, greedy(lines, budget, [*ranked, *reversed(range(len(lines)))]))


def _bm25_score(
    words: list[str], terms: list[str], frequency: Counter[str], count: int, average: float
) -> float:
    occurrences = Counter(words)
    total = 0.0
    for term in terms:
        if tf := occurrences[term]:
            idf = math.log(1 + (count - frequency[term] + 0.5) / (frequency[term] + 0.5))
            total += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * len(words) / average))
    return total


def greedy(lines: list[str], budget: int, order: Iterable[int]) -> set[int]:
    """Take lines in ``order`` while they fit, a line that does not fit is skipped; gaps are paid for.

    The output starts as one gap; a line opens or closes gaps beside itself.
    """
    kept: set[int] = set()
    left = budget - MARKER
    for index in order:
        if index in kept:
            continue
        open_sides = (index > 0 and index - 1 not in kept) + (
            index + 1 < len(lines) and index + 1 not in kept
        )
        cost = len(lines[index]) + 1 + MARKER * (open_sides - 1)
        if cost <= left:
            kept.add(index)
            left -= cost
        if left < 2:
            break
    return kept


BASELINES: dict[str, Baseline] = {
    "plain tail": tail,
    "head + tail": head_tail,
    "blind excerpt": blind_excerpt,
    "BM25 lines": bm25,
}
