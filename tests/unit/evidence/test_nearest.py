"""The name that was probably meant, against a plain edit distance."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.evidence import nearest as module
from admit.evidence.nearest import by_length, distance, nearest

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
def test_the_nearest_is_of_the_least_distance_and_of_equals_nearest_in_length(
    name: str, known: list[str]
) -> None:
    away = [
        (plain_distance(name, other), abs(len(other) - len(name)), len(other) > len(name), at, other)
        for at, other in enumerate(known)
        if other != name
    ]
    best = min(away, default=None)
    stem = len(name.rpartition(".")[0] or name)
    most = 0 if stem <= 3 else 1 if stem <= 5 else 2
    assert nearest(name, by_length(known)) == (best[-1] if best is not None and best[0] <= most else None)


def test_a_huge_folder_is_looked_at_up_to_a_bound() -> None:
    known = [f"nothing-like-{n}" for n in range(module.MAX_NAMES)]
    assert nearest("graphs.md", by_length([*known[:-1], "grahps.md"])) == "grahps.md"
    assert nearest("graphs.md", by_length([*known, "grahps.md"])) is None


def test_names_that_share_a_part_are_compared_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []
    real = module.distance

    def spy(left: str, right: str, most: int) -> int | None:
        compared.append(right)
        return real(left, right, most)

    monkeypatch.setattr(module, "distance", spy)
    known = by_length(f"note-{n:04}-about-things.md" for n in range(5000))
    assert nearest("note-abcd-about-things.md", known) is None
    assert len(compared) == module.MAX_COMPARED
    assert nearest("note-0003-about-thing.md", known) == "note-0003-about-things.md"


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("ab.md", "ac.md", None),
        ("abc.md", "abd.md", None),
        ("abcd.md", "abce.md", "abce.md"),
        ("abcde.md", "abcxy.md", None),
        ("abcdef.md", "abcdxy.md", "abcdxy.md"),
    ],
)
def test_the_shorter_a_name_the_nearer_must_the_one_be_that_was_meant(
    name: str, known: str, hint: str | None
) -> None:
    assert nearest(name, by_length([known])) == hint
