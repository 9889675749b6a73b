"""The admission orders: total, deterministic, and trees kept whole."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.candidate import Candidate
from admit.core.order import as_given, by_rank, children_of, forest, under

from .core_cases import Counted, chain, forests, ids, root, steps


def by_hand(candidates):
    """The forest order as its rules say it, with recursion; for trees without cycles."""
    known = {one.id for one in candidates}

    def children(identity):
        return [one for one in candidates if (one.parent if one.parent in known else None) == identity]

    def best(candidate):
        return max([candidate.rank, *map(best, children(candidate.id))])

    def walk(identity):
        for one in sorted(children(identity), key=lambda one: ([-value for value in best(one)], one.id)):
            yield one
            yield from walk(one.id)

    return tuple(walk(None))


def ancestry(candidate, known):
    while candidate.parent in known:
        candidate = known[candidate.parent]
        yield candidate.id


@given(forests())
def test_the_forest_is_depth_first_by_the_best_rank_of_a_subtree_then_by_id(candidates):
    assert forest(candidates) == by_hand(candidates)


@given(forests(), st.randoms())
def test_arrival_order_never_matters(candidates, random):
    shuffled = list(candidates)
    random.shuffle(shuffled)
    assert forest(shuffled) == forest(candidates)
    assert by_rank(shuffled) == by_rank(candidates)


@given(forests(cycles=True), st.randoms())
def test_arrival_order_does_not_matter_with_cycles_either(candidates, random):
    shuffled = list(candidates)
    random.shuffle(shuffled)
    assert forest(shuffled) == forest(candidates)


@pytest.mark.parametrize("order", [forest, by_rank])
def test_a_thousand_shuffles_give_the_same_bytes(order):
    random = Random(7)
    names = [f"w{k}" for k in range(60)]
    candidates = [
        Candidate(
            name,
            (random.choice([0, 1, 2]), random.choice([0.0, 0.5, 1.0])),
            random.choice([None, None, "gone", *names]),
            {"chars": random.randrange(9)},
            random.random() < 0.2,
        )
        for name in names
    ]
    twins = [one._replace(sizes={"chars": 99}) for one in candidates[:5]]
    twins += [one._replace(exempt=not one.exempt) for one in candidates[5:10]]
    twins += [one._replace(parent="elsewhere") for one in candidates[10:15]]
    everything = candidates + twins
    expected = repr(order(everything)).encode()
    for _ in range(1000):
        random.shuffle(everything)
        assert repr(order(everything)).encode() == expected


@given(forests())
def test_parents_stand_before_their_children(candidates):
    place = {one.id: k for k, one in enumerate(forest(candidates))}
    for one in candidates:
        assert one.parent not in place or place[one.parent] < place[one.id]


@given(forests())
def test_each_tree_stands_whole(candidates):
    ordered = forest(candidates)
    known = {one.id: one for one in ordered}
    for one in ordered:
        inside = [one.id in (other.id, *ancestry(other, known)) for other in ordered]
        first = inside.index(True)
        assert inside == [False] * first + [True] * sum(inside) + [False] * (
            len(inside) - first - sum(inside)
        )


def test_a_strong_child_lifts_its_weak_parent_over_a_stronger_root():
    candidates = [root("a", (0, 0.9)), root("b", (0, 0.1)), Candidate("b/c", (1, 3), "b")]
    assert ids(forest(candidates)) == ["b", "b/c", "a"]


def test_siblings_stand_by_their_best_descendant_then_by_code_points():
    candidates = [
        root("top"),
        Candidate("ä", (0, 0.5), "top"),
        Candidate("z", (0, 0.5), "top"),
        Candidate("B", (0, 0.5), "top"),
        Candidate("low", (0, 0.1), "top"),
        Candidate("deep", (0, 0.8), "low"),
    ]
    assert ids(forest(candidates)) == ["top", "low", "deep", "B", "z", "ä"]


def test_a_tier_outweighs_any_score_below_it():
    candidates = [root("scored", (0, 99.0)), root("explicit", (1, 0.0)), root("state", (2, 0.0))]
    assert ids(by_rank(candidates)) == ["state", "explicit", "scored"]
    assert ids(forest(candidates)) == ["state", "explicit", "scored"]


def test_a_parent_that_is_not_there_makes_a_root():
    assert ids(forest([Candidate("x", (0, 1), "gone"), root("y", (0, 2))])) == ["y", "x"]


def test_a_cycle_is_broken_above_its_first_member_by_rank():
    ring = [Candidate("a", (0, 1), "c"), Candidate("b", (0, 3), "a"), Candidate("c", (0, 2), "b")]
    assert ids(forest(ring)) == ["b", "c", "a"]
    assert ids(forest([Candidate("self", (0, 1), "self")])) == ["self"]


def test_what_hangs_under_a_cycle_stands_after_its_parent_however_strong_it_is():
    ring = [Candidate("a", (0, 1), "b"), Candidate("b", (0, 0.5), "a")]
    assert ids(forest([*ring, Candidate("x", (0, 9), "b")])) == ["a", "b", "x"]


def test_a_broken_cycle_takes_its_place_among_the_trees_by_its_best_rank():
    ring = [Candidate("a", (0, 5), "b"), Candidate("b", (0, 4), "a")]
    assert ids(forest([root("low", (0, 1)), *ring, root("high", (0, 9))])) == ["high", "a", "b", "low"]


@given(forests(cycles=True))
def test_with_cycles_everyone_stands_once_and_one_member_of_each_cycle_stands_before_its_parent(candidates):
    ordered = forest(candidates)
    assert sorted(ids(ordered)) == sorted(ids(candidates))
    place = {one.id: k for k, one in enumerate(ordered)}
    strength = {one.id: k for k, one in enumerate(by_rank(candidates))}
    parent = {one.id: one.parent for one in candidates}
    for one in candidates:
        ring, here = [], one.id
        while here in place and here not in ring:
            ring.append(here)
            here = parent[here]
        on_cycle = here == one.id
        first = on_cycle and min(ring, key=strength.__getitem__) == one.id
        assert one.parent not in place or (place[one.parent] < place[one.id]) == (not first)


def test_who_shares_an_id_is_one_candidate_the_first_in_the_order():
    early, strong = root("a", (0, 1)), root("a", (0, 2))
    assert as_given([early, root("b"), strong]) == (early, root("b"))
    assert by_rank([early, strong]) == forest([early, strong]) == (strong,)


def test_as_given_keeps_the_order_in_which_they_came():
    assert ids(as_given([root("z"), root("a", (9, 9)), root("m")])) == ["z", "a", "m"]


def test_a_rank_that_is_no_number_is_the_lowest_wherever_it_arrives():
    broken = root("nan", (0, float("nan")))
    others = [root("low", (0, float("-inf"))), root("mid", (0, 1))]
    for candidates in ([broken, *others], [*others, broken]):
        assert ids(by_rank(candidates)) == ["mid", "low", "nan"]
        assert ids(forest(candidates)) == ["mid", "low", "nan"]


@pytest.mark.parametrize("order", [as_given, by_rank, forest])
def test_nothing_gives_nothing(order):
    assert order([]) == ()


def test_a_chain_of_ten_thousand_parents_keeps_its_order():
    links = chain(10_000)
    assert ids(forest(links[::-1])) == ids(links)


def test_a_ring_of_ten_thousand_is_broken_once():
    links = chain(10_000)
    links[0] = links[0]._replace(parent=links[-1].id)
    assert ids(forest(links[::-1])) == ids(links)


def shapes(n):
    name = lambda k: Counted(f"n{k:06d}")  # noqa: E731 - one expression, used four times
    return {
        "flat": [Candidate(name(k), (0, k % 7)) for k in range(n)],
        "star": [Candidate(name(k), (0, k % 7), name(0) if k else None) for k in range(n)],
        "chain": chain(n, identity=name),
        "binary": [Candidate(name(k), (0, k % 7), name((k - 1) // 2) if k else None) for k in range(n)],
    }


@pytest.mark.parametrize("shape", ["flat", "star", "chain", "binary"])
def test_twice_the_candidates_take_about_twice_the_steps(shape):
    small, large = (steps(lambda n=n: forest(shapes(n)[shape])) for n in (2_000, 4_000))
    assert large <= 2.4 * small


def test_a_hundred_thousand_candidates_are_put_in_order():
    ordered = forest(Candidate(f"n{k}", (0, k % 97), f"n{k // 3}" if k % 5 else None) for k in range(100_000))
    assert len(ordered) == 100_000


def test_under_a_root_stands_everything_below_but_what_is_stopped_and_what_hangs_there():
    trees = [root("a"), Candidate("b", (), "a"), Candidate("c", (), "b"), Candidate("d", (), "a")]
    trees += [Candidate("e", (), "d"), root("other"), Candidate("f", (), "other")]
    children = children_of(trees)
    assert set(under("a", children, ())) == {"b", "c", "d", "e"}
    assert set(under("a", children, {"d"})) == {"b", "c"}
    assert list(under("c", children, ())) == []
