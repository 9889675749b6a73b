"""Lines and columns of byte offsets, asked in ascending order so that each byte is looked at once."""

from __future__ import annotations

import re


def line_feeds(data: bytes) -> bytes:
    """The bytes with a line feed for each lone CR, as lines are those of CommonMark; no byte moves."""
    return re.sub(rb"\r(?!\n)", b"\n", data) if b"\r" in data else data


def in_lines(text: str) -> str:
    """The same of a text."""
    return re.sub(r"\r(?!\n)", "\n", text) if "\r" in text else text


class Cursor:
    """Goes through UTF-8 text once. Lines end with LF, CRLF or a lone CR, as in CommonMark."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._lines = line_feeds(data)
        self._ascii = data.isascii()
        self._at, self._line, self._column = 0, 1, 1

    def move(self, offset: int) -> tuple[int, int]:
        """Line and column, in characters and from 1, of an offset that is not before the last one asked."""
        ends = self._lines.count(b"\n", self._at, offset)
        if ends:
            self._line += ends
            self._column = 1
            self._at = self._lines.rfind(b"\n", self._at, offset) + 1
        skipped = offset - self._at
        if not self._ascii:
            skipped = len(self._data[self._at : offset].decode("utf-8", "ignore"))
        self._column += skipped
        self._at = offset
        return self._line, self._column

    def line(self, offset: int) -> int:
        """The line alone; columns cannot be asked after it."""
        self._line += self._lines.count(b"\n", self._at, offset)
        self._at = offset
        return self._line
