"""pytest: sections between ``=``, failures between ``_``, the short summary and the result line."""

from __future__ import annotations

from collections.abc import Sequence

from admit.outputs.model import Parsed
from admit.outputs.parsers.sheet import Sheet

NAME: str = "pytest"
HINTS: tuple[str, ...] = (
    r"= (?:test session starts|short test summary info|FAILURES|ERRORS) =",
    r"(?:passed|failed|skipped|deselected|errors?|warnings?) in \d", r"\nno tests ran in ",
)  # fmt: skip

MOST_DETAILS = 12
_OUTCOMES = (" passed", " failed", " error", " skipped", " deselected", " warning", " xfailed", "no tests")


def parse(lines: Sequence[str], text: str) -> Parsed | None:
    """Mark outcomes, ``E`` lines and collection errors as failures, and each result line as summary."""
    sheet = Sheet(NAME)
    failing = False  # inside ERRORS or FAILURES
    left = MOST_DETAILS  # lines of the current failure still to be marked
    for i, line in enumerate(lines):
        head = line[:1]
        if head == "=" and line.startswith("==="):
            title = line.strip("= ")
            if title:
                failing = title in ("ERRORS", "FAILURES")
                sheet.mark(i, "summary" if _is_result(title) else "structure", "section")
        elif head == "_" and line.endswith("_") and failing:
            left = MOST_DETAILS
            sheet.mark(i, "failure" if line.strip("_ ").startswith("ERROR ") else "detail", "name")
        elif head == "E" and line.startswith("E  "):
            if left > 0 and line[1:].strip():
                sheet.mark(i, "failure", "message")
                left -= 1
        elif head in "FE" and line.startswith(("FAILED ", "ERROR ")) and line[6:8] != "  ":
            sheet.mark(i, "failure", "outcome")
        elif head == "!" and line.startswith("!!!"):
            sheet.mark(i, "failure", "interrupted")
        elif head == "I" and line.startswith(("ImportError while ", "INTERNALERROR> ")):
            if line.startswith("Im") or "Error: " in line[15:]:
                sheet.mark(i, "failure", "collection")
        elif head == "c" and line.startswith("collected "):
            sheet.mark(i, "failure" if " error" in line else "structure", "collected")
        elif failing and left > 0 and (head == ">" or (head.strip() and ".py:" in line)):
            sheet.mark(i, "detail", "location")
            left -= 1
            if lines[i + 1 : i + 2] and lines[i + 1].startswith("    ") and head != ">":  # the source line
                sheet.mark(i + 1, "detail", "source")
        elif head.isdigit() or head == "n":
            if len(line) < 200 and _is_result(line):
                sheet.mark(i, "summary", "result")
        elif "::" in line and (" FAILED" in line or " ERROR" in line):
            sheet.mark(i, "failure", "outcome")
    return sheet.parsed()


def _is_result(title: str) -> bool:
    """Whether this is a result such as ``1 failed, 2 passed in 0.12s (0:00:01)``."""
    counts, found, took = title.rpartition(" in ")
    return (
        bool(found)
        and took[:1].isdigit()
        and "s" in took
        and (counts[:1].isdigit() or counts.startswith("no tests ran"))
        and any(outcome in counts for outcome in _OUTCOMES)
    )
