"""git log: one commit is a block; its head, subject and `--stat` total are the structure."""

from __future__ import annotations

from collections.abc import Sequence

from admit.outputs.model import Parsed
from admit.outputs.parsers.sheet import Sheet

NAME: str = "git_log"
HINTS: tuple[str, ...] = (
    r"\n(?:\* )?commit [0-9a-f]{40}", r"\n[*|]* ?[0-9a-f]{7,12} \S",
)  # fmt: skip

_HEX = frozenset("0123456789abcdef")
_GRAPH = "*|\\/_ "
# Share of the lines that start with a short hash, from which the text is taken as `git log --oneline`.
SHORT_SHARE = 0.6


def parse(lines: Sequence[str], text: str) -> Parsed | None:
    """Mark commit lines, subjects and `--stat` totals as structure, and each commit as a block."""
    sheet = Sheet(NAME)
    commit = -1  # where the current block began
    subject = True
    for i, line in enumerate(lines):
        graph = line[:1] in ("*", "|", "\\", "/")
        bare = line.lstrip(_GRAPH) if graph else line
        if bare.startswith("commit ") and _is_hash(bare[7:47], 40):
            if commit >= 0:
                sheet.block(commit, i - 1)
            commit, subject = i, False
            sheet.mark(i, "structure", "commit")
        elif " changed, " in line[:80] and line.lstrip(_GRAPH)[:1].isdigit():
            sheet.mark(i, "structure", "stat")
        elif not subject:
            if line.lstrip(_GRAPH) and "    " in line[:12]:
                subject = True
                sheet.mark(i, "structure", "subject")
        elif commit >= 0 and bare and not graph and bare[0] != " ":  # a patch, or the next command's output
            sheet.block(commit, i - 1)
            commit = -1
    if commit >= 0:
        sheet.block(commit, len(lines) - 1)
    short = [i for i, line in enumerate(lines) if _is_short(line)] if any(map(_is_short, lines[:3])) else []
    if len(short) >= max(2, SHORT_SHARE * len(lines)):
        for i in short:
            sheet.mark(i, "structure", "subject")
    return sheet.parsed()


def _is_hash(word: str, length: int) -> bool:
    return len(word) >= length and _HEX.issuperset(word)


def _is_short(line: str) -> bool:
    word, found, _ = line.lstrip(_GRAPH)[:41].partition(" ")
    return bool(found) and _is_hash(word, 7)
