"""Front matter: the `key: value` block between two `---` lines at the top of a file of guidance.

One reading serves loading, lint and every command. YAML 1.1 events are read, and never its objects: each
scalar stays the text it is, so that `no`, `2024-01-01` and `0.15` need no guess. Anchors may stand, aliases
may not. Where YAML fails, each top-level key is read by itself, and where that fails, what follows its colon
is taken as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

MAX_BYTES = 16 * 1024
MAX_DEPTH = 8

Value = str | list[Any] | dict[str, Any]


class Problem(NamedTuple):
    """What is wrong with the front matter, at a line from 1, under a lint code.

    Attributes:
        outcome: How it was read all the same, to follow `text`; who does not use the fields leaves it out.
    """

    code: str
    line: int
    text: str
    fix: str
    outcome: str = ""


class FrontMatter(NamedTuple):
    """The front matter of one file.

    Attributes:
        fields: Values by key in the order of the file: texts, lists, or mappings of the same.
        lines: Line of each key, from 1.
        body_at: Code points of the text before the body.
        too_large: It is over `MAX_BYTES` and was not read.
    """

    fields: Mapping[str, Value]
    lines: Mapping[str, int]
    body_at: int
    problems: tuple[Problem, ...] = ()
    too_large: bool = False

    def text(self, key: str) -> str:
        """A value as one text, without white space around it; a list joined by commas; else empty."""
        return ", ".join(self.texts(key))

    def texts(self, key: str) -> tuple[str, ...]:
        """The texts under a key: one, or those of a list; empty ones and mappings are left out."""
        value = self.fields.get(key, "")
        items = value if isinstance(value, list) else [value]
        return tuple(item.strip() for item in items if isinstance(item, str) and item.strip())

    def flag(self, key: str) -> bool:
        """Whether a value is one of YAML's words for true."""
        return self.text(key).lower() in ("true", "yes", "on")


