"""JSON with comments and trailing commas, and one member put in or taken out by span.

Outside that span every byte stays, comments included.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from admit.core.events import parse

MARK = "\ufeff"
_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


def plain(text: str) -> str:
    """The text as strict JSON of the same length: a space for each character that JSON has not."""
    if text.startswith(MARK):
        text = f" {text[1:]}"
    return _trailing().sub(lambda found: found[1] or " ", _without_comments(text))


def _without_comments(text: str) -> str:
    def blank(found: re.Match[str]) -> str:
        return found[1] or "".join("\n" if char == "\n" else " " for char in found[0])

    return _comments().sub(blank, text)


def read(text: str) -> Any:
    """The value of a text; None where there is nothing in it.

    Raises:
        ValueError: It is not JSON, or has a key twice.
    """
    strict = plain(text)
    return parse(strict) if strict.strip() else None


def put(text: str, path: tuple[str, str], value: Any) -> str:
    """Put a value under two keys, in place of one that is there, else last in its object.

    Raises:
        ValueError: The text is not JSON, or what stands on the path is no object.
    """
    if not plain(text).strip():
        return f"{json.dumps({path[0]: {path[1]: value}}, indent=2, ensure_ascii=False)}\n"
    outer = _object(text, ())
    if path[0] not in outer.members:
        return _insert(text, outer, path[0], {path[1]: value}, "")
    inner = _object(text, path[:1])
    if path[1] in inner.members:
        _, start, end = inner.members[path[1]]
        return text[:start] + _rendered(value, _indent(text, inner.members[path[1]][0])) + text[end:]
    return _insert(text, inner, path[1], value, _indent(text, outer.members[path[0]][0]))


def take(text: str, path: tuple[str, str]) -> str:
    """Take the member under two keys out; its object stays.

    Raises:
        ValueError: The text is not JSON, or what stands on the path is no object.
        KeyError: There is no such member.
    """
    inner = _object(text, path[:1])
    names = list(inner.members)
    at = names.index(path[1]) if path[1] in names else -1
    if at < 0:
        raise KeyError(path[1])
    key, _, end = inner.members[path[1]]
    last = at + 1 == len(names)
    comma = _comma(text, end, inner.end - 1 if last else inner.members[names[at + 1]][0])
    if not last:
        return text[:key] + text[_skip(text, comma + 1) :]
    if not at:
        return text[:key] + text[(end if comma < 0 else comma + 1) :]
    before = _comma(text, inner.members[names[at - 1]][2], key)
    between = text[before + 1 : key]
    between = between if between.strip(_SPACE) else ""  # a comment stays, with the line that ends it
    if comma >= 0:  # that of the one before now trails
        return text[: before + 1] + between + text[comma + 1 :]
    return text[:before] + between + text[end:]


class _Object:
    """Where an object and its members stand: key, value and end of the value, by name."""

    def __init__(self, start: int, end: int, members: dict[str, tuple[int, int, int]]) -> None:
        self.start = start
        self.end = end
        self.members = members


def _object(text: str, path: tuple[str, ...]) -> _Object:
    strict = plain(text)
    parse(strict)  # what is no JSON, or has a key twice, is refused as a whole
    at = len(strict) - len(strict.lstrip())
    found = _members(strict, at)
    for name in path:
        if name not in found.members:
            raise ValueError(f"has no {name}")
        found = _members(strict, found.members[name][1])
    return found


def _members(strict: str, start: int) -> _Object:
    if strict[start] != "{":
        raise ValueError("holds something else where an object is needed")
    members: dict[str, tuple[int, int, int]] = {}
    at = start + 1
    while (at := _skip(strict, at)) < len(strict) and strict[at] != "}":
        if strict[at] == ",":
            at += 1
            continue
        name, after = _DECODER.raw_decode(strict, at)
        value = _skip(strict, _skip(strict, after) + 1)
        end = _DECODER.raw_decode(strict, value)[1]
        members[name] = (at, value, end)
        at = end
    return _Object(start, at + 1, members)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _insert(text: str, into: _Object, key: str, value: Any, outer: str) -> str:
    indent = outer + "  "
    if into.members:
        first, _, _ = next(iter(into.members.values()))
        indent = _indent(text, first)
    member = f"{json.dumps(key, ensure_ascii=False)}: {_rendered(value, indent)}"
    if not into.members:
        return f"{text[: into.start + 1]}\n{indent}{member}\n{outer}{text[into.end - 1 :]}"
    end = list(into.members.values())[-1][2]
    comma = _comma(text, end, into.end - 1)
    if comma >= 0:  # a trailing comma: it now stands between the two, and another trails
        return f"{text[: comma + 1]}\n{indent}{member},{text[comma + 1 :]}"
    return f"{text[:end]},\n{indent}{member}{text[end:]}"


def _comma(text: str, start: int, end: int) -> int:
    """Where the comma between two places is; -1 where none is."""
    at = _without_comments(text[start:end]).find(",")
    return at + start if at >= 0 else -1


def _rendered(value: Any, indent: str) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", f"\n{indent}")


def _indent(text: str, at: int) -> str:
    """The white space that opens the line of a place."""
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip(MARK)
    return line[: len(line) - len(line.lstrip(" \t"))]


def pairs(text: str) -> Iterator[tuple[str, Any]]:
    """The members of the object that a text holds.

    Raises:
        ValueError: It holds none.
    """
    value = read(text)
    if value is None:
        return
    if not isinstance(value, dict):
        raise ValueError("holds no object")
    yield from value.items()


# In both a string is matched whole, so that what is inside one stays.
@lru_cache(maxsize=1)
def _comments() -> re.Pattern[str]:
    return re.compile(r"""("(?:[^"\\]|\\.)*"?)|//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)""", re.DOTALL)


@lru_cache(maxsize=1)
def _trailing() -> re.Pattern[str]:
    return re.compile(r"""("(?:[^"\\]|\\.)*"?)|,(?=\s*[}\]])""", re.DOTALL)
