"""One file of guidance as a source reads it, and what all sources make of it alike."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from admit.guidance.codes import finding
from admit.guidance.model import Finding, Root, Snippet, Source, Trigger
from admit.text.front_matter import FrontMatter

_TITLE_CHARS = 4000  # a title stands at the top


class Page(NamedTuple):
    """A file that was read.

    Attributes:
        parts: Path segments below the root.
        path: Absolute real path.
        refire_default: Fraction of the window that holds where the file says none.
    """

    root: Root
    parts: tuple[str, ...]
    path: str
    text: str
    matter: FrontMatter
    digest: str
    refire_default: float

    def finding(self, code: str, key: str, text: str, fix: str = "") -> Finding:
        """A finding at the line of a key."""
        return finding(code, self.path, self.matter.lines.get(key, 0), text, fix)

    def stem(self, suffix: str) -> str:
        """The path below the root without a suffix."""
        return "/".join(self.parts).removesuffix(suffix)

    def heading(self) -> str:
        """The first level-1 heading of the body that stands before any fenced code, or an empty text."""
        start = self.matter.body_at
        found = _heading().search(self.text, start, start + _TITLE_CHARS)
        return (found.group(1) or "").strip() if found else ""


class Read(NamedTuple):
    """What a source made of a page."""

    snippet: Snippet
    findings: tuple[Finding, ...] = ()


def snippet(page: Page, source: Source, id: str, triggers: Iterable[Trigger], **more: Any) -> Snippet:
    """A snippet of a page: a rule for the main agent with the default refire, where `more` says nothing."""
    fields: dict[str, Any] = {
        "kind": "rule",
        "title": page.heading() or id.rpartition("/")[2].rpartition(":")[2],
        "description": page.matter.text("description"),
        "vocabulary": "",
        "scope": frozenset(("agent",)),
        "when": None,
        "refire": page.refire_default,
        "strict": False,
        **more,
    }
    return Snippet(
        id=id,
        source=source,
        root=page.root.kind,
        path=page.path,
        triggers=tuple(triggers),
        digest=page.digest,
        body_at=page.matter.body_at,
        chars=len(page.text) - page.matter.body_at,
        **fields,
    )


SESSION_START = Trigger("state", "session-start", "literal")


def by_meaning(description: str) -> tuple[Trigger, ...]:
    """The semantic trigger, where there is a description."""
    return (Trigger("semantic", "description", "auto"),) if description else ()


def mention(name: str) -> tuple[Trigger, ...]:
    """Set off by `@name`."""
    return (Trigger("mention", f"@{name}", "literal"),)


def by_files(globs: Iterable[str]) -> tuple[Trigger, ...]:
    """One trigger for each glob of lists that commas may divide."""
    return tuple(Trigger("files", glob, "glob") for text in globs for glob in comma_list(text))


def comma_list(text: str) -> tuple[str, ...]:
    """The stripped parts of a comma list; commas inside `{}` and `[]` divide nothing."""
    parts: list[str] = []
    depth = start = 0
    for at, char in enumerate(text):
        if char in "{[":
            depth += 1
        elif char in "}]":
            depth = max(0, depth - 1)
        elif char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return tuple(part for part in map(str.strip, (*parts, text[start:])) if part)


@lru_cache(maxsize=1)
def _heading() -> re.Pattern[str]:
    return re.compile(r"^(?:```|~~~|#[ \t]+([^\r\n]*?)[ \t]*#*[ \t]*\r?$)", re.MULTILINE)
