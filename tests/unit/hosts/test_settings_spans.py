"""The strict JSON reader: what it refuses, where, and that it agrees with the standard library's."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import SettingsError
from admit.hosts.settings.spans import MOST_DEPTH, parse

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON, st.sampled_from([None, 2, "\t"]), st.booleans())
def test_it_reads_what_the_standard_library_writes(value, indent, ascii_only):
    node = parse(json.dumps(value, indent=indent, ensure_ascii=ascii_only))
    assert node is not None and node.value == value


@given(JSON)
def test_every_span_holds_its_own_value(value):
    text = f"\ufeff {json.dumps(value)} "

    def check(node):
        assert json.loads(text[node.start : node.end]) == node.value
        for item in node.items:
            assert item.key is None or text[item.start : item.node.start].startswith(json.dumps(item.key))
            check(item.node)

    check(parse(text))


@given(st.text(alphabet='{}[]",:/*#\\ \n\tab01.e-+truefalsn', max_size=30))
def test_it_takes_nothing_that_the_standard_library_refuses(text):
    try:
        node = parse(text)
    except SettingsError as error:
        assert error.line >= 1 and error.column >= 1
        return
    if node is None:
        assert not text.strip(" \t\r\n")
    else:
        assert json.loads(text) == node.value


@pytest.mark.parametrize("text", ["", " \r\n\t", "\ufeff", "\ufeff\n"])
def test_white_space_alone_is_nothing(text):
    assert parse(text) is None


@pytest.mark.parametrize(
    "text, line, column, what",
    [
        ('{\n  "a": 1, // why\n  "b": 2\n}', 2, 11, "a comment"),
        ('{\r\n  /* why */ "a": 1\r\n}', 2, 3, "a comment"),
        ('# why\n{"a": 1}', 1, 1, "a comment"),
        ('{"a": 1}\n// end', 2, 1, "something after the end"),
        ('{"a": [1, 2,]}', 1, 12, "a comma before ]"),
        ('{\n  "a": 1,\n}', 2, 9, "a comma before }"),
        ('{"a": 1,, "b": 2}', 1, 9, "a key in double quotes is missing"),
        ('{"a": 1\n "b": 2}', 2, 2, "a comma or } is missing"),
        ('{"a" 1}', 1, 6, "a colon is missing"),
        ("{'a': 1}", 1, 2, "a key in double quotes is missing"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', 1, 24, 'the key "c" stands here a second time'),
        ('{"a": "\\u0062", "\\u0061": 1}', 1, 17, 'the key "a" stands here a second time'),
        ('{"a": NaN}', 1, 7, "not a JSON value"),
        ('{"a": 01}', 1, 8, "a comma or } is missing"),
        ('{"a": "x', 1, 7, "unterminated string"),
        ('{"a": "x\ny"}', 1, 9, "invalid control character"),
        ('{"a": [1, 2', 1, 12, "the text ends too early"),
        ('\ufeff{"a": tru}', 1, 7, "not a JSON value"),
        ('{"a": ' + "9" * 5000 + "}", 1, 7, "too many digits"),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(text, line, column, what):
    with pytest.raises(SettingsError) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert what in caught.value.message
    assert str(caught.value).startswith(f"{line}:{column}: ")


def test_deep_nesting_is_refused_before_it_takes_the_stack():
    assert parse("[" * MOST_DEPTH + "]" * MOST_DEPTH) is not None
    with pytest.raises(SettingsError, match="nested deeper"):
        parse("[" * 100_000)
