"""JSON lines: one bad line loses only itself, and a file that is still written is read to its last line."""

from __future__ import annotations

import io
import json
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from admit.transcripts.lines import JsonLines

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


def read(data: bytes, **options):
    lines = JsonLines(io.BytesIO(data), **options)
    return list(lines), dict(lines.counts), lines.offset


def test_every_object_is_read_in_order():
    assert read(b'{"a": 1}\n{"a": 2}\n') == ([{"a": 1}, {"a": 2}], {}, 18)


def test_a_line_that_is_no_object_loses_only_itself():
    values, counts, _ = read(b'{"a": 1}\n[1]\n{"a":\nnull\n{"a": 2}\n')
    assert values == [{"a": 1}, {"a": 2}] and counts == {"broken": 3}


def test_blank_lines_carriage_returns_and_a_byte_order_mark_are_nothing():
    values, counts, offset = read(b'\xef\xbb\xbf{"a": 1}\r\n\r\n \n{"a": 2}\r\n')
    assert values == [{"a": 1}, {"a": 2}] and counts == {} and offset == 27


def test_only_a_line_feed_ends_a_line():
    text = "one\u2028two\u2029three\x0bfour\x85five\rsix"
    data = json.dumps({"a": text}, ensure_ascii=False).encode()
    assert read(data.replace(b"\\r", b"\r") + b"\n")[0] == [{"a": text}]


def test_lone_surrogates_and_broken_bytes_do_not_stop_the_reading():
    values, _, _ = read(b'{"a": "\\ud83d x"}\n{"a": "\xff\xe2\x82"}\n{"a": "\xed\xa0\x80"}\n')
    assert values[0] == {"a": "\ud83d x"} and "\ufffd" in values[1]["a"] and len(values) == 3


def test_an_unfinished_last_line_waits_for_its_end():
    whole = b'{"a": 1}\n{"a": "long"}\n'
    values, counts, offset = read(whole[:-4])
    assert values == [{"a": 1}] and counts == {"unfinished": 1} and offset == 9
    assert read(whole, offset=offset)[0] == [{"a": "long"}]


def test_a_last_line_without_a_line_feed_is_read_when_it_is_whole():
    assert read(b'{"a": 1}\n{"a": 2}') == ([{"a": 1}, {"a": 2}], {}, 17)


def test_a_file_that_shrank_is_read_from_its_start():
    assert read(b'{"a": 1}\n', offset=500)[0] == [{"a": 1}]


def test_a_line_over_the_cap_is_skipped_and_counted():
    data = b'{"a": "' + b"x" * 5_000_000 + b'"}\n{"b": 1}\n'
    values, counts, offset = read(data, most_bytes=1_000)
    assert values == [{"b": 1}] and counts == {"too_long": 1} and offset == len(data)


def test_a_line_at_the_cap_is_read():
    line = b'{"a": "' + b"x" * 91 + b'"}\n'
    assert len(line) == 101 and read(line, most_bytes=100) == ([{"a": "x" * 91}], {}, 101)
    assert read(line[:-1] + b" \n", most_bytes=100)[1] == {"too_long": 1}


def test_a_line_over_the_cap_that_has_no_end_yet_is_unfinished():
    data = b'{"b": 1}\n{"a": "' + b"x" * 5_000
    assert read(data, most_bytes=1_000) == ([{"b": 1}], {"unfinished": 1}, 9)


def test_a_line_that_is_skipped_is_not_held():
    class Endless(io.RawIOBase):
        left = 64 << 20

        def readable(self):
            return True

        def readinto(self, buffer):
            size = min(len(buffer), self.left)
            self.left -= size
            buffer[:size] = b"x" * size
            return size

    tracemalloc.start()
    lines = JsonLines(io.BufferedReader(Endless()), most_bytes=1 << 20)  # type: ignore[arg-type]
    assert list(lines) == [] and lines.counts == {"unfinished": 1}
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


def test_nesting_beyond_what_can_be_walked_is_a_broken_line():
    deep = b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n"
    assert read(deep + b'{"b": 1}\n') == ([{"b": 1}], {"broken": 1}, len(deep) + 9)


@given(st.lists(st.dictionaries(st.text(max_size=5), JSON, max_size=3), max_size=6), st.data())
def test_reading_in_two_parts_is_reading_once(values, data):
    whole = b"".join(json.dumps(value).encode() + b"\n" for value in values)
    cut = data.draw(st.integers(0, len(whole)))
    first = JsonLines(io.BytesIO(whole[:cut]))
    before = list(first)
    assert before + read(whole, offset=first.offset)[0] == values


@given(st.binary(max_size=400))
def test_any_bytes_are_read_without_an_error(data):
    values, _, offset = read(data)
    assert all(isinstance(value, dict) for value in values) and offset <= len(data)
