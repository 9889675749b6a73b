"""The selector: one budget, spent on the lines that matter. Also the excerpt when a judge fails.

In order: the end of the output is reserved; in failure mode a run of lines back from the last failure;
guarded lines; then greedily the heaviest lines, each paid with its characters and its gap marker.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from .guards import guard
from .model import Block, OutputConfig
from .spend import Spender, line_cost, stretches
from .view import View
from .weigh import FAILURE, Weighed
from .words import is_wrapper, without_prefix

# No shape takes more of the budget than this before every stretch has had its best line considered.
SHAPE_SHARE = 0.10
FULL = 0.98
BLOCK_SHARE = 0.25
PASSED_OVER = 10
# Fewer repeated or noisy lines than this in a run are kept: a gap there would save next to nothing.
LEAST_SKIPPED = 4


class Shares(NamedTuple):
    """How the budget is divided: the run's share and the guards' share of it, and the end in characters."""

    run: float
    guards: float
    end: int


class Judged(NamedTuple):
    """What a judge made of the choice.

    Attributes:
        factors: What each line's weight is multiplied with; 0 keeps a line out of the greedy step.
        passages: Qualifying passages as line ranges, the best first. If all fit, all are kept whole and
            nothing else is filled in.
        whole_only: If they do not all fit: take whole passages in turn, instead of the best lines.
    """

    factors: Sequence[float]
    passages: Sequence[range]
    whole_only: bool


RUN_SHARE_JUDGED = 0.40


class Selection(NamedTuple):
    """Kept line indexes in order, the rule that kept each, and the best 10 of the others."""

    lines: list[int]
    rules: dict[int, str]
    passed_over: list[int]


def shares(weighed: Weighed, config: OutputConfig, budget: int) -> Shares:
    """Shares by the mode of the question and by what the parsers found."""
    end = min(config.tail_chars, budget // 2)
    if weighed.mode != FAILURE:
        return Shares(0.0, config.guard_share_spread, end)
    if weighed.report.composite:
        # Several runs in one output: less for the last failure, more for each stage's summary.
        return Shares(min(config.run_share, 0.50), max(config.guard_share_failure, 0.30), end)
    return Shares(config.run_share, config.guard_share_failure, end)


def select(
    view: View, weighed: Weighed, config: OutputConfig, budget: int, judged: Judged | None = None
) -> Selection:
    """Choose the lines to keep.

    Args:
        view: The lines.
        weighed: Their weights, marks and shapes.
        config: Shares and sizes.
        budget: Characters of kept lines and gap markers together; never exceeded.
        judged: What a judge says; it touches neither the end nor the guards.
    """
    spender = Spender(view, budget)
    part = shares(weighed, config, budget)
    guarded = int(part.guards * budget)
    _reserve_end(view, spender, part.end, budget // 2)
    if weighed.mode == FAILURE:
        run = int(_run_share(part, judged) * budget)
        _anchored_run(view, weighed, spender, run, config.run_after, guarded)
    guard(view, weighed, spender, guarded, config.guard_context)
    heaviest: list[int] = []
    if judged is None:
        heaviest = _greedy(view, weighed, spender, weighed.smoothed, floor=None)
    elif not _passages(view, spender, judged):
        scores = [score * factor for score, factor in zip(weighed.smoothed, judged.factors, strict=True)]
        heaviest = _greedy(view, weighed, spender, scores, floor=0.0)
    _close_small_gaps(view, spender)
    passed_over = islice((line for line in heaviest if line not in spender.rules), PASSED_OVER)
    return Selection(sorted(spender.rules), spender.rules, list(passed_over))


def reserved_end(view: View, config: OutputConfig, budget: int) -> range:
    """The lines that are kept whatever else is: the end of the output."""
    spender = Spender(view, budget)
    _reserve_end(view, spender, min(config.tail_chars, budget // 2), budget // 2)
    return range(len(view.texts) - len(spender.rules), len(view.texts))


def _run_share(part: Shares, judged: Judged | None) -> float:
    if judged is None:
        return part.run
    return 0.0 if judged.whole_only else min(part.run, RUN_SHARE_JUDGED)


def _passages(view: View, spender: Spender, judged: Judged) -> bool:
    """Keep qualifying passages whole. False where they do not all fit and lines are to be picked instead."""
    costs = [spender.cost_of(passage) for passage in judged.passages]
    if sum(costs) > spender.room and not judged.whole_only:
        return False
    for passage in judged.passages:
        if spender.cost_of(passage) <= spender.room:
            for line in passage:
                spender.take(line, "judged")
    return True


def _reserve_end(view: View, spender: Spender, chars: int, most: int) -> None:
    left = chars
    for line in range(len(view.texts) - 1, -1, -1):
        cost = line_cost(view.texts[line])
        if left <= 0 or cost > most or not spender.try_take(line, "end"):
            return  # mutant: only faster
        left -= cost
        most -= cost


def _anchored_run(view: View, weighed: Weighed, spender: Spender, chars: int, after: int, spare: int) -> None:
    """Lines back from just past the last failure: causes stand together, right before the last complaint.

    A stretch of noise, or of lines that stand in the run already, such as the frames of a recursion, is left
    out. A run whose characters are spent among indented lines, such as a stack trace, goes on to the line
    they stand under while more than `spare` characters of the budget are left.
    """
    last = len(view.texts) - 1
    anchor = last
    for line in reversed(weighed.failing):
        if not is_wrapper(view.texts[line]):
            anchor = min(last, line + after)
            if chars > 0:
                # Before the lines past it, which could take its room.
                spender.try_take(line, "run")
            break
    noise = {mark.line for mark in weighed.report.marks if mark.kind == "noise"}
    seen = {view.texts[line] for line in spender.rules}
    skipped: list[int] = []
    below = False
    for line in range(anchor, -1, -1):
        text = view.texts[line]
        if line in spender.rules:
            chars -= line_cost(text)
            continue
        if text in seen or line in noise:
            skipped.append(line)
            continue
        worth_a_gap = len(skipped) >= LEAST_SKIPPED and spender.cost_of(skipped) > 2 * spender.marker
        chars -= spender.marker if worth_a_gap else sum(line_cost(view.texts[one]) for one in skipped)
        chars -= line_cost(text)
        if chars < 0 and not (below and spender.room - line_cost(text) > spare):
            return
        for one in [line] if worth_a_gap else [*skipped, line]:
            if not spender.try_take(one, "run"):
                return
        seen.add(text)
        skipped = []
        below = _indented(text)


def _indented(text: str) -> bool:
    return without_prefix(text)[:1].isspace()


def _greedy(
    view: View, weighed: Weighed, spender: Spender, scores: Sequence[float], *, floor: float | None
) -> list[int]:
    """Spend what is left by weight, then line number; lines at or below `floor` are out.

    Gives all lines that are not out, the heaviest first.
    """
    n = len(scores)
    order = sorted(range(n), key=lambda line: -scores[line])
    if floor is not None:
        order = [line for line in order if scores[line] > floor]
    best = {max(range(low, high), key=lambda line: (scores[line], -line)) for low, high in stretches(n)}
    best &= set(order)
    blocks = {line: block for block in weighed.report.blocks for line in block.lines}
    full = spender.budget * FULL
    most_of_shape = spender.budget * SHAPE_SHARE
    used: dict[int, int] = {}
    held: deque[int] = deque()

    refused: set[Block] = set()

    def consider(line: int) -> None:
        block = blocks.get(line)
        if block is not None and block not in refused:
            most = spender.room if block.whole else spender.budget * BLOCK_SHARE
            if spender.try_take_all(block.lines, "weight", most):
                return
            # The room only shrinks: a block is added up once, not once for each of its lines.
            refused.add(block)
        if block is None or not block.whole:
            spender.try_take(line, "weight")

    for line in order:
        if spender.spent >= full:
            break
        is_best = line in best
        best.discard(line)
        if line not in spender.rules:
            if best and not is_best:
                shape = weighed.shapes.ids[line]
                used[shape] = used.get(shape, 0) + line_cost(view.texts[line])
                if used[shape] > most_of_shape:
                    held.append(line)
                    continue
            consider(line)
        while held and not best and spender.spent < full:
            consider(held.popleft())
    return order


def _close_small_gaps(view: View, spender: Spender) -> None:
    """A gap of one line that is shorter than its marker is filled with the line itself."""
    for line in (-1, *sorted(spender.rules)):
        missing = line + 1
        if missing in spender.rules or missing + 1 not in spender.rules:
            continue
        if spender.cost(missing) <= 0:
            spender.take(missing, "fill")
