"""The name that was probably meant, against a plain edit distance."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from admit.evidence import nearest as module
from admit.evidence.nearest import distance, nearest

words = st.text("abé", max_size=9)


def plain_distance(left: str, right: str) -> int:
    row = list(range(len(right) + 1))
    for i, letter in enumerate(left, start=1):
        below = [i]
        for j, other in enumerate(right, start=1):
            below.append(min(row[j] + 1, below[j - 1] + 1, row[j - 1] + (letter != other)))
        row = below
    return row[-1]


@given(words, words, st.integers(0, 4))
def test_a_distance_is_that_of_levenshtein_up_to_the_most(left: str, right: str, most: int) -> None:
    true = plain_distance(left, right)
    assert distance(left, right, most) == (true if true <= most else None)


@given(words, st.lists(words, max_size=12))
def test_the_nearest_is_the_first_of_the_least_distance(name: str, known: list[str]) -> None:
    away = [(plain_distance(name, other), other) for other in known if other != name]
    least = min((d for d, _ in away), default=3)
    expected = next((other for d, other in away if d == least), None) if least <= 2 else None
    assert nearest(name, known) == expected


def test_a_huge_folder_is_looked_at_up_to_a_bound() -> None:
    known = [f"nothing-like-{n}" for n in range(module.MAX_NAMES)]
    assert nearest("graph.md", [*known[:-1], "grahp.md"]) == "grahp.md"
    assert nearest("graph.md", [*known, "grahp.md"]) is None


def test_names_that_share_a_part_are_compared_up_to_a_bound() -> None:
    known = [f"note-{n:04}.md" for n in range(2000)]
    compared = len([one for one in known if one.endswith(".md")])
    assert compared > module.MAX_COMPARED
    assert nearest("note-1999.mdx", known) is None
    assert nearest("note-0003.mdx", known) == "note-0003.md"
