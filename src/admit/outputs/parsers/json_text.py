"""JSON and JSON lines: new keys, first and last elements of arrays, elements with an unusual key set."""

from __future__ import annotations

import functools
import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from admit.outputs.model import Parsed
from admit.outputs.parsers.sheet import Sheet

NAME: str = "json"
HINTS: tuple[str, ...] = ()

MAX_CHARS = 1_000_000
# Elements of more lines are neither marked whole nor a block: their parts are.
MOST_LINES = 40
# An element is unusual where its key set stands at most once in so many, among at least `LEAST` elements.
RARE_ONE_IN = 20
LEAST = 5

_OPEN, _CLOSE, _KEY = 1, 2, 3  # groups of a token


class _Container:
    """An open array or object; `path` is a number, the same for all elements of one array."""

    __slots__ = ("first", "head", "is_array", "keys", "objects", "path", "tail", "value_path")

    def __init__(self, is_array: bool, path: int, first: int) -> None:
        self.is_array = is_array
        self.path = path
        self.first = first  # the line it begins on
        self.value_path = path  # of the value that comes next
        self.keys: list[int] = []  # the paths of its members
        self.head: tuple[int, int] = (-1, -1)  # first and last line of an array's first element
        self.tail: tuple[int, int] = (-1, -1)  # and of its latest
        self.objects: list[tuple[int, int, frozenset[int]]] = []  # of its elements: first and last line, keys


def parse(lines: Sequence[str], text: str) -> Parsed | None:
    """Mark the structure of a text that is JSON, or mostly JSON lines. Over 1,000,000 characters: None."""
    start = text[:1000].lstrip()[:1] or " "
    if start not in "{[" or len(text) > MAX_CHARS:
        return None
    data = "".join(lines)  # a long line was cut up: without the line ends it is whole again
    documents = _whole(data) or _by_line(lines)
    if not documents:
        return None
    sheet = Sheet(NAME)
    _structure(sheet, lines, data, documents)
    return sheet.parsed()


def _whole(data: str) -> list[tuple[int, int]]:
    """Return where each document begins and ends, if the text is nothing but JSON documents."""
    decoder = json.JSONDecoder(strict=False)
    documents = []
    next_start = re.compile(r"\S")
    try:
        while found := next_start.search(data, documents[-1][1] if documents else 0):
            _, end = decoder.raw_decode(data, found.start())
            documents.append((found.start(), end))
    except (ValueError, RecursionError):
        return []
    return documents


def _by_line(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return where each line that is an object begins and ends, if at least half of the lines are."""
    documents = []
    filled = at = 0
    for line in lines:
        filled += bool(line.strip())
        if line.startswith("{") and line.rstrip().endswith("}"):
            try:
                json.loads(line, strict=False)
            except (ValueError, RecursionError):
                pass
            else:
                documents.append((at, at + len(line.rstrip())))
        at += len(line)
    return documents if len(documents) >= max(LEAST, filled / 2) else []


def _structure(sheet: Sheet, lines: Sequence[str], data: str, documents: list[tuple[int, int]]) -> None:
    line_ends = list(accumulate(map(len, lines)))
    paths: dict[tuple[int, str], int] = {}
    spans: list[tuple[int, int]] = []  # lines to be marked, in any order
    blocks: list[tuple[int, int]] = []
    root = _Container(len(documents) > 1, 0, 0)  # several documents are the elements of one array
    stack = [root]
    for begin, end in documents:
        for token in _token().finditer(data, begin, end):
            top = stack[-1]
            kind = token.lastindex or 0
            if kind == _KEY:
                key = (top.path, token[_KEY])
                path = paths.get(key)
                if path is None:
                    path = paths[key] = len(paths) + 1
                    sheet.mark(bisect_right(line_ends, token.start(_KEY)), "structure", "key")
                top.keys.append(path)
                top.value_path = path
            elif kind == _OPEN:
                is_array = token[_OPEN] == "["
                inner = _Container(is_array, top.value_path, bisect_right(line_ends, token.start(_OPEN)))
                if is_array:
                    inner.value_path = paths.setdefault((inner.path, ""), len(paths) + 1)
                stack.append(inner)
            elif kind == _CLOSE:
                stack.pop()
                last = bisect_right(line_ends, token.start(_CLOSE))
                if top.is_array:
                    _outline(top, spans)
                if stack[-1].is_array:
                    outer = stack[-1]
                    outer.tail = (top.first, last)
                    if outer.head[0] < 0:
                        outer.head = outer.tail
                    if not top.is_array:
                        outer.objects.append((top.first, last, frozenset(top.keys)))
                    if top.first < last < top.first + MOST_LINES:
                        while blocks and blocks[-1][0] >= top.first:
                            blocks.pop()
                        blocks.append((top.first, last))
            elif top.is_array:
                first = bisect_right(line_ends, token.start(kind))
                last = bisect_right(line_ends, token.end() - 1)
                top.tail = (last, last)
                if top.head[0] < 0:
                    top.head = (first, first)
    _outline(root, spans)
    painted = -1
    for first, last in sorted(spans):
        for i in range(max(first, painted + 1), last + 1):
            sheet.mark(i, "structure", "element")
        painted = max(painted, last)
    for first, last in blocks:
        sheet.block(first, last)


def _outline(array: _Container, spans: list[tuple[int, int]]) -> None:
    """Add the lines of an array's first, last and unusual elements; nothing for an array on one line."""
    if array.head[0] == array.tail[1]:
        return
    wanted = [array.head, array.tail]
    if len(array.objects) >= LEAST:
        counts = Counter(keys for _, _, keys in array.objects)
        if 2 * max(counts.values()) > len(array.objects):
            most = max(1, len(array.objects) // RARE_ONE_IN)
            wanted += [(first, last) for first, last, keys in array.objects if counts[keys] <= most]
    spans += [(first, last if last < first + MOST_LINES else first) for first, last in wanted]


@functools.cache
def _token() -> re.Pattern[str]:
    """Match a bracket, a key with its value if that is no container, or a run of such values in an array."""
    string = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
    scalar = rf'(?:{string}|[^\s"{{}}\[\],:]++)'
    return re.compile(
        rf"[\s,]*+(?:([{{\[])|([}}\]])|({string})\s*+:(?:\s*+{scalar})?|({scalar}(?:\s*+,\s*+{scalar})*+))",
        re.DOTALL,
    )
