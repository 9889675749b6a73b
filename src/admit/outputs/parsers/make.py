"""make and CI sections: errors, the head of each section and its last line."""

from __future__ import annotations

from collections.abc import Sequence

from admit.outputs.model import Parsed
from admit.outputs.parsers.sheet import Sheet

NAME: str = "make"
HINTS: tuple[str, ...] = (
    r"make\[\d+\]: ", r"\ng?make: ", r"\n##\[(?:group|error)\]", r"\n::(?:group|error)",
    r"\n(?:\$|\+|==>) \S",
)  # fmt: skip

# Sections whose last line is a summary; of more, only the last ones are: no budget shows more.
MOST_SECTIONS = 60
_HEADS = ("##[group]", "::group::", "$ ", "==> ")
_ENDS = ("##[endgroup]", "::endgroup::")


def parse(lines: Sequence[str], text: str) -> Parsed | None:
    """Mark errors as failures, the head of each section as structure and its last line as summary."""
    sheet = Sheet(NAME)
    # Beside lines that start with "- ", a "+ " is one side of a difference and no echoed command.
    heads = _HEADS if "\n- " in text or "\n@@ -" in text else (*_HEADS, "+ ")
    ends: list[int] = []
    inside = False
    last = -1  # the last line with something in it, of the current section
    for i, line in enumerate(lines):
        made = line.startswith(("make[", "make: ", "gmake"))
        if line.startswith(heads) or (made and ": Entering directory" in line):
            if inside and last >= 0:
                ends.append(last)
            sheet.mark(i, "structure", "section")
            inside, last = True, -1
        elif made and ": Leaving directory" in line:
            if last >= 0:
                ends.append(last)
            sheet.mark(i, "structure", "section")
            last = -1
        elif (made and "*** " in line) or line.startswith(("##[error]", "::error")):
            sheet.mark(i, "failure", "error")
            last = i
        elif line.strip() and not line.startswith(_ENDS):
            last = i
    if inside and last >= 0:
        ends.append(last)
    for i in ends[-MOST_SECTIONS:]:
        sheet.mark(i, "summary", "last")
    return sheet.parsed()
