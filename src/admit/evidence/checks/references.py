"""What stands in a note and is no link, and front matter that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator

from admit.evidence.checks.page import Page
from admit.evidence.model import Finding

RULES = ("reference", "wikilinks-off", "front-matter")

_MOST = 8  # lines that are named


def check(page: Page) -> Iterator[Finding]:
    """One finding for each kind of reference with its count, and one for each fault of the front matter."""
    document = page.note.document
    for lines, what, fix in (
        (document.undefined, "without a definition", "define them, or write the brackets as \\["),
        (document.unused, "definitions that nothing uses", "remove them"),
        (document.duplicate, "definitions of a name that has one already", "remove or rename them"),
    ):
        if lines:
            named = ", ".join(map(str, lines[:_MOST])) + (", …" if len(lines) > _MOST else "")
            text = f"{len(lines):,} reference {what}, not followed: line {named}"
            if what.startswith("without"):
                text = f"{len(lines):,} reference links {what}, not followed: line {named}"
            yield page.of_line("reference", lines[0], text, fix=fix)
    if document.unfollowed:
        text = f"{document.unfollowed:,} wiki links are not followed: evidence.wikilinks is off"
        yield page.of_line("wikilinks-off", 1, text, fix="set evidence.wikilinks to auto to check them")
    for line, words in document.problems:
        fix = "correct it; the note is checked without it"
        yield page.of_line("front-matter", max(line, 1), f"the front matter {words}", fix=fix)
