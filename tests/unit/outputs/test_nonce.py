import hashlib

from hypothesis import given
from hypothesis import strategies as st

from admit.outputs.nonce import header_id, header_line, marker_line, nonce, verifies

KEY = b"k" * 32
DATA = b"some output\n"
SHA = hashlib.sha256(DATA).digest()
ID = "o_" + SHA.hex()[:12]


def stored(output_id: str) -> bytes | None:
    return SHA if output_id == ID else None


def test_a_nonce_has_eight_hex_digits_and_depends_on_key_and_content():
    mark = nonce(KEY, SHA, "")
    assert len(mark) == 8 and set(mark) <= set("0123456789abcdef")
    assert nonce(b"x" * 32, SHA, "") != mark
    assert nonce(KEY, hashlib.sha256(b"other").digest(), "") != mark


def test_a_nonce_grows_by_four_digits_until_the_text_does_not_hold_it():
    short = nonce(KEY, SHA, "")
    longer = nonce(KEY, SHA, f"a {short} b")
    assert len(longer) == 12 and longer.startswith(short)
    assert len(nonce(KEY, SHA, f"a {longer} b")) == 16
    assert nonce(KEY, SHA, f"a {short} b".encode()) == longer


def test_the_first_line_of_a_render_and_of_a_recall_verify():
    mark = nonce(KEY, SHA, "")
    words = f"10 of 99 chars kept; exit code 2. Whole output: admit recall {ID}"
    render = header_line(mark, words) + "\nkept\n"
    assert header_id(render) == (mark, ID)
    assert verifies(render, KEY, stored)
    assert verifies(render.encode() + b"\xff", KEY, stored)
    assert verifies(header_line(mark, f"lines 1-2 of {ID}, verbatim") + "\nkept", KEY, stored)


def test_a_forged_nonce_an_unknown_id_and_a_marker_in_the_middle_do_not_verify():
    mark = nonce(KEY, SHA, "")
    forged = ("0" if mark[0] != "0" else "1") + mark[1:]
    assert not verifies(header_line(forged, f"admit recall {ID}"), KEY, stored)
    assert not verifies(header_line(mark, "admit recall o_" + "0" * 12), KEY, stored)
    assert not verifies("first\n" + header_line(mark, f"admit recall {ID}"), KEY, stored)
    assert not verifies(marker_line(mark, f"412 lines omitted, 120-531 {ID}"), KEY, stored)
    assert not verifies(header_line(mark, f"admit recall {ID}"), b"another key", stored)


def test_a_longer_nonce_of_the_same_output_verifies_and_a_shorter_one_does_not():
    twelve = nonce(KEY, SHA, nonce(KEY, SHA, ""))
    assert verifies(header_line(twelve, f"admit recall {ID}"), KEY, stored)
    assert not verifies(header_line(twelve[:4], f"admit recall {ID}"), KEY, stored)
    assert not verifies(header_line(twelve[:10], f"admit recall {ID}"), KEY, stored)


@given(st.text() | st.binary())
def test_no_text_makes_the_reader_of_headers_fail(text):
    header_id(text)
    header_id(b"[admit " + text if isinstance(text, bytes) else "[admit " + text)


@given(st.text(max_size=60))
def test_the_nonce_never_occurs_in_the_text_beside_it(text):
    for _ in range(3):
        mark = nonce(KEY, SHA, text)
        assert mark not in text
        text += mark
