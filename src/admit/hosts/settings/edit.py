"""Insert and remove one value in a JSON text; everything outside its span stays as it is, byte for byte.

A value is always put last in its container, so that taking it out again gives the bytes of before. White
space, line ends and indentation follow the container's last item.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from admit.errors import SettingsError

from .spans import MARK, Node, parse, place

Path = tuple[str | int, ...]
UNIT = "  "


class Undo(NamedTuple):
    """What must be known to take everything out again.

    Attributes:
        absent: Containers that were not there before, as JSON pointers (RFC 6901).
        literal: The text of containers that were empty, by pointer; the whole document is the empty pointer.
    """

    absent: tuple[str, ...] = ()
    literal: Mapping[str, str] = {}

    def then(self, later: Undo) -> Undo:
        """Both, where what was found first counts."""
        fresh = tuple(one for one in later.absent if one not in self.absent and one not in self.literal)
        known = {*self.absent, *fresh}
        literal = {name: text for name, text in later.literal.items() if name not in known}
        return Undo(self.absent + fresh, {**literal, **self.literal})


class _Style(NamedTuple):
    """How a file is laid out: unit of indentation, line end, and what stands after a comma and a key."""

    unit: str
    newline: str
    comma: str
    colon: str


def pointer(path: Sequence[str | int]) -> str:
    """The JSON pointer of a path."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def at(node: Node, path: Path) -> Node | None:
    """The value at a path, or None where there is none."""
    for part in path:
        index = node.find(part)
        if index is None:
            return None
        node = node.items[index].node
    return node


def append(text: str, path: Sequence[str], value: Any) -> tuple[str, Undo]:
    """Put a value last in the array at a path of keys, whose containers are made where there are none.

    Raises:
        SettingsError: The text is not JSON, or what stands on the path is not a container of that kind.
    """
    style = _style(text)
    root = parse(text)
    inner: Any = [value]
    if root is None:
        for key in reversed(path):
            inner = {key: inner}
        mark = MARK if text.startswith(MARK) else ""
        made = tuple(pointer(path[: k + 1]) for k in range(len(path)))
        new = f"{mark}{_render(inner, style, '')}{style.newline}"
        return new, Undo(made, {"": text.removeprefix(MARK)})
    node, depth = root, 0
    while depth < len(path):
        _check(text, node, dict, path[:depth])
        below = at(node, (path[depth],))
        if below is None:
            break
        node, depth = below, depth + 1
    if depth == len(path):
        _check(text, node, list, path)
        item, inner = None, value
    else:
        item = path[depth]
        for key in reversed(path[depth + 1 :]):
            inner = {key: inner}
    made = tuple(pointer(path[: k + 1]) for k in range(depth, len(path)))
    literal = {} if node.items else {pointer(path[:depth]): text[node.start : node.end]}
    return _insert(text, root, node, item, inner, style), Undo(made, literal)


def replace(text: str, path: Path, value: Any) -> str:
    """Put another value in the place of the one at a path.

    Raises:
        SettingsError: The text is not JSON.
        KeyError: There is nothing at the path.
    """
    node = _node(text, path)
    lines = "\n" in text[node.start : node.end]
    new = _render(value, _style(text), _indent(text, node.start) if lines else None)
    return text[: node.start] + new + text[node.end :]


def put_literal(text: str, path: Path, literal: str) -> str:
    """Put a text in the place of the value at a path.

    Raises:
        SettingsError: The text is not JSON.
        KeyError: There is nothing at the path.
    """
    node = _node(text, path)
    return text[: node.start] + literal + text[node.end :]


def remove(text: str, path: Path) -> str:
    """Take an element or a member out of its container, which stays, if empty.

    Raises:
        SettingsError: The text is not JSON.
        KeyError: There is nothing at the path.
    """
    container, last = _node(text, path[:-1]), path[-1]
    items, index = container.items, container.find(last)
    if index is None:
        raise KeyError(pointer(path))
    if len(items) == 1:
        start, end = container.start + 1, container.end - 1
    elif index == len(items) - 1:
        start, end = items[index - 1].node.end, items[index].node.end
    else:
        start, end = items[index].start, items[index + 1].start
    return text[:start] + text[end:]


def _node(text: str, path: Path) -> Node:
    root = parse(text)
    node = at(root, path) if root is not None else None
    if node is None:
        raise KeyError(pointer(path))
    return node


def _check(text: str, node: Node, kind: type, path: Sequence[str]) -> None:
    if not isinstance(node.value, kind):
        line, column = place(text, node.start)
        name = f'"{path[-1]}"' if path else "the file"
        what = "an object" if kind is dict else "an array"
        raise SettingsError(f"{name} is not {what}", line=line, column=column)


def _insert(text: str, root: Node, node: Node, key: str | None, value: Any, style: _Style) -> str:
    """Put a value last in a container; `key` is None in an array."""
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + style.colon
    if not node.items:
        if "\n" not in text[root.start : root.end] and root.items:
            inner = name + _render(value, style, None)
        else:
            outer = _indent(text, node.start)
            indent = outer + style.unit
            inner = f"{style.newline}{indent}{name}{_render(value, style, indent)}{style.newline}{outer}"
        return text[: node.start + 1] + inner + text[node.end - 1 :]
    end = node.items[-1].node.end
    before = _before_last(text, node)
    _, newline, indent = before.rpartition("\n")
    if newline:
        new = f",{style.newline}{indent}{name}{_render(value, style, indent)}"
    else:
        new = f",{style.comma if len(node.items) == 1 else before}{name}{_render(value, style, None)}"
    return text[:end] + new + text[end:]


def _before_last(text: str, node: Node) -> str:
    """The white space in front of a container's last item."""
    last = node.items[-1].start
    begin = node.items[-2].node.end if len(node.items) > 1 else node.start
    between = text[begin:last]
    return between[len(between.rstrip(" \t\r\n")) :]


def _style(text: str) -> _Style:
    newline = "\r\n" if "\r\n" in text else "\n"
    root = parse(text)
    if root is None or not root.items:
        return _Style(UNIT, newline, " ", ": ")
    first = root.items[0]
    _, lines, indent = text[root.start + 1 : first.start].rpartition("\n")
    spaced = first.key is None or text[first.node.start - 1].isspace()
    return _Style(
        indent if lines and indent else UNIT, newline, " " if spaced else "", ": " if spaced else ":"
    )


def _indent(text: str, at: int) -> str:
    """The white space that opens the line of a place."""
    begin = text.rfind("\n", 0, at) + 1
    begin += text.startswith(MARK, begin)
    line = text[begin:at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _render(value: Any, style: _Style, indent: str | None) -> str:
    """A value as JSON: on one line where `indent` is None, else with its lines indented from there."""
    plain = not isinstance(value, (dict, list)) or not value
    if plain or indent is None or (isinstance(value, list) and _is_flat(value)):
        colon, comma = style.colon, f",{style.comma if indent is None else ' '}"
        return json.dumps(value, ensure_ascii=False, separators=(comma, colon))
    inner = indent + style.unit
    if isinstance(value, dict):
        rows = [
            f"{json.dumps(key, ensure_ascii=False)}{style.colon}{_render(one, style, inner)}"
            for key, one in value.items()
        ]
        opening, closing = "{", "}"
    else:
        rows = [_render(one, style, inner) for one in value]
        opening, closing = "[", "]"
    lines = f",{style.newline}{inner}".join(rows)
    return f"{opening}{style.newline}{inner}{lines}{style.newline}{indent}{closing}"


def _is_flat(value: list[Any]) -> bool:
    return not any(isinstance(one, (dict, list)) for one in value)
