"""The name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable

MAX_DISTANCE = 2
MAX_NAMES = 20_000
MAX_COMPARED = 500


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name at the smallest edit distance (Levenshtein), the first of equals; None beyond 2.

    At most `MAX_NAMES` names are looked at and `MAX_COMPARED` of them compared letter by letter.
    """
    # Two edits leave one of three parts as it is, so that a name without any of them is farther off.
    third = max(1, len(name) // 3)
    parts = (name[:third], name[third : 2 * third], name[2 * third :])
    best, least, compared = None, MAX_DISTANCE + 1, 0
    for looked, other in enumerate(known):
        if looked >= MAX_NAMES or compared >= MAX_COMPARED or least <= 1:
            break
        if abs(len(other) - len(name)) >= least or other == name:
            continue
        if any(part in other for part in parts) or len(name) < 3:
            compared += 1
            away = distance(name, other, least - 1)
            if away is not None and away < least:
                best, least = other, away
    return best


def distance(left: str, right: str, most: int) -> int | None:
    """The edit distance, or None where it is over `most`."""
    if abs(len(left) - len(right)) > most:
        return None
    row = list(range(len(right) + 1))
    far = most + 1
    for i, letter in enumerate(left, start=1):
        low, high = max(1, i - most), min(len(right), i + most)
        above = row[low - 1]
        row[low - 1] = i if low == 1 else far
        for j in range(low, high + 1):
            here = (
                above
                if letter == right[j - 1]
                else 1 + min(above, row[j - 1], row[j] if j < i + most else far)
            )
            above, row[j] = row[j], here
        if min(row[low - 1 : high + 1]) > most:
            return None
    return row[-1] if row[-1] <= most else None
