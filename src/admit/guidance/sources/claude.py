"""Rules of Claude Code: Markdown files, for all files or for some
(https://code.claude.com/docs/en/memory)."""

from __future__ import annotations

from admit.guidance.sources.page import SESSION_START, Page, Read, by_files, snippet

PLACES = (("project", "project", ".claude/rules"), ("user", "home", ".claude/rules"))
DEPTH = 12


def claims(parts: tuple[str, ...]) -> bool:
    """Whether a file is a rule."""
    return parts[-1].endswith(".md") and parts[-1] != ".md"


def read(page: Page) -> Read:
    """A rule as a snippet: by file where it has paths, else at the start of a session."""
    triggers = by_files(page.matter.texts("paths")) or (SESSION_START,)
    return Read(snippet(page, "claude", f"rule:{page.stem('.md')}", triggers))
