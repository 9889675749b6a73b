"""JSON lines of any size as a host writes them, read one at a time.

A line ends at a line feed and nowhere else (U+2028 is text). A byte order mark, carriage returns and blank
lines are tolerated, invalid bytes become U+FFFD, lone surrogates of JSON escapes stay. The last line may be
unfinished, because the host is still writing: its start is kept as the place to go on from.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO

MOST_BYTES = 64 << 20
"""Longest line that is read, in bytes."""

_BLOCK = 1 << 20
_BOM = b"\xef\xbb\xbf"


class JsonLines:
    """The JSON objects of one file, in order.

    Attributes:
        offset: Bytes up to the end of the last whole line; where to go on when the file has grown.
        counts: Lines that were left out: ``too_long``, ``broken`` (no JSON object), ``unfinished``.
    """

    def __init__(self, file: BinaryIO, *, offset: int = 0, most_bytes: int = MOST_BYTES) -> None:
        """Read from `offset` on, or from the start where the file is shorter than that: it was replaced.

        A file just opened needs no position, so one that cannot be searched can be read from the start.
        """
        self.counts: Counter[str] = Counter()
        self.offset = 0
        if offset:
            self.offset = offset if offset <= file.seek(0, os.SEEK_END) else 0
            file.seek(self.offset)
        self._file = file
        self._most = most_bytes

    def __iter__(self) -> Iterator[dict[str, Any]]:
        file = self._file
        while raw := file.readline(self._most + 1):
            ended = raw.endswith(b"\n")
            if not ended and len(raw) > self._most:
                ended, length = self._skip(len(raw))
                self.counts["too_long" if ended else "unfinished"] += 1
                self.offset += length if ended else 0
                continue
            value = _parsed(raw.removeprefix(_BOM) if self.offset == 0 else raw)
            if value is None and not ended:
                self.counts["unfinished"] += 1
                return
            self.offset += len(raw)
            if value is not None:
                yield value
            elif raw.strip(b"\r\n \t" + _BOM):
                self.counts["broken"] += 1

    def _skip(self, length: int) -> tuple[bool, int]:
        """Go to the end of a line that is too long; whether it has one, and its length in bytes."""
        while part := self._file.readline(_BLOCK):
            length += len(part)
            if part.endswith(b"\n"):
                return True, length
        return False, length


def _parsed(raw: bytes) -> dict[str, Any] | None:
    """The object of one line; None for anything else."""
    try:
        value = json.loads(raw.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
