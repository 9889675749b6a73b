"""git status, and what a merge or rebase reports: conflicts and the branch."""

from __future__ import annotations

from collections.abc import Sequence

from admit.outputs.model import Parsed
from admit.outputs.parsers.sheet import Sheet

NAME: str = "git_status"
HINTS: tuple[str, ...] = (
    r"\nOn branch ", r"\nHEAD detached at ", r"\nCONFLICT \(", r"\n(?:UU|AA) ", r"\n## \S+\.\.\.",
    r"\n## \S+\n", r"\tboth modified:", r"\nChanges (?:not staged|to be committed)",
)  # fmt: skip

_CONFLICTS = (
    "both modified:", "both added:", "both deleted:", "added by us:", "added by them:", "deleted by us:",
    "deleted by them:",
)  # fmt: skip
_CONFLICT_STARTS = ("CONFLICT (", "Automatic merge failed", "You have unmerged", "error: could not apply ")
_CONFLICT_CODES = ("UU ", "AA ", "DD ", "AU ", "UA ", "DU ", "UD ")
_BRANCH = (
    "On branch ", "HEAD detached at ", "Your branch ", "nothing to commit", "no changes added to commit",
    "interactive rebase",
)  # fmt: skip
_SECTIONS = ("Changes to be committed:", "Changes not staged for", "Untracked files:", "Unmerged paths:")


def parse(lines: Sequence[str], text: str) -> Parsed | None:
    """Mark conflicts as failures, branch lines as summary and the section heads as structure."""
    sheet = Sheet(NAME)
    for i, line in enumerate(lines):
        if line.startswith("\t"):
            if line.lstrip().startswith(_CONFLICTS):
                sheet.mark(i, "failure", "conflict")
        elif line.startswith((*_CONFLICT_STARTS, *_CONFLICT_CODES)):
            sheet.mark(i, "failure", "conflict")
        elif line.startswith(_BRANCH) or (line.startswith("## ") and _is_branch(line)):
            sheet.mark(i, "summary", "branch")
        elif line.startswith(_SECTIONS):
            sheet.mark(i, "structure", "section")
    return sheet.parsed()


def _is_branch(line: str) -> bool:
    """Whether this is the short form's branch line, ``## main...origin/main [ahead 1]``, not a heading."""
    name, _, rest = line[3:].partition(" ")
    return "..." in name or line.startswith("## No commits yet on ") or (not rest and name == name.lower())
