"""Failing CI logs with error lines labelled by hand (Apache-2.0 data of labri-progress/cidiff, read where it
lies).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from .case import Case
from .lines import reader_lines, terminal_lines, without_escapes

MINIMUM_CHARS = 6_000
TASK = "Why does the build fail?"


class Labels(NamedTuple):
    """Line ranges of one annotator: 1-based, both ends included, in the order of the file."""

    error: tuple[tuple[int, int], ...]
    context: tuple[tuple[int, int], ...]


def parse_labels(text: str) -> Labels:
    """Read a label file: a parser name, then ``E`` (error) and ``C`` (context) lines with ``n`` or
    ``first-last``.
    """
    ranges: dict[str, list[tuple[int, int]]] = {"E": [], "C": []}
    for line in text.splitlines():
        kind, _, span = line.strip().partition(" ")
        if kind in ranges and span:
            first, _, last = span.partition("-")
            ranges[kind].append((int(first), int(last or first)))
    return Labels(tuple(ranges["E"]), tuple(ranges["C"]))


def labelled_lines(text: str, ranges: tuple[tuple[int, int], ...]) -> dict[int, str]:
    """Return the non-blank lines in ``ranges`` by their number, without escapes and right-stripped."""
    lines = reader_lines(text)
    numbers = sorted({n for first, last in ranges for n in range(first, last + 1) if n <= len(lines)})
    wanted = {n: without_escapes(lines[n - 1]).rstrip() for n in numbers}
    return {n: line for n, line in wanted.items() if line}


def terminal_indexes(text: str, numbers: Iterable[int]) -> tuple[int, ...]:
    r"""Return the 0-based ``\n`` lines that the 1-based reader lines ``numbers`` belong to, ascending, each
    once.
    """
    owner: list[int] = []
    for index, line in enumerate(text.split("\n")):
        owner += [index] * max(1, len(reader_lines(line)))
    return tuple(sorted({owner[n - 1] for n in numbers}))


def redrawn_away(text: str, wanted: Iterable[str]) -> int:
    r"""Count the wanted lines that a terminal overwrote: they stand before a bare ``\r`` and nowhere else."""
    kept = {line.rstrip() for line in terminal_lines(text)}
    return sum(line not in kept for line in wanted)


def load(data: Path, annotator: int = 1) -> list[Case]:
    """Return the logs over 6,000 characters that ``annotator`` (1 or 2) labelled, by name.

    Only error lines are wanted; context lines (``C``) are few, and the two annotators disagree on them.
    """
    cases = []
    for folder in sorted((data / "outputs" / "ci-logs").iterdir()):
        label_file = folder / ("groundtruth" if annotator == 1 else f"groundtruth{annotator}")
        if not label_file.is_file():
            continue
        text = (folder / "fail.log").read_bytes().decode("utf-8", "replace")
        wanted = labelled_lines(text, parse_labels(label_file.read_text()).error)
        if len(text) > MINIMUM_CHARS and wanted:
            at = terminal_indexes(text, wanted)
            cases.append(Case(folder.name, folder.name, text, TASK, 1, tuple(wanted.values()), "lines", at))
    return cases
