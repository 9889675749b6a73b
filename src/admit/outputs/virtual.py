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
    """Pieces whose join is `line`, each at most 600 characters, short escape sequences not counted.

    A line that parses as JSON is cut after elements and members; any other after white space, a comma, a
    semicolon or a `>` from character 400 on; where none stands, at 600. A cut falls between code points,
    and not inside a short escape sequence.
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
    # The three atoms exclude one another: an ambiguous pattern would backtrack without end.
    colour = r"\x1b\[[0-9;]{0,16}[A-Za-z]"
    atom = rf"(?:{colour}|[^\x1b]|\x1b(?!{colour[4:]}))"
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
