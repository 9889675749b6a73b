"""What was shown, what waits for its word, and what a turn has used."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.guidance.memory import CLAIM_S, MOST_CONTEXTS, MOST_RESULTS, Memory

MAIN, OTHER = ("s", ""), ("s", "x")


def claim(
    memory, result="r", ids=("a",), *, context=MAIN, position=0, now=0.0, counted=None, since=0, key=None
):
    return memory.claim(
        result, context, ids, counted=ids if counted is None else counted, position=position,
        since=since, now=now, key=key,
    )  # fmt: skip


def held(memory, *, position=0, refire=0.1, window=1000, now=0.0, context=MAIN, floor=0.35):
    return "a" in memory.held(context, {"a": refire}, position, window, floor, now)


def test_what_is_claimed_is_held_until_the_word_comes_or_five_seconds_have_passed():
    memory = Memory()
    assert claim(memory) == ("a",) and held(memory, now=CLAIM_S)
    assert claim(memory, "other", now=CLAIM_S) == ()
    assert not held(memory, now=CLAIM_S + 0.01)
    assert memory.delivered("r", CLAIM_S + 0.01) is None and not held(memory, now=9)


def test_what_was_delivered_is_held_by_the_position_it_was_shown_at():
    memory = Memory()
    claim(memory, position=500)
    assert memory.delivered("r", 1.0) == (("a",), frozenset())
    assert held(memory, position=500) and held(memory, position=651) and not held(memory, position=652)
    assert held(memory, position=None) and not held(memory, position=500, refire=0)
    assert held(memory, position=100)  # the context was cut: it is taken as where it was shown


@given(
    refire=st.floats(0.01, 10), window=st.integers(1000, 10_000_000), floor=st.floats(0.01, 0.99),
    at=st.integers(0, 10**6), since=st.integers(0, 10**8),
)  # fmt: skip
def test_a_hold_ends_once_and_never_begins_again(refire, window, floor, at, since):
    memory = Memory()
    claim(memory, position=at)
    memory.delivered("r", 1.0)
    now, later = (
        held(memory, position=at + n, refire=refire, window=window, floor=floor)
        for n in (since, since * 2 + 1)
    )
    assert now or not later


def test_shown_again_says_so():
    memory = Memory()
    claim(memory, "one")
    memory.delivered("one", 1.0)
    assert claim(memory, "two", ("a", "b"), since=memory.deliveries(), now=2.0) == ("a", "b")
    assert memory.delivered("two", 3.0) == (("a", "b"), frozenset(("a",)))


def test_what_another_hook_delivered_since_one_looked_is_not_taken():
    memory = Memory()
    looked = memory.deliveries()
    claim(memory, "other")
    memory.delivered("other", 0.0)
    assert claim(memory, "mine", ("a", "b"), since=looked) == ("b",)
    assert memory.turn_count(MAIN) == 2  # what was not taken does not count


def test_a_turn_counts_what_waits_and_what_was_shown_and_begins_anew():
    memory = Memory()
    claim(memory, "one", ("a", "b", "state"), counted=("a", "b"))
    assert memory.turn_count(MAIN) == 2 and memory.turn_count(OTHER) == 0
    memory.delivered("one", 1.0)
    claim(memory, "two", ("c",), now=1.0)
    memory.withdrawn("two")
    assert memory.turn_count(MAIN) == 2
    memory.new_turn(MAIN)
    assert memory.turn_count(MAIN) == 0


def test_agents_and_sessions_are_apart_and_a_reset_reaches_one_or_all():
    memory = Memory()
    for number, context in enumerate((MAIN, OTHER, ("t", ""))):
        claim(memory, f"{number}", context=context)
        memory.delivered(f"{number}", 1.0)
    memory.reset("s", "x")
    assert [held(memory, context=one) for one in (MAIN, OTHER, ("t", ""))] == [True, False, True]
    memory.reset("s")
    assert [held(memory, context=one) for one in (MAIN, OTHER, ("t", ""))] == [False, False, True]


def test_a_reset_frees_what_waits_too():
    memory = Memory()
    claim(memory)
    memory.reset("s")
    assert not held(memory) and memory.delivered("r", 0.0) is None


def test_what_was_shown_before_the_process_began_counts_unless_it_knows_better():
    memory = Memory()
    memory.restore(MAIN, "a", 500)
    assert held(memory, position=600) and not held(memory, position=700)
    claim(memory, position=700, since=memory.deliveries())
    memory.delivered("r", 1.0)
    memory.restore(MAIN, "a", 100)
    assert held(memory, position=750)


def test_an_answer_is_kept_by_its_event_until_it_was_withdrawn():
    memory = Memory()
    claim(memory, key="k")
    memory.remember("k", "answer")
    assert memory.answer("k") == "answer"
    memory.withdrawn("r")
    memory.withdrawn("r")
    assert memory.answer("k") is None


@pytest.mark.parametrize("most, fill", [(MOST_CONTEXTS, "contexts"), (MOST_RESULTS, "answers")])
def test_it_forgets_the_oldest_past_its_bounds(most, fill):
    memory = Memory()
    for number in range(most + 1):
        if fill == "answers":
            memory.remember(f"{number}", number)
        else:
            claim(memory, f"{number}", context=(f"{number}", ""))
            memory.delivered(f"{number}", 0.0)
    if fill == "answers":
        assert memory.answer("0") is None and memory.answer("1") == 1
    else:
        assert not held(memory, context=("0", "")) and held(memory, context=(f"{most}", ""))
