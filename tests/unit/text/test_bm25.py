"""BM25 against the formula written out, and against what any ranking must do."""

from itertools import pairwise
from math import isclose, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.text.bm25 import Bm25, idf, saturation

DOCUMENTS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=12), max_size=8)
QUERY = st.lists(st.sampled_from("abcdefz"), max_size=6)


def by_hand(documents, query, k1=1.2, b=0.75):
    average = sum(map(len, documents)) / len(documents) if documents else 0
    scores = []
    for document in documents:
        total = 0.0
        for term in query:
            tf = document.count(term)
            df = sum(1 for one in documents if term in one)
            if tf:
                weight = log(1 + (len(documents) - df + 0.5) / (df + 0.5))
                total += weight * tf / (tf + k1 * (1 - b + b * len(document) / average))
        scores.append(total)
    return scores


def test_a_worked_example_by_hand():
    index = Bm25([["cat", "sat"], ["cat", "cat", "mat", "hat"], ["dog"]])
    first, second, third = index.scores(["cat"])
    weight = log(1 + 1.5 / 2.5)
    assert first == pytest.approx(weight * 1 / (1 + 1.2 * (0.25 + 0.75 * 2 / (7 / 3))))
    assert second == pytest.approx(weight * 2 / (2 + 1.2 * (0.25 + 0.75 * 4 / (7 / 3))))
    assert third == 0


def test_idf_is_above_zero_even_for_a_term_in_every_document():
    assert idf(10, 10) == pytest.approx(log(1 + 0.5 / 10.5))
    assert idf(10, 1) > idf(10, 2) > idf(10, 10) > 0


def test_saturation_counts_a_second_occurrence_less_and_never_reaches_one():
    steps = [saturation(tf, 10, 10) for tf in range(5)]
    gains = [b - a for a, b in pairwise(steps)]
    assert steps[0] == 0 and steps[1] == pytest.approx(1 / 2.2)
    assert gains == sorted(gains, reverse=True) and steps[-1] < 1


def test_saturation_in_documents_without_length_ignores_length():
    assert saturation(1, 0, 0) == pytest.approx(1 / 2.2)
    assert saturation(0, 5, 5) == 0


def test_a_shorter_document_scores_more_for_the_same_term():
    short, long = Bm25([["x"], ["x", "y", "y", "y"]]).scores(["x"])
    assert short > long


def test_without_length_normalisation_length_does_not_count():
    short, long = Bm25([["x"], ["x", "y", "y", "y"]], b=0).scores(["x"])
    assert short == long


def test_weights_scale_terms():
    index = Bm25([["x", "y"], ["y"]])
    plain, half = index.scores({"x": 1.0})[0], index.scores({"x": 0.5})[0]
    assert half == pytest.approx(plain / 2)
    assert index.scores(["x", "x"]) == index.scores({"x": 2})


def test_an_empty_index_and_an_empty_query_give_no_scores():
    assert Bm25([]).scores(["x"]) == []
    assert Bm25([[], []]).scores(["x"]) == [0.0, 0.0]
    assert Bm25([["x"]]).scores([]) == [0.0]
    assert len(Bm25([["x"], []])) == 2


def test_document_frequency_counts_documents_not_occurrences():
    index = Bm25([["x", "x"], ["x"], ["y"]])
    assert (index.document_frequency("x"), index.document_frequency("z")) == (2, 0)


@given(DOCUMENTS, QUERY)
def test_scores_are_the_formula(documents, query):
    for ours, theirs in zip(Bm25(documents).scores(query), by_hand(documents, query), strict=True):
        assert isclose(ours, theirs, rel_tol=1e-12, abs_tol=1e-12)


@given(DOCUMENTS, QUERY)
def test_no_document_scores_more_than_the_idf_of_the_query(documents, query):
    index = Bm25(documents)
    most = sum(idf(len(documents), index.document_frequency(term)) for term in query)
    assert all(0 <= score <= most for score in index.scores(query))
