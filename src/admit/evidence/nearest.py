"""The name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

MAX_DISTANCE = 2
MAX_NAMES = 20_000
MAX_COMPARED = 50
"""Of one search: thousands of missing names in a folder of thousands must not take minutes."""

ByLength = Mapping[int, Sequence[str]]


def by_length(names: Iterable[str]) -> ByLength:
    """Names by their length in characters, in the order given; those after `MAX_NAMES` are left out."""
    groups: dict[int, list[str]] = {}
    for _, name in zip(range(MAX_NAMES), names, strict=False):
        groups.setdefault(len(name), []).append(name)
    return groups


def nearest(name: str, known: ByLength) -> str | None:
    """The known name at the smallest edit distance (Levenshtein); None beyond 2. The name itself is none.

    Short names are near to anything: of up to 3 characters, the ending left out, none is, and of 4 or 5 the
    distance is 1 at most.

    Of equals the one of the same length, then one character shorter, longer, and so on; then the first. At
    most `MAX_COMPARED` names that share a third with it are compared letter by letter.
    """
    # Two edits leave one of three parts as it is, so that a name without any of them is farther off.
    third = max(1, len(name) // 3)
    parts = (name[:third], name[third : 2 * third], name[2 * third :])
    stem = len(name.rpartition(".")[0] or name)
    most = 0 if stem <= 3 else 1 if stem <= 5 else MAX_DISTANCE
    best, least, compared = None, most + 1, 0
    for other in chain.from_iterable(known.get(len(name) + more, ()) for more in (0, -1, 1, -2, 2)):
        if not (parts[0] in other or parts[1] in other or parts[2] in other) and len(name) > 2:
            continue
        if other == name:
            continue
        compared += 1
        away = distance(name, other, least - 1)
        if away is not None:
            best, least = other, away
        if least <= 1 or compared >= MAX_COMPARED:
            break
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
