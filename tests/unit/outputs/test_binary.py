from hypothesis import given
from hypothesis import strategies as st

from admit.outputs.binary import LOOKED_AT, is_binary


@given(st.text())
def test_text_is_not_binary_whatever_its_script(text):
    assert not is_binary(text.replace("\0", "").encode("utf-8", "ignore"))


def test_over_one_percent_of_nul_bytes_is_binary():
    assert is_binary(b"a" * 980 + b"\0" * 20)
    assert not is_binary(b"a" * 990 + b"\0" * 10)


def test_over_ten_percent_of_invalid_utf_8_is_binary():
    assert is_binary(b"a" * 89 + b"\xff" * 11)
    assert not is_binary(b"a" * 90 + b"\xff" * 10)


def test_only_the_first_64_kib_are_looked_at():
    assert not is_binary(b"a" * LOOKED_AT + b"\0" * LOOKED_AT)
    assert is_binary(b"\0" * LOOKED_AT + b"a" * 10 * LOOKED_AT)


def test_a_character_cut_at_the_end_of_what_is_looked_at_is_no_reason():
    assert not is_binary(b"a" * (LOOKED_AT - 1) + "😀".encode() * 10)


def test_nothing_is_not_binary():
    assert not is_binary(b"")
