"""Canonical JSON, hashes and the list of events."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.events import EVENTS, canonical, content_hash, parse, sha256, undeclared

TEXT = st.text(st.characters(exclude_categories=("Cs",)))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_written_reads_back_equal_and_is_written_the_same_again(value):
    data = canonical(value)
    assert parse(data) == value
    assert canonical(parse(data)) == data


@given(st.dictionaries(TEXT, st.integers(), min_size=2, max_size=6))
def test_the_order_of_keys_changes_no_byte(value):
    backwards = dict(reversed(list(value.items())))
    assert canonical(value) == canonical(backwards)
    assert list(json.loads(canonical(value))) == sorted(value)


def test_text_beyond_ascii_is_not_escaped():
    assert canonical({"é": "日本 🎉"}) == '{"é":"日本 🎉"}'.encode()


def test_keys_stand_by_code_point_not_by_utf_16():
    assert canonical({"\U00010000": 1, "\uffff": 2}) == '{"\uffff":2,"\U00010000":1}'.encode()


def test_a_lone_surrogate_hashes_unlike_its_escape_and_unlike_the_replacement_character():
    texts = ["\ud800", "\\ud800", "\ufffd", "\\\ud800", "\ud83d\ude00", "\U0001f600"]
    forms = [canonical(text) for text in texts]
    assert forms[0] == b'"\\ud800"'
    assert len(set(forms)) == len(texts)


@given(st.text(), st.text())
def test_two_texts_never_share_a_form(one, other):
    assert (canonical(one) == canonical(other)) == (one == other)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_never_rounded(value):
    back = parse(canonical(value))
    assert back == value and math.copysign(1, back) == math.copysign(1, value)


def test_floats_that_differ_in_the_last_bit_hash_differently():
    value = 0.1 + 0.2
    assert content_hash({"p": value}) != content_hash({"p": 0.3})
    assert content_hash({"p": value}) == content_hash({"p": math.nextafter(0.3, 1)})


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, {"a": [math.nan]}])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ValueError):
        canonical(value)


@pytest.mark.parametrize(
    "data", ["NaN", "Infinity", "[-Infinity]", "1e999", '{"a":1,"a":2}', '{"b":{"a":1,"a":1}}', "{", b"\xff"]
)
def test_what_canonical_json_has_not_is_refused_when_read(data):
    with pytest.raises(ValueError):
        parse(data)


def test_keys_that_are_no_text_are_refused_so_that_1_and_its_text_cannot_meet():
    with pytest.raises(ValueError):
        canonical({1: "a", "1": "b"})


def test_nesting_without_end_is_a_value_error():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError):
        canonical(deep)
    with pytest.raises(ValueError):
        parse("[" * 100_000 + "]" * 100_000)


def test_the_content_hash_leaves_itself_out():
    row = {"a": 1, "content_hash": "sha256:old"}
    assert content_hash(row) == content_hash({"a": 1}) == sha256(b'{"a":1}')


def test_an_unknown_type_field_or_word_is_named():
    assert undeclared("admit.shed", {"queue": 3, "limit": 2, "truncated": []}) == ()
    assert undeclared("admit.nonsense", {}) == ("admit.nonsense",)
    assert undeclared("admit.shed", {"colour": 1}) == ("admit.shed.colour",)
    assert undeclared("outputs.fault", {"fault": "moon"}) == ("outputs.fault.fault=moon",)
    assert undeclared("judge.fallback", {"reason": "provider_418"}) == ()
    assert undeclared("judge.fallback", {"reason": "provider_x"}) == ("judge.fallback.reason=provider_x",)


PREFIXES = frozenset(("admit", "evidence", "guidance", "host", "judge", "lab", "ledger", "outputs", "tools"))


def test_every_type_has_a_known_prefix_and_its_words_belong_to_its_fields():
    for name, kind in EVENTS.items():
        assert name.split(".")[0] in PREFIXES
        assert set(kind.words) <= set(kind.fields)
        assert len(set(kind.fields)) == len(kind.fields)
