"""How well each line meets the words of the task."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from admit.text.bm25 import idf, saturation
from admit.text.terms import stem, terms, words

from .lines import LineIndex
from .model import Task
from .spend import line_cost

COMMAND_WEIGHT = 0.5
RARE_SHARE = 0.01
# A word in more than a third of the lines tells none of them from the others.
COMMON_PART = 3
COMMON_LINES = 1_000
# Terms of a task that are looked for; a pasted log in a prompt must not cost a search per word.
MOST_TERMS = 64
# Lines read word by word. Beyond it a hit of the word's letters counts as the word, once.
MOST_READ = 8_000
SHORTEST_QUOTE = 3


class TaskWords(NamedTuple):
    """What to look for.

    Attributes:
        weights: Weight per stemmed term, in order of occurrence.
        keys: Per term the lower-case letters that every line with the term holds.
        quotes: Lower-case strings the task quotes.
    """

    weights: Mapping[str, float]
    keys: Mapping[str, str]
    quotes: tuple[str, ...]


class TaskScores(NamedTuple):
    """Per line its BM25 value, 1 at most, and the lines that hold something rare of the task.

    `rare` stands best first: a term that fewer than 1 % of the lines have, or a quoted string.
    """

    values: Sequence[float]
    rare: tuple[int, ...]


def task_words(task: Task) -> TaskWords:
    """The terms of the request and the plan count once, those of the command's arguments half."""
    weights: dict[str, float] = {}
    keys: dict[str, str] = {}
    arguments = task.command.partition(" ")[2]
    for text, weight in ((task.text, 1.0), (task.plan, 1.0), (arguments, COMMAND_WEIGHT)):
        for word in words(text):
            term = stem(word)
            if len(weights) >= MOST_TERMS and term not in weights:
                continue
            weights[term] = max(weight, weights.get(term, 0.0))
            key = _common(word, term)
            keys[term] = _common(keys.get(term, key), key)
    quotes = ((found[1] or found[2]).strip().lower() for found in _quoted().finditer(task.text))
    return TaskWords(weights, keys, tuple(dict.fromkeys(q for q in quotes if len(q) >= SHORTEST_QUOTE)))


def score_lines(texts: Sequence[str], index: LineIndex, task: TaskWords) -> TaskScores:
    """BM25 over lines (k1 1.2, b 0.75), a line's length in characters."""
    n = len(texts)
    common = max(COMMON_LINES, n // COMMON_PART)
    found = {
        term: list(index.holding(key)) if index.lowered.count(key) <= common else []
        for term, key in task.keys.items()
        if key
    }
    counts = _counts(texts, found)
    average = max(1.0, sum(map(line_cost, texts)) / max(1, n))
    scores: dict[int, float] = {}
    rare: set[int] = set()
    for term, weight in task.weights.items():
        hits = counts.get(term, {})
        value = weight * idf(n, len(hits))
        for line, tf in hits.items():
            scores[line] = scores.get(line, 0.0) + value * saturation(tf, line_cost(texts[line]), average)
        if len(hits) < max(2, RARE_SHARE * n):
            rare.update(hits)
    best = max(scores.values(), default=0.0)
    quoted = {line for quote in task.quotes for line in _few(index.holding(quote), n)}
    # Where all that is found of the task stands in many lines, the best of them is not worth a full 1.
    most = max(best, idf(n, 1) * saturation(1, average, average))
    values = [0.0] * n
    for line, score in scores.items():
        values[line] = score / most
    ordered = sorted(rare | quoted, key=lambda line: (line not in quoted, -values[line], line))
    return TaskScores(values, tuple(ordered))


def _counts(texts: Sequence[str], found: Mapping[str, Sequence[int]]) -> dict[str, dict[int, int]]:
    """Occurrences per term and line. Rare terms are read word by word, common ones taken at their letters."""
    counts: dict[str, dict[int, int]] = {term: {} for term in found}
    read: set[int] = set()
    for term in sorted(found, key=lambda one: (len(found[one]), one)):
        lines = found[term]
        fresh = [line for line in lines if line not in read]
        if len(read) + len(fresh) > MOST_READ:
            known = counts[term]
            for line in fresh:
                known[line] = 1
            continue
        read.update(fresh)
        for line in fresh:
            for word, times in Counter(terms(texts[line])).items():
                if word in counts:
                    counts[word][line] = times
    return counts


def _few(lines: Iterable[int], n: int) -> tuple[int, ...]:
    """A quoted string that stands in more than 1 % of the lines points at nothing."""
    found = tuple(lines)
    return found if len(found) <= max(3, RARE_SHARE * n) else ()


def _common(one: str, other: str) -> str:
    """The longest common beginning: what a word and its stem both hold (happy, happi)."""
    length = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        length += 1
    return one[:length]


@lru_cache(maxsize=1)
def _quoted() -> re.Pattern[str]:
    return re.compile(r"[\"“`]([^\"“”`\n]{1,200})[\"”`]|(?<!\w)'([^'\n]{1,200})'(?!\w)")
