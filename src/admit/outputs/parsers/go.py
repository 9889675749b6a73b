"""go test, vet and build: failed tests, panics, diagnostics under a package head, results by package."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from admit.outputs.model import Parsed
from admit.outputs.parsers.sheet import Sheet

NAME: str = "go"
HINTS: tuple[str, ...] = (
    r"\n *--- FAIL", r"\nFAIL\t", r"\nok  \t", r"\n\?   \t", r"\npanic: ", r"\nvet: ", r"\.go:\d+:\d+: ",
    r"\n# \S+/\S+\n", r"\n# command-line-arguments\n", r"\ngo: ",
)  # fmt: skip

MOST_DETAILS = 12
_RESULTS = ("ok  \t", "FAIL\t", "?   \t")
_TOOLCHAIN = ("/src/testing/", "/src/runtime/", "/go/src/", "/lib/go", "testing.")


def parse(lines: Sequence[str], text: str) -> Parsed | None:
    """Mark failed tests, panics and diagnostics as failures; the last of each run of results is a summary."""
    sheet = Sheet(NAME)
    result = -1  # the last result line of the current run
    under_head = 0  # lines still taken as diagnostics under a package head
    for i, line in enumerate(lines):
        if line.startswith(_RESULTS) or line in ("FAIL", "PASS"):
            if line[0] == "F":
                sheet.mark(i, "failure", "result")
            result, under_head = i, 0
            continue
        if result >= 0 and line.strip():
            sheet.mark(result, "summary", "result")
            result = -1
        bare = line.lstrip()
        if bare.startswith("--- FAIL"):
            sheet.mark(i, "failure", "failed")
            sheet.details(lines, i + 1, MOST_DETAILS, "detail", stop=_is_next, wanted=_is_detail)
        elif line.startswith(("panic: ", "fatal error: ")):
            sheet.mark(i, "failure", "panic")
            sheet.details(lines, i + 1, MOST_DETAILS, "frame", stop=_is_next, wanted=_is_own_frame)
        elif line.startswith("# ") and _is_package(line):
            sheet.mark(i, "structure", "package")
            under_head = MOST_DETAILS
        elif under_head > 0 and bare:
            sheet.mark(i, "detail" if line[0] in " \t" else "failure", "diagnostic")
            under_head -= 1
        elif line.startswith("vet: ") or (".go:" in line[:300] and _diagnostic().match(line)):
            sheet.mark(i, "failure", "diagnostic")
            sheet.details(lines, i + 1, MOST_DETAILS, "detail", stop=_is_other)
        elif line[:1] == " " and "_test.go:" in line[:200]:  # with -v it stands before the test's result
            sheet.mark(i, "detail", "detail")
        elif line.startswith("go: "):
            sheet.mark(i, "noise" if line.startswith("go: downloading ") else "failure", "command")
        if not bare:
            under_head = 0
    if result >= 0:
        sheet.mark(result, "summary", "result")
    return sheet.parsed()


def _is_next(line: str) -> bool:
    return line.startswith((*_RESULTS, "--- ", "=== ")) or line.lstrip().startswith("--- ")


def _is_other(line: str) -> bool:
    return line[:1] != "\t"


def _is_detail(line: str) -> bool:
    return line[:1] in " \t" and bool(line.strip()) and _is_own_frame(line)


def _is_own_frame(line: str) -> bool:
    return bool(line.strip()) and not any(place in line for place in _TOOLCHAIN)


def _is_package(line: str) -> bool:
    """Whether this heads a package's diagnostics: ``# example.com/stock [example.com/stock.test]``."""
    path = line[2:].partition(" [")[0].strip()
    domain, slash, _ = path.partition("/")
    return path == "command-line-arguments" or (bool(slash) and "." in domain.strip(".") and " " not in path)


@functools.cache
def _diagnostic() -> re.Pattern[str]:
    return re.compile(r"[^\s:]{1,250}\.go:\d+:\d+: ")
