"""Ways: `NAME/NAME.md`, whose front matter holds regular expressions, states and preconditions.

The format is that of agent-ways (https://github.com/aaronsb/agent-ways).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import get_args

from admit.guidance.model import Finding, Scope, Trigger, TriggerKind, When
from admit.guidance.sources.page import SESSION_START, Page, Read, by_meaning, comma_list, snippet

PLACES = (
    ("project", "project", ".claude/ways"),
    ("user", "config", "agent-ways/ways"),
    ("bundled", "home", ".claude/hooks/ways"),
)
DEPTH = 12

REFIRE: Mapping[str, float] = MappingProxyType({"once": 1.0, "rare": 0.4, "normal": 0.15, "frequent": 0.05})
"""How long a snippet is held, as fractions of the context window."""

FIELDS = frozenset(
    (
        "description", "vocabulary", "pattern", "pattern_strict", "pattern_keep", "commands", "files",
        "scope", "when", "trigger", "threshold", "path", "refire", "repeat",
    )
)  # fmt: skip
WITHOUT_EFFECT = frozenset(("embed_threshold", "curve", "requires", "macro", "scan_exclude"))
SCOPES = frozenset(get_args(Scope))
STATES = ("context-threshold", "file-exists", "session-start")
_FLAGS = ("true", "yes", "on", "false", "no", "off")


def claims(parts: tuple[str, ...]) -> bool:
    """Whether a file is a way: named like its folder, or `core.md` at the top; checks are not."""
    if parts == ("core.md",):
        return True
    return len(parts) > 1 and parts[-1] == f"{parts[-2]}.md" and not parts[-1].endswith(".check.md")


def read(page: Page) -> Read:
    """A way as a snippet; a refire out of range is a finding, and the default holds."""
    matter = page.matter
    core = page.parts == ("core.md",)
    refire, findings = _refire(page)
    description = matter.text("description")
    strict = matter.text("pattern_strict")
    strict_pattern = strict if strict.lower() not in _FLAGS else ""
    triggers: list[Trigger] = [SESSION_START] if core else []
    kinds: tuple[TriggerKind, ...] = ("pattern", "commands", "files")
    triggers += [Trigger(kind, text, "regex") for kind in kinds for text in matter.texts(kind)]
    triggers += [Trigger("pattern", strict_pattern, "regex")] if strict_pattern else []
    triggers += by_meaning(description)
    triggers += [state for state in _states(page) if state not in triggers]
    scope = comma_list(matter.text("scope")) or ("agent",)
    way = snippet(
        page,
        "agent-ways",
        "core" if core else "/".join(page.parts[:-1]),
        triggers,
        kind="way",
        vocabulary=matter.text("vocabulary"),
        scope=frozenset(word for word in scope if word in SCOPES),
        when=_when(page),
        refire=refire,
        strict=bool(strict_pattern) or matter.flag("pattern_strict"),
    )
    return Read(way, findings)


def _states(page: Page) -> tuple[Trigger, ...]:
    """The state trigger, where it says all it needs; lint tells of one that does not."""
    word = page.matter.text("trigger")
    if word == "session-start":
        return (SESSION_START,)
    if word == "context-threshold":
        percent = number(page.matter.text("threshold"), 0, 100)
        return (Trigger("state", word, "literal", percent),) if percent else ()
    path = page.matter.text("path")
    return (Trigger("state", word, "glob", path),) if word == "file-exists" and path else ()


def _when(page: Page) -> When | None:
    fields = page.matter.fields.get("when")
    if not isinstance(fields, dict):
        return None
    project, exists = (
        value.strip() if isinstance(value := fields.get(key), str) and value.strip() else None
        for key in ("project", "file_exists")
    )
    return When(project and os.path.expanduser(project), exists) if project or exists else None


def _refire(page: Page) -> tuple[float, tuple[Finding, ...]]:
    text = page.matter.text("refire")
    if not text:
        return (REFIRE["frequent"] if page.matter.flag("repeat") else page.refire_default), ()
    value = REFIRE.get(text.lower(), number(text, 0, 10))
    if value is not None:
        return value, ()
    wrong = page.finding(
        "refire-range",
        "refire",
        f"refire is {text}, which is neither 0 to 10 nor a word for it",
        f"write {', '.join(REFIRE)}, or a fraction of the context window",
    )
    return page.refire_default, (wrong,)


def number(text: str, low: float, high: float) -> float | None:
    """A number in a range, both ends included, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and low <= value <= high else None
