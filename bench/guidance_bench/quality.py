"""How well snippets are ranked for prompts of known need."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from admit.lab import fit
from admit.report.stats import wilson

Scorer = Callable[[str], Mapping[str, float]]
"""Scores by id."""


class Prompt(NamedTuple):
    """A prompt and the ids that it calls for: none, one, or several of which any will do."""

    text: str
    expected: tuple[str, ...]
    category: str


class Figure(NamedTuple):
    """One figure with its 95 % interval and its bar; `most` tells that less is better."""

    name: str
    value: float
    low: float
    high: float
    n: int
    bar: float | None = None
    most: bool = False

    def line(self) -> str:
        sign = "<=" if self.most else ">="
        bar = "" if self.bar is None else f"{sign} {self.bar:.3f}"
        met = ""
        if self.bar is not None:
            met = "met" if (self.value <= self.bar if self.most else self.value >= self.bar) else "MISSED"
        interval = f"{self.low:.3f}..{self.high:.3f}"
        return f"  {self.name:40} {self.value:6.3f}  {interval}  n {self.n:3}  {bar:9} {met}"


def own_prompts(path: Path, half: str) -> list[Prompt]:
    """Our own prompts of one half."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [
        Prompt(row["prompt"], tuple(row["expected"] or ()), row["category"])
        for row in rows
        if row["split"] == half
    ]


def public_prompts(path: Path) -> list[Prompt]:
    """The 74 public fixtures."""
    found = []
    for row in map(json.loads, path.read_text("utf-8").splitlines()):
        expected = row["expected"] or []
        ids = [expected] if isinstance(expected, str) else expected
        found.append(Prompt(row["prompt"], tuple(ids), "fixture" if ids else "none"))
    return found


def figures(own: Sequence[Prompt], public: Sequence[Prompt], scorer: Scorer) -> list[Figure]:
    """The figures of one way of ranking. Ties are settled by id, and rank over all snippets."""
    scores = {prompt.text: scorer(prompt.text) for prompt in (*own, *public)}

    def ranks(some: Sequence[Prompt], category: str) -> list[int]:
        return [_rank(scores[one.text], one.expected) for one in some if one.category == category]

    fixtures, direct, situational = ranks(public, "fixture"), ranks(own, "direct"), ranks(own, "situational")
    return [
        _share("fixtures: in top 8", [rank <= 8 for rank in fixtures], 0.98),
        _share("fixtures: top-1", [rank == 1 for rank in fixtures], 0.85),
        _share("direct: top-1", [rank == 1 for rank in direct], 0.88),
        _share("situational: top-1", [rank == 1 for rank in situational], 0.40),
        _share("situational: recall@8", [rank <= 8 for rank in situational], 0.80),
        _auc("none AUC: direct and situational", own, scores, ("direct", "situational"), 0.97),
        _auc("none AUC: direct alone", own, scores, ("direct",)),
        _auc("none AUC: situational alone", own, scores, ("situational",)),
        _auc("none AUC: fixtures", public, scores, ("fixture",)),
    ]


def share_of(name: str, found: Sequence[bool], bar: float | None = None, *, most: bool = False) -> Figure:
    """A share with its Wilson interval."""
    return _share(name, found, bar, most=most)


def _rank(scores: Mapping[str, float], expected: Sequence[str]) -> int:
    order = sorted(scores, key=lambda id: (-scores[id], id))
    return 1 + min(order.index(id) for id in expected)


def _share(name: str, found: Sequence[bool], bar: float | None = None, *, most: bool = False) -> Figure:
    estimate = wilson(sum(found), len(found))
    value = sum(found) / len(found)
    return Figure(name, value, estimate.low or 0.0, estimate.high or 0.0, len(found), bar, most)


def _auc(
    name: str,
    prompts: Sequence[Prompt],
    scores: Mapping[str, Mapping[str, float]],
    positive: tuple[str, ...],
    bar: float | None = None,
) -> Figure:
    """How well the best score of a prompt tells one that calls for something from one that does not."""
    some = [one for one in prompts if one.category in (*positive, "none")]
    best = np.array([max(scores[one.text].values()) for one in some])
    labels = np.array([one.category != "none" for one in some])
    low, high = fit.auc_interval(best, labels, [one.text for one in some], 1)
    return Figure(name, fit.auc(best, labels), low, high, len(some), bar)
