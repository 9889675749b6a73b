"""A strict JSON reader (RFC 8259) that keeps where everything stands in the text.

Comments, trailing commas and duplicate keys are errors here: a host ignores a whole file that has one, and of
two equal keys nobody knows which one counts.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, NoReturn

from admit.errors import SettingsError

MARK = "\ufeff"
MOST_DEPTH = 64

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null", re.ASCII)


class Item(NamedTuple):
    """An element of an array or a member of an object.

    Attributes:
        start: Of the element, or of the member's key.
        key: None in an array.
        node: The value.
    """

    start: int
    key: str | None
    node: Node


class Node(NamedTuple):
    """A value: what it is, where it starts and ends in the text, and what it holds, in order."""

    value: Any
    start: int
    end: int
    items: tuple[Item, ...] = ()

    def find(self, step: str | int) -> int | None:
        """The place of a member by its key or of an element by its number; None where there is none."""
        if isinstance(self.value, list):
            return step if isinstance(step, int) and 0 <= step < len(self.items) else None
        return next((k for k, item in enumerate(self.items) if item.key == step), None)


def parse(text: str) -> Node | None:
    """The value of a JSON text; None where there is nothing but white space.

    Raises:
        SettingsError: It is not JSON, has a duplicate key, or is nested deeper than 64; with line and column.
    """
    start = skip(text, len(MARK) if text.startswith(MARK) else 0)
    if start == len(text):
        return None
    node = _value(text, start, 0)
    end = skip(text, node.end)
    if end < len(text):
        _refuse(text, end, "something after the end of the JSON")
    return node


def skip(text: str, at: int) -> int:
    """The first place from `at` on that is no white space."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def place(text: str, at: int) -> tuple[int, int]:
    """Line and column of a place, from 1, in characters; a mark at the start of the text does not count."""
    line = text.count("\n", 0, at) + 1
    begin = text.rfind("\n", 0, at) + 1
    mark = 1 if line == 1 and text.startswith(MARK) else 0
    return line, at - begin + 1 - mark


def _value(text: str, at: int, depth: int) -> Node:
    if depth > MOST_DEPTH:
        _refuse(text, at, f"nested deeper than {MOST_DEPTH}")
    first = text[at : at + 1]
    if first == '"':
        value, end = _string(text, at)
        return Node(value, at, end)
    if first == "{" or first == "[":
        return _container(text, at, depth)
    found = _PLAIN.match(text, at)
    if found is None:
        _refuse(text, at, _what(text, at))
    try:
        return Node(json.loads(found.group()), at, found.end())
    except ValueError:
        _refuse(text, at, "a number with too many digits")


def _container(text: str, at: int, depth: int) -> Node:
    is_object = text[at] == "{"
    closing = "}" if is_object else "]"
    start, items, keys = at, [], set()
    at = skip(text, at + 1)
    closed = text[at : at + 1] == closing
    while not closed:
        begin, key = at, None
        if is_object:
            key, at = _key(text, at)
            if key in keys:
                _refuse(text, begin, f"the key {json.dumps(key)} stands here a second time")
            keys.add(key)
        node = _value(text, at, depth + 1)
        items.append(Item(begin, key, node))
        at = skip(text, node.end)
        closed = text[at : at + 1] == closing
        if not closed:
            at = _after_comma(text, at, closing)
    pairs = [(item.key, item.node.value) for item in items]
    value = dict(pairs) if is_object else [one for _, one in pairs]
    return Node(value, start, at + 1, tuple(items))


def _after_comma(text: str, at: int, closing: str) -> int:
    if text[at : at + 1] != ",":
        _refuse(text, at, _what(text, at, f"a comma or {closing} is missing"))
    after = skip(text, at + 1)
    if text[after : after + 1] == closing:
        _refuse(text, at, f"a comma before {closing}")
    return after


def _key(text: str, at: int) -> tuple[str, int]:
    if text[at : at + 1] != '"':
        _refuse(text, at, _what(text, at, "a key in double quotes is missing"))
    key, at = _string(text, at)
    at = skip(text, at)
    if text[at : at + 1] != ":":
        _refuse(text, at, _what(text, at, "a colon is missing"))
    return key, skip(text, at + 1)


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        _refuse(text, min(error.pos, len(text)), f"{error.msg[0].lower()}{error.msg[1:]}")


def _what(text: str, at: int, otherwise: str = "not a JSON value") -> str:
    if at >= len(text):
        return "the text ends too early"
    if text.startswith(("//", "/*", "#"), at):
        return "a comment, which JSON does not have"
    return otherwise


def _refuse(text: str, at: int, message: str) -> NoReturn:
    line, column = place(text, at)
    raise SettingsError(message, line=line, column=column)
