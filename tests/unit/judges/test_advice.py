"""Reasons in words: none is without a sentence, and the fix names what there is."""

from __future__ import annotations

import re

import pytest

from admit.core.reasons import DOOR_REASONS, REASON_WORDS, REASONS, SHADOW_REASONS, family
from admit.judges.advice import ADVICE, SHADOW, advice

EVERY = (*REASONS, *DOOR_REASONS, *(SHADOW + reason for reason in SHADOW_REASONS))


@pytest.mark.parametrize("reason", EVERY)
def test_every_reason_has_a_sentence_of_its_own(reason):
    said = advice(reason, profile="jev", door="outputs", destination="https://api.example:443")
    assert said.sentence.endswith(".") and said.sentence != f"The reason is {reason}."
    assert not re.search(r"[{}]|PROFILE|DOOR\b|DESTINATION", said.sentence + said.fix)


def test_the_table_holds_no_reason_that_is_in_no_list():
    listed = {*EVERY, *REASON_WORDS}
    assert set(ADVICE) == listed


def test_what_is_not_known_is_said_in_general():
    assert advice("no_consent").fix == "admit consent grant DESTINATION --door DOOR"
    assert advice("connect").sentence == "The judge's server does not take connections."


@pytest.mark.parametrize("reason", EVERY)
def test_a_program_is_called_one_and_not_by_its_kind_and_name(reason):
    said = advice(reason, profile="mine", door="outputs", destination="command:mine")
    assert "command:" not in said.sentence.lower()


def test_a_program_that_is_left_alone_is_named_by_its_profile():
    sentence = advice("cooldown", profile="mine", destination="command:mine").sentence
    assert sentence == "The program of the profile mine failed and is left alone for a while."


def test_a_status_without_a_row_is_named_and_a_word_of_no_list_is_told_as_it_is():
    assert "418" in advice("provider_418").sentence
    assert advice("moonlight").sentence == "The reason is moonlight."


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("provider_418", "provider_<status>"),
        ("provider_4181", "provider_4181"),
        ("provider_4x8", "provider_4x8"),
        ("provider_٤١٨", "provider_٤١٨"),
        ("not_provider_418", "not_provider_418"),
        ("deadline", "deadline"),
    ],
)
def test_only_a_status_of_three_digits_is_of_the_open_family(reason, expected):
    assert family(reason) == expected
