"""git diff, and any unified diff: a hunk is kept whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence

from admit.outputs.model import Parsed
from admit.outputs.parsers.sheet import Sheet

NAME: str = "git_diff"
HINTS: tuple[str, ...] = (
    r"\ndiff --(?:git|cc) ", r"\n@@@? -\d",
)  # fmt: skip

NOTE = "Hunks are left out: the text shown is not an applicable patch."
_HEADS = ("diff --", "--- ", "+++ ")
_MODES = (
    "index ", "new file mode ", "deleted file mode ", "old mode ", "new mode ", "rename ", "copy ",
    "similarity ", "Binary files ",
)  # fmt: skip
# A piece of a long line that was cut up begins anywhere; no shorter line has a piece after it.
_CUT = 400


def parse(lines: Sequence[str], text: str) -> Parsed | None:
    """Mark file and hunk heads as structure, and each hunk, its head included, as a whole block."""
    sheet = Sheet(NAME)
    hunk = -1
    old = new = 0  # lines the current hunk still has, by its head
    for i, line in enumerate(lines):
        if hunk >= 0:
            first = line[:1]
            if line.startswith("@@"):
                pass
            elif first == "\\" or (first not in " +-" and len(lines[i - 1]) >= _CUT):
                continue
            elif (old > 0 or new > 0) and first in " +-":  # an empty line is an empty context line
                old -= first != "+"
                new -= first != "-"
                continue
            sheet.block(hunk, i - 1, whole=True)
            hunk = -1
        if line.startswith("@@"):
            spans = _spans(line)
            if spans:
                sheet.mark(i, "structure", "hunk")
                hunk, (old, new) = i, spans
        elif line.startswith(_HEADS):
            sheet.mark(i, "structure", "file")
        elif line.startswith(_MODES):
            sheet.mark(i, "structure", "mode")
    if hunk >= 0:
        sheet.block(hunk, len(lines) - 1, whole=True)
    parsed = sheet.parsed(NOTE)
    # What a change says of errors is the text of a program, not a report of one.
    return parsed._replace(quiet=True) if parsed is not None else None


def _spans(line: str) -> tuple[int, int] | None:
    """Return how many old and new lines a hunk has: ``@@ -1,6 +1,7 @@`` gives 6 and 7. None: no hunk head."""
    words = line[:200].split(" ")
    if words[0].strip("@") or len(words) < 4 or words[1][:1] != "-":
        return None
    sizes = []
    for word in words[1:]:
        if word[:1] not in "-+" or not word:
            break
        size = word.partition(",")[2] or "1"
        if not (size.isascii() and size.isdigit()):
            return None
        sizes.append(int(size))
    # A merge's diff has several old sides: the longest is taken.
    return (max(sizes[:-1]), sizes[-1]) if len(sizes) > 1 else None
