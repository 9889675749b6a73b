"""Every code of a finding, with its level; `admit guide lint` fails on an error."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from admit.config.check import visible
from admit.guidance.model import Finding

Level = Literal["error", "warning", "note"]

LEVELS: Mapping[str, Level] = MappingProxyType(
    {
        # Found while files are read: what was found is not all there.
        "front-matter-recovered": "error",
        "front-matter-unclosed": "error",
        "duplicate-key": "error",
        "refire-range": "error",
        "unreadable": "error",
        "too-large": "error",
        "symlink-escape": "error",
        "duplicate-id": "error",
        # Found by lint alone.
        "unknown-field": "warning",  # an error in a bundled root
        "regex-unsupported": "error",
        "regex-too-large": "error",
        "regex-empty-match": "error",
        "never-fires": "error",
        "bare-common-word": "warning",
        "short-unanchored": "warning",
        "dot-star": "warning",
        "no-refire": "warning",
        "description-missing": "warning",
        "near-duplicate": "warning",
        "body-over-budget": "warning",
        "shadows": "warning",
        "ignored-field": "warning",
        "dead-link": "warning",
        "no-probe": "warning",
    }
)


def finding(
    code: str, path: str, line: int, text: str, fix: str = "", *, level: Level | None = None
) -> Finding:
    """A finding at the level of its code; path and texts from files are made printable."""
    return Finding(code, level or LEVELS[code], visible(path, 4096), line, visible(text, 400), fix)
