"""The coverage curve."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from admit.core.candidate import Budget, Candidate, fit
from admit.evidence.curve import curve, slots_of
from admit.evidence.model import Material, Offer


def offers(*sizes: tuple[int, int]) -> list[Offer]:
    """Offers of slots and bytes."""
    return [
        Offer(f"{k}.md", f"a{k}", (k,), (), (Material("note", f"{k}.md", (k,), size, ""),), slots, size, "")
        for k, (slots, size) in enumerate(sizes, 1)
    ]


notes = st.lists(
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 100)), max_size=6).map(lambda one: offers(*one)),
    max_size=5,
)


def test_a_cap_covers_a_note_when_its_last_offer_fits():
    found = curve("distinct-v1", [offers((1, 10), (1, 20), (1, 30)), offers((1, 5)), offers()])
    assert [(one.cap, one.notes, one.artifacts, one.bytes) for one in found.points] == [
        (1, 2, 2, 15),
        (2, 2, 3, 35),
        (3, 3, 4, 65),
    ]
    assert (found.notes, found.artifacts, found.bytes) == (3, 4, 65)


def test_an_offer_that_does_not_fit_ends_admission_even_where_a_later_one_would():
    found = curve("occurrences-v0", [offers((1, 1), (3, 1), (1, 1))])
    assert [one.artifacts for one in found.points] == [1, 1, 1, 2, 3]


def test_past_the_last_point_all_is_covered():
    found = curve("distinct-v1", [offers((1, 10))])
    assert found.at(9) == (9, 1, 1, 10)
    assert curve("distinct-v1", []).points == ()


@given(notes)
def test_a_larger_cap_never_covers_less_and_the_last_covers_all(every):
    found = curve("distinct-v1", every)
    for before, after in zip(found.points, found.points[1:], strict=False):
        assert before.notes <= after.notes and before.artifacts <= after.artifacts
        assert before.bytes <= after.bytes
    assert len(found.points) == max(map(slots_of, every), default=0)
    if found.points:
        assert found.points[-1][1:] == (found.notes, found.artifacts, found.bytes)


@given(notes)
def test_each_cap_covers_what_the_core_admits_under_it(every):
    asking = [[Candidate(one.id, sizes={"artifacts": one.slots}) for one in offers] for offers in every]
    for point in curve("distinct-v1", every).points:
        within = [len(fit(one, Budget({"artifacts": point.cap}, "stop"))[0]) for one in asking]
        assert point.artifacts == sum(within)
        assert point.notes == sum(n == len(offers) for n, offers in zip(within, every, strict=True))
        assert point.bytes == sum(
            one.bytes for n, offers in zip(within, every, strict=True) for one in offers[:n]
        )
