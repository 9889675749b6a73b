"""The blind excerpt: two ends and the lines with diagnostic words, whatever the task."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from transcripts.recorded import build_log

from admit.report.blind import GAP, blind_excerpt


def test_it_holds_both_ends_and_the_first_diagnostic_lines():
    log = build_log(1, 400, planted={200: "client.py:9: ERROR retry_limit"})
    lines = blind_excerpt(log, 4_000).split("\n")
    assert lines[0].startswith("[0001]") and lines[-2].startswith("[0400]")
    assert lines.count(GAP) == 2 and "client.py:9: ERROR retry_limit" in lines


def test_what_stands_in_the_middle_without_such_a_word_is_not_in_it():
    log = build_log(1, 400, planted={200: "the retry_limit is 7"})
    assert "retry_limit" not in blind_excerpt(log, 4_000)


def test_a_text_that_fits_is_whole():
    assert blind_excerpt("a\nb\n", 100) == "a\nb\n"


@given(st.text(alphabet="ab\n \x1b[m\r", max_size=3_000), st.integers(200, 2_000))
def test_it_never_takes_more_than_its_size(text, budget):
    assert len(blind_excerpt(text, budget)) <= budget
