"""Many pairs at once: told in the order given, each done whether or not the rest is."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admit.evidence.batch import in_order


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(), max_size=20), st.integers(1, 6))
def test_the_results_come_in_the_order_given_whoever_ends_first(values, workers):
    assert list(in_order(lambda one: one * 2, values, workers)) == [one * 2 for one in values]


def test_as_many_are_worked_on_at_once_as_there_are_workers():
    together = threading.Barrier(3)

    def work(k):
        together.wait(10)  # breaks unless three are here at once
        return k

    assert list(in_order(work, range(6), 3)) == [0, 1, 2, 3, 4, 5]


def test_who_stops_early_begins_no_further_one_and_waits_for_none():
    begun: list[int] = []
    stuck = threading.Event()

    def work(k):
        begun.append(k)
        if k:
            stuck.wait(30)
        return k

    running = in_order(work, range(100), 2)
    assert next(running) == 0
    running.close()
    stuck.set()
    for thread in threading.enumerate():
        if thread.name.startswith("review-"):
            thread.join(10)
    assert len(begun) <= 4


def test_what_is_raised_is_raised_at_its_place():
    def work(k):
        if k == 1:
            raise ValueError("one")
        return k

    running = in_order(work, range(3), 3)
    assert next(running) == 0
    with pytest.raises(ValueError, match="one"):
        next(running)
