import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.outputs.again import shown_again
from admit.outputs.masking import Masked, masked_whole
from admit.outputs.model import OutputConfig, RawOutput
from admit.outputs.record import fields
from admit.outputs.view import rebuild

from .cases import CONFIG, Door, steps, text_of
from .test_recall import ask

TOKEN = "ghp_" + "a1B2c3D4e5" * 4
MASK = CONFIG._replace(mask=True)

HIDDEN = [
    ("password=\x1b[1mhunter2secret\x1b[0m", "hunter2secret"),
    ("key AK\x1b[31mIA" + "Q7RT" * 4 + "\x1b[0m refused", "Q7RTQ7RT"),
    (f"token {TOKEN}\x1b[0m refused", "a1B2c3D4e5"),
    (f"token \x1b[1m{TOKEN[:9]}\x1b[4m{TOKEN[9:]}\x1b[0m", "a1B2c3D4e5"),
    ("10 %\rpassword=\x1b[1mhunter2secret\x1b[0m", "hunter2secret"),
    ("password=\x1b[1mhunter2secret\x1b[0m\rdone", "hunter2secret"),
    ("\x1b]8;;https://me:hunter2secret@host/\x07link\x1b]8;;\x07", "hunter2secret"),
]


@pytest.mark.parametrize(("line", "secret"), HIDDEN)
def test_escapes_and_returns_inside_a_credential_hide_it_from_no_mask(line, secret):
    """Cut, uncut, small, recalled and shown again alike."""
    cut = text_of(steps(0, 900), f"error: {line}", steps(900, 910))
    door = Door(MASK)
    result = door.admit(cut, exit_code=1)
    assert result.how == "local" and secret not in result.text and secret.encode() not in result.data
    for text in (line, text_of(steps(0, 100), line), cut):
        uncut = Door(MASK).admit(text, exit_code=1, kind="file_read")
        assert uncut.how == "exempt" and uncut.changed
        assert secret not in uncut.text and secret.encode() not in uncut.data and "[redacted:" in uncut.text
        for how in ({}, {"whole": True}):
            answer = ask(text.encode(), mask=True, page_chars=10**6, **how)
            assert secret.encode() not in answer.answer() and ", credentials masked" in answer.header
    stored = cut.encode()
    extra = fields(result, RawOutput.of(cut, exit_code=1), MASK, None)
    again = shown_again(stored, extra, bytes(32), b"k", mask=True)
    assert secret.encode() not in again and secret.encode() not in shown_again(
        stored, {}, b"", b"", mask=True
    )


def test_a_header_says_verbatim_only_where_nothing_was_masked():
    clean = text_of(steps(0, 900), "error: refused", steps(900, 910))
    assert "kept for the task, verbatim;" in Door(MASK).admit(clean, exit_code=1).text
    secret = clean.replace("refused", f"{TOKEN} refused")
    assert "kept for the task, credentials masked;" in Door(MASK).admit(secret, exit_code=1).text
    assert "kept for the task, verbatim;" in Door().admit(secret, exit_code=1).text
    lines = f"one\n{TOKEN}\nthree\n".encode()
    assert ask(lines, mask=True, lines=(1, 1)).header.endswith(", verbatim")
    assert ask(lines, mask=True, lines=(2, 2)).header.endswith(", credentials masked")


def test_the_stored_copy_and_an_output_that_may_not_be_changed_stay_as_they_are():
    door = Door(MASK)
    result = door.admit(text_of(steps(0, 100), TOKEN), exit_code=0)
    assert result.changed and TOKEN.encode() in door.store.open(result.id).read()
    for config in (MASK._replace(mode="off"), MASK._replace(mode="shadow"), MASK._replace(skip_tools=("*",))):
        same = Door(config).admit(TOKEN, exit_code=0)
        assert not same.changed and same.text == TOKEN
    assert not Door(MASK).admit("nothing of that kind", exit_code=0).changed


def test_a_masked_recall_keeps_the_line_numbers_and_finds_no_credential():
    block = "-----BEGIN PRIVATE KEY-----\nMIIE" + "Qz7vX" * 12 + "\n-----END PRIVATE KEY-----"
    data = f"first\n{block}\nlast\n".encode()
    assert ask(data, mask=True, lines=(5, 5)).text == "last\n"
    assert "Qz7vX" not in ask(data, mask=True, lines=(3, 3)).text
    assert not ask(data, mask=True, search="Qz7vX").hits and ask(data, search="Qz7vX").hits
    assert "Qz7vX" not in ask(data, mask=True, search="first").text


def test_utf_16_is_masked_as_utf_8():
    data = f"token {TOKEN}\n".encode("utf-16")
    assert masked_whole(data).startswith(b"token [redacted:") and b"a1B2" not in masked_whole(data)
    assert "[redacted:" in ask(data, mask=True, whole=True).text
    plain = "é\n".encode("utf-16")
    assert masked_whole(plain) is plain


PIECES = st.sampled_from(
    ["\x1b[31m", "\x1b[0m", "\r", "\n", "é", "a", " ", "\x1b", f" {TOKEN} ", TOKEN[:9], TOKEN[9:]]
)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_no_view_of_a_masked_text_holds_a_whole_token(text):
    data = text.encode()
    masked = Masked(data)
    shown = masked.slice(0, len(data))
    assert TOKEN not in shown.decode() and TOKEN not in rebuild(shown, 0, len(shown))
    blank = masked.blanked()
    assert len(blank) == len(data) and blank.count(b"\n") == data.count(b"\n")


def test_masking_is_off_as_shipped():
    assert OutputConfig().mask is False
