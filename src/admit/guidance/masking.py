"""Text with what a person only quotes blanked out, its length kept."""

from __future__ import annotations

import re
from functools import lru_cache


def masked(text: str) -> str:
    """The text with code fences, inline code, URLs and quoted lines replaced by spaces, line ends kept.

    A fence that is never closed runs to the end, as CommonMark has it; inline code stays within a line.
    """
    return _inline().sub(_blank, _lines_masked(text))


def _lines_masked(text: str) -> str:
    kept: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        sign = _fence().match(line)
        if fence:
            kept.append(_blank_text(line))
            if sign and sign[1].startswith(fence) and not line[sign.end() :].strip():
                fence = ""
        elif sign:
            fence = sign[1]
            kept.append(_blank_text(line))
        elif line.lstrip(" ").startswith(">"):
            kept.append(_blank_text(line))
        else:
            kept.append(line)
    return "".join(kept)


def _blank(found: re.Match[str]) -> str:
    return _blank_text(found[0])


def _blank_text(text: str) -> str:
    return "".join(char if char in "\r\n" else " " for char in text)


@lru_cache(maxsize=1)
def _fence() -> re.Pattern[str]:
    return re.compile(r" {0,3}(`{3,}|~{3,})")


@lru_cache(maxsize=1)
def _inline() -> re.Pattern[str]:
    return re.compile(r"``[^`\r\n]+``|`[^`\r\n]+`|\b(?:https?|ftp|file|ssh|git)://[^\s<>\"']+", re.IGNORECASE)
