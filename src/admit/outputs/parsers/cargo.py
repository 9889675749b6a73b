"""cargo and rustc: diagnostics with their source block, panics, failed tests, results."""

from __future__ import annotations

from collections.abc import Sequence

from admit.outputs.model import Parsed
from admit.outputs.parsers.sheet import Sheet

NAME: str = "cargo"
HINTS: tuple[str, ...] = (
    r"\nerror\[E", r"\n   Compiling ", r"\ntest result: ", r"could not compile", r"['\)] panicked at ",
    r"\n +--> \S+:\d+:\d+\n",
)  # fmt: skip

MOST_DETAILS = 14
_TOTALS = ("error: could not compile", "error: aborting due to", "error: test failed", "test result: ")


def parse(lines: Sequence[str], text: str) -> Parsed | None:
    """Mark errors and panics as failures; an error's source, at most 14 lines, is detail and a block."""
    sheet = Sheet(NAME)
    compiling = "Compiling " in text
    listing = False  # under the closing "failures:" list
    for i, line in enumerate(lines):
        if line.startswith(_TOTALS):
            sheet.mark(i, "summary", "result")
        elif line.startswith(("error: ", "error[E")):
            source = any(line.lstrip().startswith("--> ") for line in lines[i + 1 : i + 3])
            if source or line[5] == "[" or compiling or "Caused by:" in lines[i + 1 : i + 3]:
                sheet.mark(i, "failure", "error")
                last = sheet.details(lines, i + 1, MOST_DETAILS, "source", stop=_is_blank)
                if source:
                    sheet.block(i, last)
        elif line.startswith("thread '") and " panicked at " in line:
            sheet.mark(i, "failure", "panic")
            sheet.details(lines, i + 1, MOST_DETAILS, "panic", stop=_ends_panic, wanted=_is_own)
        elif line.startswith("test ") and line.endswith(" FAILED"):
            sheet.mark(i, "failure", "test")
        elif line.startswith("---- ") and line.endswith(" ----"):
            sheet.mark(i, "detail", "test")
        elif line == "failures:":
            listing = True
            continue
        elif listing and line.startswith("    ") and " " not in line.strip():
            sheet.mark(i, "failure", "failures")
            continue
        listing = False
    return sheet.parsed()


def _is_blank(line: str) -> bool:
    return not line.strip()


def _ends_panic(line: str) -> bool:
    return line.startswith(("---- ", "failures:", "thread '", "test result:"))


def _is_own(line: str) -> bool:
    """Whether this line of a panic is its message or a place in the crate itself, not in a library."""
    bare = line.strip()
    frame = bare.partition(": ")[0].isdigit()
    return bool(bare) and not frame and not bare.startswith(("at /", "note: ", "stack backtrace:"))
