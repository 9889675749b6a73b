"""References nothing follows: without a definition, and definitions unused or standing twice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

_LABEL_BYTES = 4 * 999  # a label has at most 999 characters
_PREFIX_BYTES = 256


def normal(label: str) -> str:
    """A label as CommonMark compares it: case folded, white space collapsed."""
    return " ".join(label.split()).casefold()


def unused(definitions: Mapping[str, Any], used: Iterable[str]) -> list[int]:
    """Offsets (bytes) of the definitions that no link refers to."""
    known = set(map(normal, used))
    return [each["span"]["start"] for label, each in definitions.items() if normal(label) not in known]


def duplicates(data: bytes, definitions: Mapping[str, Any], options: Any) -> list[int]:
    """Offsets (bytes) of definitions whose label an earlier one has.

    The parser keeps only the first of a label. So whatever looks like a further one gets a label of its own,
    and those count that the parser then takes for definitions: one more pass, on texts that have a candidate.
    """
    import pyromark

    candidates = _candidates(data, definitions)
    if not candidates:
        return []
    parts, at = [], 0
    for number, (start, end) in enumerate(candidates):
        parts += [data[at:start], _own(number).encode()]
        at = end
    renamed = b"".join([*parts, data[at:]]).decode("utf-8", "replace")
    taken = pyromark.reference_definitions(renamed, options=options)
    return [start - 1 for number, (start, _) in enumerate(candidates) if _own(number) in taken]


def _candidates(data: bytes, definitions: Mapping[str, Any]) -> list[tuple[int, int]]:
    """Where the labels stand of what looks like a definition under a known label, without the first ones."""
    known = set(map(normal, definitions))
    first = {each["span"]["start"] for each in definitions.values()}
    candidates: list[tuple[int, int]] = []
    at = 0
    while (end := data.find(b"]:", at)) >= 0:
        start = data.rfind(b"[", max(at, end - _LABEL_BYTES), end)
        at = end + 2
        if start < 0 or start in first or not _opens_line(data, start):
            continue
        if normal(data[start + 1 : end].decode("utf-8", "replace")) in known:
            candidates.append((start + 1, end))
    return candidates


def _opens_line(data: bytes, at: int) -> bool:
    """Whether only marks of quotes and list items stand before an offset on its line."""
    begin = max(0, at - _PREFIX_BYTES)
    line = max(data.rfind(b"\n", begin, at), data.rfind(b"\r", begin, at)) + 1
    return (line > 0 or begin == 0) and _marks().fullmatch(data, line, at) is not None


def _own(number: int) -> str:
    return f"\x1fduplicate {number}\x1f"


@lru_cache(maxsize=1)
def _marks() -> re.Pattern[bytes]:
    return re.compile(rb"[ \t>*+.)0-9-]*")
