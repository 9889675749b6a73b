"""jest and vitest (and mocha's totals): test files, failed tests, expected and received values, totals."""

from __future__ import annotations

from collections.abc import Sequence

from admit.outputs.model import Parsed
from admit.outputs.parsers.sheet import Sheet

NAME: str = "jest"
HINTS: tuple[str, ...] = (
    r"\nTest Suites: ", r"\nTests: ", r"\n +Test Files ", r"\n +● ", r"\n ?FAIL +\S", r"\n +(?:✓|✗|×|✕) ",
    r"\n +\d+ passing \(",
)  # fmt: skip

MOST_DETAILS = 10
_CROSSES = ("× ", "✗ ", "✕ ")
_VALUES = (
    "Expected", "Received", "expected", "received", "- ", "+ ", "> ", "at ", "❯ ", "expect(", "thrown:",
)  # fmt: skip


def parse(lines: Sequence[str], text: str) -> Parsed | None:
    """Mark failed files and tests as failures, expected and received values as detail, totals as summary."""
    sheet = Sheet(NAME)
    for i, line in enumerate(lines):
        bare = line.strip()
        if not bare:
            continue
        if _is_failure(bare):
            sheet.mark(i, "failure", "failed")
            _details(sheet, lines, i + 1)
        elif _is_total(bare):
            sheet.mark(i, "summary", "totals")
        elif bare[0] == "✓" or bare.startswith("PASS "):
            sheet.mark(i, "structure", "passed")
    return sheet.parsed()


def _is_failure(bare: str) -> bool:
    if bare[0] in "×✗✕":
        return bare.startswith(_CROSSES)
    if bare[0] == "●":
        return bare.startswith("● ") and bare != "● Console"
    if bare[0] == "❯":
        return bare.endswith(("failed)", "ms")) and " failed)" in bare
    return bare.startswith("FAIL ")


def _is_total(bare: str) -> bool:
    if bare.startswith(("Test Suites:", "Tests:", "Snapshots:")):
        return True
    if bare.startswith(("Test Files ", "Tests ")):
        return bare.partition("  ")[2].lstrip()[:1].isdigit()
    return bare[0].isdigit() and (" passing (" in bare or bare.endswith((" failing", " pending")))


def _details(sheet: Sheet, lines: Sequence[str], first: int) -> None:
    message = 2  # the first two lines say what went wrong, whatever they look like

    def wanted(line: str) -> bool:
        nonlocal message
        bare = line.strip()
        if not bare or "node_modules/" in bare or "node:internal" in bare:
            return False
        message -= 1
        return message >= 0 or bare.startswith(_VALUES)

    def stop(line: str) -> bool:
        bare = line.strip()
        return bool(bare) and (_is_failure(bare) or _is_total(bare) or bare.startswith(("✓", "⎯", "PASS ")))

    sheet.details(lines, first, MOST_DETAILS, "detail", stop=stop, wanted=wanted)
