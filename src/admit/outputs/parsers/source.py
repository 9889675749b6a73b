"""Source code printed by cat, sed or less: declarations are its structure, and its words report nothing."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from admit.outputs.model import Parsed
from admit.outputs.parsers.sheet import Sheet

NAME: str = "source"
HINTS: tuple[str, ...] = (
    r"\n[ \t]*\d*[ \t]*(?:async )?def \w+\(",
    r"\n[ \t]*\d*[ \t]*(?:export )?(?:default )?class \w",
    r"\n[ \t]*\d*[ \t]*(?:pub(?:\([a-z]+\))? )?fn \w",
    r"\n\s*\d*[ \t]*func [\w(]",
    r"\n[ \t]*\d*[ \t]*(?:export )?(?:async )?function \w",
)

# Fewer declarations, or fewer lines that can stand in a program, and it is a text that quotes code.
LEAST_DECLARATIONS = 5
CODE_SHARE = 0.9
_CODE_STARTS = tuple(" \t@#}])\"'/*")


def parse(lines: Sequence[str], text: str) -> Parsed | None:
    """Mark declarations; the answer is quiet: a `raise ValueError` in a program is no failure."""
    bare = _without_numbers(lines)
    declared = _declaration().match
    found = [i for i, line in enumerate(bare) if len(line) < 400 and declared(line)]
    if len(found) < LEAST_DECLARATIONS:
        return None
    region = [line for line in bare[found[0] : found[-1] + 1] if line.strip()]
    if sum(map(_is_code, region)) < CODE_SHARE * len(region):
        return None
    sheet = Sheet(NAME)
    for i in found:
        sheet.mark(i, "structure", "declaration")
    # Before the first declaration stands the head of the file: a licence, a docstring, imports. The body of
    # the last one ends where a line is no code.
    sheet.mark(next(i for i, line in enumerate(bare) if line.strip()), "structure", "head")
    after = range(found[-1] + 1, len(bare))
    sheet.mark(next((i - 1 for i in after if not _is_code(bare[i])), len(bare) - 1), "structure", "end")
    parsed = sheet.parsed()
    return parsed._replace(quiet=True) if parsed is not None else None


def _is_code(line: str) -> bool:
    """Whether a line can stand in a program; a blank one can."""
    return not line or line.startswith(_CODE_STARTS) or bool(_statement().match(line))


def _without_numbers(lines: Sequence[str]) -> Sequence[str]:
    """Without the line numbers of `cat -n` and the like, where nearly all lines carry one."""
    numbered = _number().match
    sample = [line for line in lines[:60] if line]
    if not sample or sum(bool(numbered(line)) for line in sample) < CODE_SHARE * len(sample):
        return lines
    return [line[found.end() :] if (found := numbered(line)) else line for line in lines]


@functools.cache
def _number() -> re.Pattern[str]:
    return re.compile(r" {0,8}\d{1,7}(?:\t|: ?|  )")


@functools.cache
def _declaration() -> re.Pattern[str]:
    words = r"(?:export|default|public|private|protected|internal|static|final|abstract|async|pub)"
    kinds = r"(?:def|class|function|func|fn|interface|struct|enum|trait|impl|module|namespace|type)"
    method = r"(?:public|private|protected|internal)\s[\w<>\[\], ]+\("
    return re.compile(rf"[ \t]*(?:(?:{words}[ \t]+)*{kinds}[ \t]+[\w(*<]|{method})")


@functools.cache
def _statement() -> re.Pattern[str]:
    """What begins a line at the left edge of a program."""
    words = "import from package use include return if for while try else elif except with const let var end"
    first = "|".join(words.split())
    return re.compile(rf"(?:{first})\b|[\w.\[\], *]+(?:=|:|\(|\{{|;)|[A-Za-z_]\w*$")
