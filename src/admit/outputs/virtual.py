"""Virtual lines: one very long line cut where a reader would cut it."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator

LEAST = 400
MOST = 600
# An element of an array of records is a line of its own from this length on.
LEAST_ELEMENT = 40
# Beyond this a line is not tried as JSON: parsing it only to learn that it ends early costs too much.
JSON_MOST = 4_000_000


def pieces(line: str) -> Iterator[str]:
    """Pieces whose join is `line`, each at most 600 characters, a short escape sequence counted as one.

    A line that parses as JSON is cut after elements and members; any other after white space, a comma, a
    semicolon or a `>` from character 400 on; where none stands, at 600. A cut falls between code points,
    and never inside a short escape sequence.
    """
    if line[:1] in "{[" and len(line) <= JSON_MOST and _parses(line):
        yield from _json_pieces(line)
    else:
        yield from _text_pieces(line)


def _text_pieces(text: str) -> Iterator[str]:
    for match in _text_pattern().finditer(text):
        yield match.group()


@functools.cache
def _text_pattern() -> re.Pattern[str]:
    # What `text.ansi` removes, as far as it is short. Atomic: given back in part it would be cut in two.
    control = r"\[[0-?]{0,32}[ -/]{0,8}[@-~]?"
    string = r"[\]PX^_][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)"
    atom = rf"(?>\x1b(?:{control}|{string}|[ -/]{{0,8}}[0-~]?)|[^\x1b])"
    return re.compile(rf"{atom}{{{LEAST - 1},{MOST - 1}}}?[\s,;>]|{atom}{{1,{MOST}}}")


@functools.cache
def _json_pattern() -> re.Pattern[str]:
    return re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[}\]],|,')


def _json_pieces(line: str) -> Iterator[str]:
    begin = 0
    for match in _json_pattern().finditer(line):
        if line[match.start()] == '"':
            continue
        end = match.end()
        least = LEAST_ELEMENT if end - match.start() == 2 else LEAST
        if end - begin >= least:
            yield from _bounded(line[begin:end])
            begin = end
    if begin < len(line):
        yield from _bounded(line[begin:])


def _bounded(piece: str) -> Iterator[str]:
    if len(piece) <= MOST:
        yield piece
    else:
        yield from _text_pieces(piece)


def _parses(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True
