import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.outputs.parsers import parse_all
from admit.outputs.parsers.json_text import MAX_CHARS, MOST_LINES, parse


def structure(lines: list[str]) -> list[int]:
    report = parse_all(lines, "\n".join(lines))
    assert report.faults == () and not report.parsed
    assert all(mark.kind == "structure" for mark in report.marks)
    return [mark.line for mark in report.marks]


def blocks(lines: list[str]) -> list[tuple[int, int]]:
    return [(block.first, block.last) for block in parse_all(lines, "\n".join(lines)).blocks]


def pretty(value: object) -> list[str]:
    return json.dumps(value, indent=2).split("\n")


def records(count: int) -> list[dict[str, object]]:
    return [{"id": i, "name": f"item {i}", "price": i * 3} for i in range(count)]


def test_json_lines_keep_the_first_the_last_and_the_odd_one_out():
    values = records(100)
    values[40]["refunded"] = True
    assert structure([json.dumps(value) for value in values]) == [0, 40, 99]


def test_an_array_keeps_its_ends_whole_and_the_odd_element():
    values = records(30)
    values[17]["refunded"] = True
    lines = pretty(values)
    odd = next(i for i, line in enumerate(lines) if "refunded" in line)
    assert structure(lines) == [
        *range(1, 6),
        *range(odd - 4, odd + 2),
        *range(len(lines) - 6, len(lines) - 1),
    ]


def test_where_every_element_has_other_keys_none_is_odd():
    lines = [json.dumps({"id": i, f"key{i}": i}) for i in range(40)]
    marks = parse(lines, "\n".join(lines))
    assert marks is not None
    assert [mark.line for mark in marks.marks if mark.rule == "json.element"] == []
    assert [mark.line for mark in marks.marks if mark.rule == "json.key"] == list(range(40))


def test_a_key_counts_where_it_first_stands():
    lines = pretty({"a": {"x": 1, "y": 2}, "b": [{"x": 3}, {"x": 4}, {"x": 5}]})
    keys = [i for i, line in enumerate(lines) if '"' in line]
    marks = parse(lines, "\n".join(lines))
    assert marks is not None
    assert [mark.line for mark in marks.marks if mark.rule == "json.key"] == keys[:5]


def test_an_element_of_several_lines_is_a_block():
    lines = pretty(records(3))
    assert blocks(lines) == [(1, 5), (6, 10), (11, 15)]


def test_of_nested_elements_the_outer_one_is_the_block_while_it_is_short():
    inner = [{"x": 1}, {"x": 2}]
    lines = pretty([{"in": inner}, {"in": inner}])
    assert len(blocks(lines)) == 2
    long = pretty([{"in": [{"x": i} for i in range(MOST_LINES)]}])
    assert len(blocks(long)) == MOST_LINES


def test_one_long_line_that_was_cut_up_is_read_as_a_whole():
    values = records(60)
    values[30]["refunded"] = 'with "quotes" and \\ in it'
    text = json.dumps(values)
    pieces = [text[at : at + 100] for at in range(0, len(text), 100)]
    odd = text.index("refunded") // 100
    marks = structure(pieces)
    assert odd in marks and {0, len(pieces) - 1} <= set(marks)
    assert len(marks) < 12


def test_several_documents_after_each_other_are_elements():
    assert structure([*pretty({"a": 1}), *pretty({"a": 2}), *pretty({"a": 3})]) == [0, 1, 2, 6, 7, 8]


def test_a_log_of_mostly_json_lines_is_read_and_one_of_few_is_not():
    objects = [json.dumps(value) for value in records(20)]
    assert structure([objects[0], "listening on port 80", *objects[1:]]) == [0, 20]
    assert structure([objects[0], *["plain"] * 60, *objects[1:]]) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "{}",
        "[]",
        "[ERROR] x",
        "[1, 2",
        '{"a": }',
        "{" * 5000,
        "[" * 100_000,
        "[1] trailing",
        '"just a string"',
        "[" + "1" * 5000 + "]",
    ],
)
def test_text_that_is_no_json_or_has_nothing_in_it_is_left_alone(text):
    assert structure([text]) == []


def test_over_a_million_characters_nothing_is_parsed():
    lines = [json.dumps({"id": i, "pad": "x" * 1000}) for i in range(MAX_CHARS // 1000)]
    assert parse(lines, "\n".join(lines)) is None


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=4), inner, max_size=5),
    max_leaves=30,
)


@given(_VALUES, st.sampled_from([None, 0, 2]), st.booleans())
def test_any_json_is_read_with_marks_on_its_own_lines(value, indent, raw):
    lines = json.dumps([value, value], indent=indent, ensure_ascii=not raw).split("\n")
    parsed = parse(lines, "\n".join(lines))
    spots = [mark.line for mark in parsed.marks] if parsed else []
    assert spots == sorted(set(spots)) and all(0 <= spot < len(lines) for spot in spots)
    assert all(0 <= block.first < block.last < len(lines) for block in (parsed.blocks if parsed else ()))


@given(st.lists(st.text(max_size=8), min_size=1, max_size=9, unique=True), st.integers(1, 40))
def test_wherever_a_line_is_cut_the_piece_in_which_a_key_begins_is_marked(keys, width):
    text = "{"
    begins = set()
    for key in keys:
        begins.add(len(text) // width)
        text += json.dumps(key) + ": [0, 1], "
    text = text[:-2] + "}"
    pieces = [text[at : at + width] for at in range(0, len(text), width)]
    parsed = parse(pieces, "\n".join(pieces))
    assert parsed is not None
    assert {mark.line for mark in parsed.marks if mark.rule == "json.key"} == begins
