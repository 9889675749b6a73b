"""One normaliser for routes and requests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.tools.words import request, request_stems, singular, terms


def test_an_identifier_gives_its_parts_and_the_joined_whole() -> None:
    for written in ("tesla_ble", "teslaBle", "tesla-ble", "tesla.ble"):
        assert terms(written) == ["tesla", "ble", "teslable"]


def test_an_acronym_ends_where_a_word_begins() -> None:
    assert terms("HTTPServer")[:2] == ["http", "server"]


def test_accents_on_latin_letters_do_not_tell_words_apart_and_other_scripts_keep_theirs() -> None:
    assert terms("für") == terms("fur") == ["fur"]
    assert terms("край") == ["край"]


def test_invisible_characters_do_not_split_words() -> None:
    assert terms("is\u200bsue") == ["issue"]


@pytest.mark.parametrize(
    "text", ["创建问题", "課題を作成", "이슈를 만들다", "создать задачу", "tạo vấn đề", "สร้างปัญหา", "מצא"]
)
def test_every_script_gives_words(text: str) -> None:
    assert request(text).words


def test_a_korean_particle_does_not_hide_the_noun() -> None:
    assert set(request("문서를").words) == set(request("문서").words)


def test_stop_words_go_unless_there_is_nothing_else() -> None:
    assert request("wetter in Berlin").words == ("wetter", "berlin")
    assert request("the a of").words == ("the", "a", "of")


def test_stop_words_of_another_language_than_the_request_s_stay() -> None:
    assert "die" in request("roll a die").words
    assert "die" not in request("zeige die Liste für den Server").words


def test_two_sentences_are_told_apart_and_one_is_not() -> None:
    assert len(request("Check the spelling of apple. Then submit a return request.").sentences) == 2
    assert request("check the spelling of apple").sentences == ()
    assert request("check the spelling of apple. Thanks!").sentences == ()


@pytest.mark.parametrize(
    ("plural", "one"),
    [("jobs", "job"), ("queries", "query"), ("status", "status"), ("boxes", "box"), ("is", "is")],
)
def test_plurals_become_singular(plural: str, one: str) -> None:
    assert singular(plural) == one


@given(st.text())
def test_any_text_is_read_without_a_fault_and_alike_each_time(text: str) -> None:
    assert request(text) == request(text)
    assert list(request_stems(text)) == sorted(set(request_stems(text)))
    assert len(request_stems(text)) <= 64
