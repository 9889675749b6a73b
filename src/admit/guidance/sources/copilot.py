"""Instructions of Copilot: `.instructions.md` files
(https://docs.github.com/copilot/customizing-copilot)."""

from __future__ import annotations

from admit.guidance.sources.page import Page, Read, by_files, by_meaning, mention, snippet

PLACES = (("project", "project", ".github/instructions"),)
DEPTH = 12
SUFFIX = ".instructions.md"


def claims(parts: tuple[str, ...]) -> bool:
    """Whether a file holds instructions."""
    return parts[-1].endswith(SUFFIX) and parts[-1] != SUFFIX


def read(page: Page) -> Read:
    """Instructions as a snippet: by file and by meaning, else when they are named."""
    matter = page.matter
    stem = page.stem(SUFFIX)
    triggers = (*by_files(matter.texts("applyTo")), *by_meaning(matter.text("description")))
    return Read(snippet(page, "copilot", f"copilot:{stem}", triggers or mention(stem.rpartition("/")[2])))
