"""The line of every key, found without a parser that knows lines."""

from __future__ import annotations

import tomllib

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from admit.config.lines import key_lines, line_of

TEXT = '''\
# a comment with = and [brackets]
top = 1
"quo.ted" = 2
dotted . path = 3   # [not.a.table]

[table]
multi = """
[no.table]
key = "no"
""" # after
list = [
  "a", # ]
  'b = "c"',
]
inline = { x = 1, y = { z = 2 } }
[table."a b".'c']
"\\u0078" = 'literal # not a comment'
[[array]]
n = 1
[[array]]
n = 2
'''


def test_every_statement_is_found_on_its_line():
    lines = key_lines(TEXT)
    wanted = {
        ("top",): 2,
        ("quo.ted",): 3,
        ("dotted",): 4,
        ("dotted", "path"): 4,
        ("table",): 6,
        ("table", "multi"): 7,
        ("table", "list"): 11,
        ("table", "inline"): 15,
        ("table", "a b"): 16,
        ("table", "a b", "c"): 16,
        ("table", "a b", "c", "x"): 17,
        ("array",): 18,
        ("array", "n"): 19,
    }
    assert lines == wanted


def test_a_key_inside_an_inline_table_has_its_statements_line():
    assert line_of(key_lines(TEXT), ("table", "inline", "y", "z")) == 15
    assert line_of(key_lines(TEXT), ("nowhere",)) == 0


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_and_a_byte_order_mark_change_no_line(end):
    assert key_lines("\ufeff" + TEXT.replace("\n", end)) == key_lines(TEXT)


words = st.text(alphabet="ab.\"'\\#[]{}=\n é", min_size=1, max_size=6)
values = st.recursive(
    st.integers(-9, 9) | st.booleans() | words, lambda inner: st.lists(inner, max_size=3), max_leaves=5
)
tables = st.recursive(
    st.dictionaries(words, values, max_size=3),
    lambda inner: st.dictionaries(words, inner | values, max_size=3),
    max_leaves=8,
)


def paths(table, above=()):
    for name, value in table.items():
        yield (*above, name)
        if isinstance(value, dict):
            yield from paths(value, (*above, name))


@given(tables)
def test_exactly_the_keys_that_the_parser_sees_are_found(table):
    text = tomlkit.dumps(table)
    assert set(key_lines(text)) == {path for path in paths(tomllib.loads(text)) if len(path) <= 8}


@given(tables)
def test_a_key_is_absent_from_the_lines_before_its_own(table):
    text = tomlkit.dumps(table)
    for path, number in key_lines(text).items():
        head = "\n".join(text.split("\n")[: number - 1])
        try:
            before = tomllib.loads(head)
        except tomllib.TOMLDecodeError:
            pytest.fail(f"line {number} stands inside a statement")
        assert path not in set(paths(before))


@given(st.text(alphabet="ab.=\"'#[]{}\\\n ", max_size=60))
def test_any_text_at_all_is_read_to_its_end(text):
    assert all(1 <= line <= text.count("\n") + 1 for line in key_lines(text).values())
