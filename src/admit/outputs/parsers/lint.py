"""Compilers' and linters' diagnostics: tsc, eslint, ruff, flake8, mypy, gcc, clang, javac."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from admit.outputs.model import Parsed
from admit.outputs.parsers.sheet import Sheet

NAME: str = "lint"
HINTS: tuple[str, ...] = (
    r":\d+: (?:fatal )?error: ", r" error TS\d", r"\nFound \d+ error", r"\d problems? \(",
    r":\d+:\d+: [A-Z]{1,4}\d{3}", r"\n +--> \S+:\d", r"\nSuccess: no issues",
)  # fmt: skip

MOST_DETAILS = 3
_CLEAN = ("Success: no issues found", "All checks passed!")


def parse(lines: Sequence[str], text: str) -> Parsed | None:
    """Mark each error as failure, with its file line where that stands apart, and the count as summary."""
    sheet = Sheet(NAME)
    file = -1  # the last line that is not indented: eslint puts the file there
    for i, line in enumerate(lines):
        if line[:1] in (" ", "\t"):
            found = _row().match(line)
            if found:
                if file >= 0:
                    sheet.mark(file, "detail", "file")
                sheet.mark(i, "failure" if found[1] == "error" else "detail", "diagnostic")
            continue
        if not line:
            continue
        file = i
        if _is_total(line):
            sheet.mark(i, "summary", "count")
        elif ":" in line and (found := _diagnostic().match(line)):
            if found["code"] or "error" in found["level"]:
                sheet.mark(i, "failure", "diagnostic")
                sheet.details(lines, i + 1, MOST_DETAILS, "source", stop=_ends, wanted=_is_source, reach=6)
            elif found["level"] == "note":
                sheet.mark(i, "detail", "note")
        elif _is_head(line) and lines[i + 1 : i + 2] and lines[i + 1].lstrip(" ").startswith("--> "):
            sheet.mark(i, "failure", "diagnostic")
            last = sheet.details(
                lines, i + 1, MOST_DETAILS, "source", stop=_is_blank, wanted=_is_source, reach=14
            )
            sheet.block(i, last)
    return sheet.parsed()


def _is_total(line: str) -> bool:
    if line.startswith("Found "):
        return " error" in line[:24]
    return line.startswith(_CLEAN) or (line.startswith("✖ ") and " problem" in line[:24])


def _is_head(line: str) -> bool:
    """Whether a source block under this line is ruff's: ``F401 message``. rustc's begins with a level."""
    return not line.startswith(("error", "warning", "note", "help"))


def _is_blank(line: str) -> bool:
    return not line.strip()


def _is_source(line: str) -> bool:
    return bool(line.strip(" |"))


def _ends(line: str) -> bool:
    """Source quoted under a diagnostic is indented or numbered; anything else is the next thing."""
    return bool(line) and not line[0].isspace() and not line[0].isdigit()


@functools.cache
def _row() -> re.Pattern[str]:
    return re.compile(r"[ \t]+\d{1,7}:\d{1,7} +(error|warning) ")


@functools.cache
def _diagnostic() -> re.Pattern[str]:
    """Match ``file:line:column: error:``, ``file(line,column): error TS1:``, ``file:line:column: F401``."""
    return re.compile(
        r"(?:[A-Za-z]:)?[^\s:(][^:(]{0,250}(?::\d{1,7}(?::\d{1,7})?(?::| -)|\(\d{1,7},\d{1,7}\):) +"
        r"(?:(?P<level>fatal error|error|warning|note|info)\b(?::|\[| TS\d)|(?P<code>[A-Z]{1,4}\d{3,5})\b)"
    )
