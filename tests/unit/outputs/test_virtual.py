import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.outputs.virtual import LEAST, LEAST_ELEMENT, MOST, pieces
from admit.text.ansi import strip

from .cases import UNHURRIED

RUNS = st.lists(
    st.tuples(
        st.sampled_from(
            ["a", " ", ",", ";", ">", "\t", "\x1b[31m", "\x1b", "😀", "é", '{"a":1},', "]", '"', "\r"]
        ),
        st.integers(1, 500),
    ),
    max_size=10,
).map(lambda runs: "".join(text * times for text, times in runs))


@UNHURRIED
@given(RUNS | st.text(max_size=50))
def test_the_pieces_join_to_the_line_and_none_is_empty(line):
    found = list(pieces(line))
    assert "".join(found) == line
    assert all(found)


@UNHURRIED
@given(RUNS)
def test_a_piece_shows_at_most_600_characters(line):
    assert all(len(strip(piece)) <= MOST for piece in pieces(line))


@pytest.mark.parametrize("end", [" ", ",", ";", ">", "\t"])
def test_a_cut_falls_after_the_first_space_or_separator_from_character_400_on(end):
    line = "a" * 100 + end + "b" * 350 + end + "c" * 500
    first = next(pieces(line))
    assert first == line[:452]


def test_without_a_separator_between_400_and_600_the_cut_is_at_600():
    line = "a" * 300 + " " + "b" * 1500
    assert [len(piece) for piece in pieces(line)] == [600, 600, 600, 1]


def test_the_earliest_possible_cut_is_at_character_400():
    assert len(next(pieces("a" * 398 + " " + "b" * 900))) == 600
    assert len(next(pieces("a" * 399 + " " + "b" * 900))) == LEAST == 400


def test_case_15_a_cut_never_splits_an_astral_character():
    """case 15"""
    line = "a" * 599 + "😀" * 700
    found = list(pieces(line))
    assert found[0] == "a" * 599 + "😀"
    assert all(piece.encode() for piece in found)


def test_a_colour_is_not_cut_in_two_and_counts_as_one_character():
    line = ("\x1b[38;5;196mx" * 700) + "\x1b[0m"
    found = list(pieces(line))
    assert [piece.count("\x1b") for piece in found] == [300, 300, 101]
    assert all(piece.startswith("\x1b[") for piece in found)


def test_a_link_is_not_cut_in_two_and_each_of_its_sequences_counts_as_one_character():
    link = "\x1b]8;;https://example.com/some/page\x1b\\page\x1b]8;;\x07"
    found = list(pieces(link * 400))
    assert [piece.count("page\x1b]") for piece in found] == [100, 100, 100, 100]
    assert all(piece.startswith("\x1b]8;;https") for piece in found)


def test_a_line_that_parses_as_json_is_cut_after_the_elements_of_an_array_of_records():
    line = json.dumps([{"id": k, "name": "a name of some length", "tags": ["x", "y"]} for k in range(50)])
    found = list(pieces(line))
    assert len(found) == 50
    assert all(piece.strip().startswith(("[{", "{")) and piece.endswith(("},", "}]")) for piece in found)


def test_short_elements_stand_together_until_a_piece_is_long_enough():
    line = json.dumps([{"id": k} for k in range(400)])
    assert all(LEAST_ELEMENT <= len(piece) < LEAST_ELEMENT + 15 for piece in list(pieces(line))[:-1])


def test_the_members_of_one_object_are_cut_from_400_characters_on():
    line = json.dumps({f"key{k}": k for k in range(300)})
    found = list(pieces(line))
    assert all(piece.endswith(",") and LEAST <= len(piece) <= LEAST + 20 for piece in found[:-1])


def test_a_separator_inside_a_json_string_is_no_member_boundary():
    line = json.dumps({"text": 'a "quoted", },' * 40, "rest": "x" * 100})
    assert next(iter(pieces(line))).endswith('",')


def test_a_json_value_over_600_characters_is_cut_like_text():
    line = json.dumps({"blob": "x" * 3000, "answer": 42})
    assert max(map(len, pieces(line))) == 600


@pytest.mark.parametrize(
    "line",
    [
        "[" * 5000,
        "{" + "1" * 5000,
        "[" + "1" * 5000 + "]",
        "[1, 2" * 1000,
        "{no JSON}, though it has elements of 40 " * 99,
    ],
)
def test_what_only_looks_like_json_is_cut_like_text(line):
    found = list(pieces(line))
    assert "".join(found) == line
    assert all(LEAST <= len(piece) <= MOST for piece in found[:-1])


def test_a_line_too_long_to_be_tried_as_json_is_cut_like_text(monkeypatch):
    line = json.dumps([{"id": k, "name": "a name of some length here"} for k in range(50)])
    monkeypatch.setattr("admit.outputs.virtual.JSON_MOST", len(line) - 1)
    assert len(list(pieces(line))) < 10