def parse(text: str) -> FrontMatter:
    """Read the front matter of a text; one without has no fields and is all body. Nothing is raised.

    It opens on the first line, which a byte order mark may precede, and ends at the next line that is `---`;
    lines end with LF or CRLF. The first of duplicate keys counts.
    """
    start = 1 if text.startswith("\ufeff") else 0
    opening = _opening().match(text, start)
    if opening is None:
        return FrontMatter({}, {}, start)
    closing = _closing().search(text, opening.end())
    if closing is None:
        unclosed = Problem("front-matter-unclosed", 1, "has no closing --- line", "add a line that is ---")
        meant = _key().match(text, opening.end()) is not None
        return FrontMatter({}, {}, start, (unclosed,) if meant else ())
    block = text[opening.end() : closing.start()]
    if len(block.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        return FrontMatter({}, {}, closing.end(), too_large=True)
    try:
        fields, lines, problems = _read(block, 2)
    except _Refused as refused:
        return _recovered(block, refused, closing.end(), start)
    return FrontMatter(fields, lines, closing.end(), problems)


class _Refused(Exception):
    """YAML that is not read, with the line of the file where it fails; `is_list` is one without a fault."""

    def __init__(self, text: str, line: int, *, is_list: bool = False) -> None:
        super().__init__(text)
        self.line = line
        self.is_list = is_list


def _read(block: str, first: int) -> tuple[dict[str, Value], dict[str, int], tuple[Problem, ...]]:
    """Fields, lines and problems of a block whose first line is line `first` of the file.

    Raises:
        _Refused: It is no YAML, no mapping, too deep, or holds an alias.
    """
    import yaml

    fields: dict[str, Value] = {}
    lines: dict[str, int] = {}
    problems: list[Problem] = []
    try:
        events: Iterator[Any] = yaml.parse(block, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        for event in events:
            if isinstance(event, yaml.MappingStartEvent):
                break
            if isinstance(event, yaml.SequenceStartEvent):
                list(events)  # prose may begin like a list, and fails on the way
                raise _Refused("it is a list", event.start_mark.line, is_list=True)
            if not isinstance(event, (yaml.StreamStartEvent, yaml.DocumentStartEvent, yaml.StreamEndEvent)):
                raise _Refused("no key comes first", event.start_mark.line)
        for key, line, value in _pairs(events, 1):
            if key in fields:
                problems.append(_duplicate(key, first + line, lines[key]))
            else:
                fields[key], lines[key] = value, first + line
        if any(isinstance(event, yaml.DocumentStartEvent) for event in events):
            raise _Refused("a second document begins", 0)
    except _Refused as refused:
        raise _Refused(str(refused), first + refused.line, is_list=refused.is_list) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _Refused(str(error.problem or error.context), first + (mark.line if mark else 0)) from None
    except (yaml.YAMLError, ValueError):  # ValueError: halves of surrogate pairs do not encode
        raise _Refused("it holds characters that YAML forbids", first) from None
    return fields, lines, tuple(problems)


def _pairs(events: Iterator[Any], depth: int) -> Iterator[tuple[str, int, Value]]:
    """Key, line from 0, and value of each pair of a mapping that has begun."""
    import yaml

    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            return
        if not isinstance(event, yaml.ScalarEvent):
            raise _Refused("a key is not a word", event.start_mark.line)
        yield _text(event), event.start_mark.line, _value(next(events), events, depth)


def _value(event: Any, events: Iterator[Any], depth: int) -> Value:
    import yaml

    if isinstance(event, yaml.ScalarEvent):
        plain = event.implicit[0]
        return "" if plain and event.value in ("~", "null", "Null", "NULL") else _text(event)
    if isinstance(event, yaml.AliasEvent):
        raise _Refused("an alias is not read", event.start_mark.line)
    if depth >= MAX_DEPTH:
        raise _Refused(f"it is nested deeper than {MAX_DEPTH}", event.start_mark.line)
    if isinstance(event, yaml.MappingStartEvent):
        nested: dict[str, Value] = {}
        for key, _, value in _pairs(events, depth + 1):
            nested.setdefault(key, value)
        return nested
    items: list[Value] = []
    for item in events:
        if isinstance(item, yaml.SequenceEndEvent):
            break
        items.append(_value(item, events, depth + 1))
    return items


def _text(event: Any) -> str:
    """A scalar's text. Escapes can write what no file may hold, and no path or encoding takes."""
    if _forbidden().search(event.value):
        raise _Refused("a value holds NUL, or half of a character", event.start_mark.line)
    return event.value


def _recovered(block: str, refused: _Refused, body_at: int, start: int) -> FrontMatter:
    """Each top-level key with the lines that belong to it, read by itself or else as it stands."""
    fields: dict[str, Value] = {}
    lines: dict[str, int] = {}
    if refused.is_list:
        listed = Problem(
            "front-matter-recovered", refused.line, "is a list and has no keys", "write it as key: value"
        )
        return FrontMatter({}, {}, body_at, (listed,))
    text, fix = f"is not YAML ({refused})", "put the value in single quotes"
    outcome = ", so its keys were read one by one"
    problems = [Problem("front-matter-recovered", refused.line, text, fix, outcome)]
    keys = list(_key().finditer(block))
    if not keys:
        return FrontMatter({}, {}, start)  # prose between two rules
    ends = [*(key.start() for key in keys[1:]), len(block)]
    line, at = 2, 0
    for match, end in zip(keys, ends, strict=True):
        line, at = line + block.count("\n", at, match.start()), match.start()
        key = match.group(1)
        if key in fields:
            problems.append(_duplicate(key, line, lines[key]))
            continue
        try:
            value = _read(block[at:end], line)[0][key]
        except (_Refused, KeyError):
            value = match.group(2).strip()
        fields[key], lines[key] = value, line
    return FrontMatter(fields, lines, body_at, tuple(problems))


def _duplicate(key: str, line: int, first: int) -> Problem:
    text = f"says {key} again, after line {first}"
    return Problem("duplicate-key", line, text, "keep one of them", f"; line {first} counts")


@lru_cache(maxsize=1)
def _forbidden() -> re.Pattern[str]:
    return re.compile("[\0\ud800-\udfff]")


@lru_cache(maxsize=1)
def _opening() -> re.Pattern[str]:
    return re.compile(r"---[ \t]*\r?\n")


@lru_cache(maxsize=1)
def _closing() -> re.Pattern[str]:
    return re.compile(r"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)


@lru_cache(maxsize=1)
def _key() -> re.Pattern[str]:
    return re.compile(r"^([A-Za-z_][\w.-]*)[ \t]*:(?=[ \t\r\n]|\Z)([^\r\n]*)", re.MULTILINE)
