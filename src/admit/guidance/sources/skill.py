"""Skills: `NAME/SKILL.md` with name and description (https://agentskills.io)."""

from __future__ import annotations

from admit.guidance.sources.page import Page, Read, by_files, by_meaning, snippet

PLACES = (
    ("project", "project", ".claude/skills"),
    ("project", "project", ".agents/skills"),
    ("user", "home", ".claude/skills"),
    ("user", "home", ".agents/skills"),
)
DEPTH = 1


def claims(parts: tuple[str, ...]) -> bool:
    """Whether a file is a skill."""
    return len(parts) == 2 and parts[1] == "SKILL.md"


def read(page: Page) -> Read:
    """A skill as a snippet; one that a model may not call has no trigger."""
    matter = page.matter
    name = matter.text("name")
    if not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        name = page.parts[0]
    triggers = (*by_meaning(matter.text("description")), *by_files(matter.texts("paths")))
    never = matter.flag("disable-model-invocation")
    return Read(snippet(page, "skill", f"skill:{name}", () if never else triggers, kind="skill", title=name))
