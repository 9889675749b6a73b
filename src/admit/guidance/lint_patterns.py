"""What a pattern's own source tells about it: words too common, too short, or a reach without end."""

from __future__ import annotations

from collections.abc import Iterator

from admit.guidance.specificity import specificity

SHORT = 4
"""Literal characters below which a pattern without an anchor matches inside other words."""

COMMON_WORDS = frozenset(
    """
    branch bug build change check class clean code command comment commit config context data debug deploy
    design docs document error event fail feature file fix fixture flow form format function hook image import
    index install issue key language library line link list load lock log map memory merge message migration
    mock model module name network note open order package page patch path plan point pool process profile
    project prompt pull push query queue read record release remove rename report request review role root
    rule run save schema scope script search secret section server service session set setup shell skill
    source stage start state step store stream style switch table tag target task team template test text
    thread ticket time token tool trace track tree trigger type update upgrade user value version view way
    web work write
    """.split()  # noqa: SIM905 - a list of words reads better as words
)
"""Words of daily work on software that mean many things, so that one alone calls for nothing."""


def common_words(pattern: str) -> tuple[str, ...]:
    """The alternatives of a pattern that are one common word and nothing else, in their order."""
    found = []
    for text, _ in alternatives(pattern):
        word = text.removesuffix("?").removesuffix("s").lower() if text.endswith("s?") else text.lower()
        if word in COMMON_WORDS:
            found.append(word)
    return tuple(dict.fromkeys(found))


def short_words(pattern: str) -> tuple[str, ...]:
    """The alternatives with fewer than `SHORT` literal characters in a row and no anchor, in their order."""
    return tuple(
        text
        for text, anchored in alternatives(pattern)
        if not anchored and specificity(text, text.replace("\\", "")) < SHORT
    )


def has_dot_star(pattern: str) -> bool:
    """Whether a part of a pattern matches any text of any length."""
    return any(sign == "." and pattern[at + 1 : at + 2] in ("*", "+") for at, sign in _signs(pattern))


def alternatives(pattern: str, anchored: bool = False) -> Iterator[tuple[str, bool]]:
    """Each alternative of a pattern, and whether ``^``, ``$`` or ``\\b`` holds an end of it.

    Groups that are a whole alternative are opened; others stay as they are.
    """
    depth, start = 0, 0
    pieces = []
    for at, sign in _signs(pattern):
        depth += (sign == "(") - (sign == ")")
        if sign == "|" and depth == 0:
            pieces.append(pattern[start:at])
            start = at + 1
    for piece in (*pieces, pattern[start:]):
        bare = piece.removeprefix("(?i)")
        inner = bare.removeprefix("^").removeprefix("\\b")
        if inner.endswith("\\b") or (inner.endswith("$") and not inner.endswith("\\$")):
            inner = inner[:-2] if inner.endswith("\\b") else inner[:-1]
        held = anchored or inner != bare or bare.startswith("(^|") or bare.endswith("|$)")
        group = _whole_group(inner)
        if group is None:
            yield inner, held
        else:
            yield from alternatives(group, held)


def _whole_group(text: str) -> str | None:
    """What stands inside, where a text is one group from end to end."""
    depth = 0
    for at, sign in _signs(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            whole = sign == ")" and at == len(text) - 1
            inside = text[1:-1].removeprefix("?:") if whole else ""
            return inside if whole and not inside.startswith("?") else None
    return None


def _signs(pattern: str) -> Iterator[tuple[int, str]]:
    """Place and character outside of classes and escapes; an escape or a class gives its first character."""
    at = 0
    while at < len(pattern):
        char = pattern[at]
        yield at, char
        if char == "\\":
            at += 1
        elif char == "[":
            at += 2 if pattern[at + 1 : at + 2] == "^" else 1
            if pattern[at : at + 1] == "]":
                at += 1
            while at < len(pattern) and pattern[at] != "]":
                at += 2 if pattern[at] == "\\" else 1
        at += 1
