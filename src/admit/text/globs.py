"""Globs as RE2: ``*``, ``?``, ``[ ]``, ``{a,b}`` and ``**``, relative to the project's root."""

from __future__ import annotations

_SPECIAL = frozenset("\\.+*?()|[]{}^$")


def glob_regex(glob: str) -> str:
    """The RE2 pattern that matches a whole path relative to the project's root, with ``/`` between parts.

    Without a ``/`` the glob is held against the base name; ``**/`` is any folders, also none; a glob that
    ends in ``/`` is all below that folder. A bracket or brace that is never closed is itself.
    """
    glob = glob.strip().removeprefix("./")
    base_name = "/" not in glob
    if glob.endswith("/"):
        glob += "**"
    glob = glob.lstrip("/")
    prefix = "(?:.*/)?" if base_name else ""
    return f"^{prefix}{_translated(glob)}$"


def _translated(glob: str) -> str:
    found: list[str] = []
    place, braces = 0, 0
    closing = _brace_pairs(glob)
    while place < len(glob):
        char = glob[place]
        if char == "*":
            stars = len(glob[place:]) - len(glob[place:].lstrip("*"))
            place += stars
            if stars == 1:
                found.append("[^/]*")
            elif glob[place : place + 1] == "/":
                found.append("(?:.*/)?")
                place += 1
            else:
                found.append(".*")
            continue
        if char == "[" and (end := _class_end(glob, place)) > 0:
            inner = glob[place + 1 : end]
            negated = inner[:1] in ("!", "^")
            body = inner[1:] if negated else inner
            body = body.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
            # A class never crosses into another folder.
            found.append(f"[^/{body}]" if negated else f"[{body}]")
            place = end + 1
            continue
        if char == "{" and place in closing:
            found.append("(?:")
            braces += 1
        elif char == "}" and place in closing.values():
            found.append(")")
            braces -= 1
        elif char == "," and braces:
            found.append("|")
        elif char == "?":
            found.append("[^/]")
        else:
            found.append("\\" + char if char in _SPECIAL else char)
        place += 1
    return "".join(found)


def _class_end(glob: str, start: int) -> int:
    """Where the class closes that opens here, or -1; a ``]`` right after the opening is one of its own."""
    first = start + 1 + (glob[start + 1 : start + 2] in ("!", "^"))
    return glob.find("]", first + 1) if first < len(glob) else -1


def _brace_pairs(glob: str) -> dict[int, int]:
    """Places of opening braces that are closed, with the place of the closing one."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    place = 0
    while place < len(glob):
        if glob[place] == "[" and (end := _class_end(glob, place)) > 0:
            place = end
        elif glob[place] == "{":
            opened.append(place)
        elif glob[place] == "}" and opened:
            pairs[opened.pop()] = place
        place += 1
    return pairs
