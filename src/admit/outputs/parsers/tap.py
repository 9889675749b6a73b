"""TAP and `node --test`: ``not ok`` and ✖ lines with the values that follow, and the counts at the end."""

from __future__ import annotations

from collections.abc import Sequence

from admit.outputs.model import Parsed
from admit.outputs.parsers.sheet import Sheet

NAME: str = "tap"
HINTS: tuple[str, ...] = (
    r"\nTAP version ", r"\n(?:#|ℹ) tests \d", r"\nnot ok ", r"\n(?:✖|✔) ",
)  # fmt: skip

MOST_DETAILS = 10
_COUNTS = ("# tests ", "# pass ", "# fail ", "ℹ tests ", "ℹ pass ", "ℹ fail ")
_NEXT = ("ok ", "not ok ", "✔ ", "✖ ", "# ", "ℹ ", "1..", "test at ")
_CHAFF = ("---", "...", "duration_ms", "type:", "failureType:", "generatedMessage:", "stack: |", "}")


def parse(lines: Sequence[str], text: str) -> Parsed | None:
    """Mark failed tests as failures, unless they are expected to (TODO, SKIP), and the counts as summary."""
    sheet = Sheet(NAME)
    for i, line in enumerate(lines):
        bare = line.strip()
        if bare.startswith(("not ok ", "✖ ", "Bail out!")):
            if " problem" in bare or bare == "✖ failing tests:":  # the first is a linter's total
                continue
            if bare[-40:].upper().rpartition("# ")[2].startswith(("TODO", "SKIP")):
                continue
            sheet.mark(i, "failure", "failed")
            sheet.details(lines, i + 1, MOST_DETAILS, "detail", stop=_is_next, wanted=_is_detail)
        elif bare.startswith(_COUNTS) and bare.rpartition(" ")[2].isdigit():
            sheet.mark(i, "summary", "counts")
        elif line.startswith(("TAP version ", "1..")):
            sheet.mark(i, "structure", "plan")
    return sheet.parsed()


def _is_next(line: str) -> bool:
    return line.lstrip().startswith(_NEXT)


def _is_detail(line: str) -> bool:
    bare = line.strip()
    return bool(bare) and not bare.startswith(_CHAFF) and "node:internal" not in bare
