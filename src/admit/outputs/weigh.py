"""Line weights: every source of knowledge about an output becomes one number per line.

    weight = wt·task + wd·diag/√count + wr·repetitive/count, times 1 + 3·(i/N)² in failure mode

`task` is how well a line meets the words of the task, `diag` what the word tables and the parsers say of
it, `count` how many lines have its shape, `repetitive` how much the output repeats itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from math import sqrt
from types import MappingProxyType
from typing import NamedTuple

from admit.text.bm25 import B

from .lines import LineIndex, index_lines, joined
from .model import OutputConfig, RawOutput, Task
from .parsers import ParseReport, parse_all
from .shapes import Shapes, shapes
from .spend import line_cost
from .taskwords import TaskScores, TaskWords, score_lines
from .view import View
from .words import diagnose, failure_word_in, with_user_words

FAILURE, SPREAD = "failure", "spread"

MARK_DIAGNOSTIC: Mapping[str, float] = MappingProxyType(
    {"failure": 1.5, "summary": 1.2, "detail": 0.8, "structure": 0.3}
)
# What a line gives of its weight to the lines at distance 0 to 4: what explains a line stands beside it.
KERNEL = (1.0, 0.6, 0.4, 0.25, 0.15)
# Where the end of an output is looked at when neither exit code nor task says what is asked.
ENDING_CHARS = 2_000


class Weighed(NamedTuple):
    """What is known of each line, as columns as long as the view.

    Attributes:
        mode: ``failure`` or ``spread``: which question the task asks.
        weights: The line weights.
        smoothed: The same, shared with the neighbours.
        failing: Failure lines, ascending: a parser says so, or a strong word does and no parser calls it
            noise.
        marked: Those of them that a parser marked.
    """

    mode: str
    weights: Sequence[float]
    smoothed: Sequence[float]
    failing: Sequence[int]
    marked: Set[int]
    shapes: Shapes
    report: ParseReport
    task: TaskScores
    located: LineIndex

    @property
    def parsers(self) -> tuple[str, ...]:
        """Names of the parsers that marked something."""
        return tuple(sorted({region.name for region in self.report.regions}))


def weigh(view: View, output: RawOutput, task: Task, sought: TaskWords, config: OutputConfig) -> Weighed:
    """Weigh all lines of a view."""
    texts = view.texts
    text = joined(texts)
    report = parse_all(texts, text)
    index = index_lines(texts, text)
    del text  # mutant: only memory
    words = with_user_words(config.words_strong, config.words_weak, config.words_negated)
    # Without any line there is still one empty line of text.
    diag = _heard(diagnose(index.lowered, words)[: len(texts)], report)
    shaped = shapes(texts)
    scores = score_lines(texts, index, sought)
    strong = [value >= 1 for value in diag]
    mode = question_mode(output.exit_code, task, texts, strong)
    wt, wd, wr = config.weights_failure if mode == FAILURE else config.weights_spread
    # Rarity and 1/√count stand per shape, not per line: a log has far fewer shapes than lines.
    rarity = [wr * value for value in shaped.rarity]
    damping = [wd / sqrt(count) for count in shaped.counts]
    noise = [mark.line for mark in report.marks if mark.kind == "noise"]
    for mark in report.marks:
        if mark.kind in MARK_DIAGNOSTIC:
            diag[mark.line] = MARK_DIAGNOSTIC[mark.kind]
    average = sum(map(line_cost, texts)) / max(1, len(texts))
    weights = [
        wt * value + damping[shape] * sign + rarity[shape] * _brevity(line_cost(text), average)
        for value, sign, shape, text in zip(scores.values, diag, shaped.ids, texts, strict=True)
    ]
    for line in noise:
        weights[line] = 0.0
    if mode == FAILURE and weights:
        n = len(weights)
        weights = [weight * (1 + 3 * (i / n) ** 2) for i, weight in enumerate(weights)]
    marked = {mark.line for mark in report.marks if mark.kind == "failure"}
    failing = {line for line, is_strong in enumerate(strong) if is_strong}.difference(noise) | marked
    return Weighed(mode, weights, smooth(weights), sorted(failing), marked, shaped, report, scores, index)


def _brevity(length: int, average: float) -> float:
    """What rarity counts for in a long line: long text always holds some word that nothing else does.

    BM25's normalisation of length (b 0.75), and 1 at most.
    """
    return min(1.0, 1 / (1 - B + B * length / average))


def _heard(diagnostics: list[float], report: ParseReport) -> list[float]:
    """What diagnostic words report, but in the regions of parsers that say they report nothing there.

    A parser that found failures or summaries elsewhere makes every word count again.
    """
    if not report.parsed:
        for region in report.regions:
            if region.quiet:
                diagnostics[region.first : region.last + 1] = [0.0] * (region.last + 1 - region.first)
    return diagnostics


def question_mode(exit_code: int | None, task: Task, texts: Sequence[str], strong: Sequence[bool]) -> str:
    """Whether the task asks for a failure (its causes stand together) or for something anywhere.

    Failure: the exit code is not 0; or the task holds a failure word; or neither exit code nor task is
    known and a strong line stands in the last 2,000 characters.
    """
    if exit_code or (any(strong) and failure_word_in(task.text)):
        return FAILURE
    if exit_code is None and not task.text.strip():
        left = ENDING_CHARS
        for text, is_strong in zip(reversed(texts), reversed(strong), strict=True):
            if is_strong:
                return FAILURE
            left -= line_cost(text)
            if left <= 0:
                break
    return SPREAD


def smooth(weights: Sequence[float]) -> list[float]:
    """Each line gives 1, 0.6, 0.4, 0.25 and 0.15 of its weight to the lines at distance 0 to 4."""
    n = len(weights)
    reach = len(KERNEL) - 1
    padded = [0.0] * reach + list(weights) + [0.0] * reach
    k0, k1, k2, k3, k4 = KERNEL
    return [
        k0 * padded[i + 4]
        + k1 * (padded[i + 3] + padded[i + 5])
        + k2 * (padded[i + 2] + padded[i + 6])
        + k3 * (padded[i + 1] + padded[i + 7])
        + k4 * (padded[i] + padded[i + 8])
        for i in range(n)
    ]
