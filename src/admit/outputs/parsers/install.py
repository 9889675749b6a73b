"""npm, pip and uv installs: errors and conflicts, totals, deprecations; downloads are noise."""

from __future__ import annotations

from collections.abc import Sequence

from admit.outputs.model import Parsed
from admit.outputs.parsers.sheet import Sheet
from admit.outputs.words import is_wrapper

NAME: str = "install"
HINTS: tuple[str, ...] = (
    r"npm (?:ERR!|error|warn|WARN)", r"\nadded \d+ package", r"\nCollecting ", r"Successfully installed",
    r"\nRequirement already ", r"\nERROR: (?:Co|Ca|No m|Re)", r"No solution found", r"\nResolved \d",
    r"\d vulnerabilit",
)  # fmt: skip

MOST_DETAILS = 8
_PIP = (
    "ERROR: Could not ", "ERROR: Cannot install", "ERROR: No matching", "ERROR: Resolution", "ERROR: Failed ",
    "ERROR: pip's", "ERROR: Command errored", "ERROR: Exception:", "ERROR: Invalid req", "ERROR: Package ",
    "The conflict is caused by:", "error: subprocess-exited-with-error",
)  # fmt: skip
_FAILURES = ("npm ERR!", "npm error", *_PIP)
_UNSOLVED = ("× No solution found", "error: No solution found", "╰─▶ Because", "error: Failed to ")
_TOTALS = (
    "Successfully installed", "Successfully uninstalled", "up to date", "npm warn deprecated",
    "npm WARN deprecated", "found 0 vulnerabilities",
)  # fmt: skip
_COUNTED = ("added ", "removed ", "changed ", "up to date", "audited ", "Resolved ", "Installed ", "Audited ")
_NOISE = (
    "Collecting ", "Downloading ", "Downloaded ", "Requirement already satisfied", "Using cached ", "━",
    "npm http ", "npm timing ", "Preparing metadata", "Getting requirements to build",
    "Installing build dependencies", "Obtaining ", "Created wheel for ", "Stored in directory",
    "Building wheel for ", "Looking in ", "npm sill ", "npm verb ",
)  # fmt: skip


def parse(lines: Sequence[str], text: str) -> Parsed | None:
    """Mark errors and conflicts as failures, totals and deprecations as summary, progress as noise."""
    sheet = Sheet(NAME)
    for i, line in enumerate(lines):
        bare = line.strip()
        if not bare:
            continue
        if line.startswith(_FAILURES):
            sheet.mark(i, "detail" if is_wrapper(line) else "failure", "error")
            if line.startswith(_PIP):
                sheet.details(lines, i + 1, MOST_DETAILS, "cause", stop=_ends_cause)
        elif bare.startswith(_UNSOLVED):
            sheet.mark(i, "failure", "conflict")
            sheet.details(lines, i + 1, MOST_DETAILS, "cause", stop=_ends_cause)
        elif line.startswith(_TOTALS) or (line.startswith(_COUNTED) and " package" in line[:40]):
            sheet.mark(i, "summary", "total")
        elif " vulnerabilit" in line[:40] and bare[0].isdigit():
            sheet.mark(i, "summary", "vulnerabilities")
        elif bare.startswith(_NOISE):
            if " error" in bare or "'error'" in bare:  # "Building wheel for x: finished with status 'error'"
                sheet.mark(i, "failure", "build")
            else:
                sheet.mark(i, "noise", "progress")
    return sheet.parsed()


def _ends_cause(line: str) -> bool:
    return not line[:1].isspace()
