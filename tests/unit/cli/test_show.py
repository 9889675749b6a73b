"""`admit show`: the text an agent saw, rebuilt from the stored copy."""

from __future__ import annotations

import json
import re

import pytest
from command_line import Home, id_in, log


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(log(), id="plain"),
        pytest.param(log(error="error: \udcff odd \udcfe bytes"), id="invalid UTF-8"),
        pytest.param(log().replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(log().replace(b"compiling", b"\x1b[1mcompiling\x1b[0m"), id="colours"),
        pytest.param(
            b"".join(b"word%d " % n for n in range(9_000)) + b"error: here " * 9, id="one long line"
        ),
    ],
)
def test_what_was_shown_is_shown_again_byte_for_byte(home, data):
    text = home.output(data, "--exit-code", "2", "--task", "why does module 700 fail")
    assert home.admit("show", "--last").stdout == text
    assert home.admit("show", id_in(text)).stdout == text


def test_what_was_not_cut_is_shown_whole(home):
    data = log(100)
    assert home.output(data) == data
    assert home.admit("show", "--last").stdout == data


def test_json_names_the_decision(home):
    text = home.output(log(), "--exit-code", "2")
    value = json.loads(home.admit("show", "--last", "--json").stdout)
    assert list(value) == ["schema", "id", "decision_id", "how", "reason", "text"]
    assert (value["id"], value["how"], value["text"]) == (id_in(text), "local", text.decode())
    by_decision = home.admit("show", value["decision_id"])
    assert by_decision.stdout == text


def test_where_nothing_was_decided_it_exits_with_1_and_says_what_to_do(home):
    done = home.admit("show", "--last")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"admit: no decision about an output; nothing is recorded yet\n"
    done = home.admit("show", "o_000000000000")
    assert done.returncode == 1 and b"`admit recall` gives the stored text" in done.stderr
    assert home.admit("show").returncode == 2


def test_a_stored_copy_that_is_gone_is_said(home):
    name = home.stored(log())
    home.files[0].unlink()
    done = home.admit("show", name)
    assert (done.returncode, done.stdout) == (1, b"") and b"deleted" in done.stderr


def with_setting(home: Home, line: str) -> Home:
    settings = home.path / ".config" / "admit" / "admit.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"[outputs]\n{line}\n")
    settings.chmod(0o600)
    return home


def test_where_credentials_are_masked_they_are_masked_here_too(home):
    token = "ghp_" + "A1b2C3d4E5f6" * 3
    text = with_setting(home, "mask = true").output(log(error=f"error: refused {token}"), "--exit-code", "2")
    assert b"error: refused" in text and token.encode() not in text
    assert home.admit("show", "--last").stdout == text


@pytest.fixture
def small_store(home):
    """A home whose store keeps 32 KiB from either end of an output."""
    return with_setting(home, "max_one_bytes = 65536")


def test_of_a_huge_output_what_stands_in_its_stored_ends_is_shown_again(small_store):
    plain = log(4_000, error="[02000] compiling module number 14000 now")
    text = small_store.output(plain + b"error: near the end\n" + log(200, error="odd"), "--exit-code", "2")
    assert b"error: near the end" in text
    assert without_nonce(small_store.admit("show", "--last").stdout) == without_nonce(text)


def without_nonce(text: bytes) -> bytes:
    """The text below the header, markers without their nonce."""
    return re.sub(rb"\[admit [0-9a-f]+", b"[admit", text.split(b"\n", 1)[1])


def test_of_a_huge_output_what_is_not_stored_is_part_of_a_gap(small_store):
    text = small_store.output(log(4_000, error="error: in the middle"), "--exit-code", "2")
    again = small_store.admit("show", "--last").stdout
    assert b"error: in the middle" in text and b"error: in the middle" not in again
    lines = again.split(b"\n")
    omitted = sum(
        int(line.split()[2].replace(b",", b"")) for line in lines[1:] if b" lines omitted, " in line
    )
    kept = [line for line in lines[1:-1] if not line.startswith(b"[admit ")]
    assert omitted + len(kept) == 4_000 and all(line.strip() for line in kept)
