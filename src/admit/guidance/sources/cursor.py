"""Rules of Cursor: `.mdc` files (https://docs.cursor.com/context/rules)."""

from __future__ import annotations

from admit.guidance.sources.page import SESSION_START, Page, Read, by_files, by_meaning, mention, snippet

PLACES = (("project", "project", ".cursor/rules"),)
DEPTH = 12


def claims(parts: tuple[str, ...]) -> bool:
    """Whether a file is a rule."""
    return parts[-1].endswith(".mdc") and parts[-1] != ".mdc"


def read(page: Page) -> Read:
    """A rule as a snippet: always, else by file, else by meaning, else when it is named."""
    matter = page.matter
    stem = page.stem(".mdc")
    triggers = (
        ((SESSION_START,) if matter.flag("alwaysApply") else ())
        or by_files(matter.texts("globs"))
        or by_meaning(matter.text("description"))
        or mention(stem.rpartition("/")[2])
    )
    return Read(snippet(page, "cursor", f"cursor:{stem}", triggers))
