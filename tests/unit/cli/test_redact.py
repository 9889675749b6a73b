"""`admit redact`: what would leave, and where something was masked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import pytest
from command_line import ADMIT, GOLDEN, Home

from admit.judges.redact import MOST_BYTES

TEXT = "日本語\nDB_PASSWORD=s3cr3tpw\nurl postgres://app:hunter22@db/x\n".encode()


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def test_a_text_is_printed_without_its_credentials_and_that_is_a_finding(home):
    done = home.admit("redact", input=TEXT)
    assert (done.returncode, done.stderr) == (1, b"")
    assert done.stdout.decode() == (
        "日本語\nDB_PASSWORD=[redacted:pair]\nurl postgres://[redacted:url_userinfo]@db/x\n"
    )


@pytest.mark.parametrize("text", [b"", b"\n", b"plain words", b"\x00\r\n\x1b[31m tab\t"])
def test_a_text_without_any_comes_back_byte_for_byte(home, text):
    done = home.admit("redact", input=text)
    assert (done.returncode, done.stdout, done.stderr) == (0, text, b"")


def test_masks_are_places_in_characters_and_never_values(home):
    done = home.admit("redact", "--masks", input=TEXT)
    assert done.returncode == 1
    assert done.stdout.decode() == (
        "character  length  class\n       16       8  pair\n       40      12  url_userinfo\n"
    )
    assert home.admit("redact", "--masks", input=b"plain").stdout == b"nothing masked\n"


def test_json_holds_the_text_and_pointers_and_with_masks_the_pointers_alone(home):
    done = home.admit("redact", "--json", input=TEXT)
    value = json.loads(done.stdout)
    assert done.returncode == 1
    assert value["masked"][0] == {"at": "/text", "start": 16, "len": 8, "class": "pair"}
    assert value["text"].startswith("日本語\nDB_PASSWORD=[redacted:pair]\n")
    alone = json.loads(home.admit("redact", "--json", "--masks", input=TEXT).stdout)
    assert alone == {"schema": 1, "masked": value["masked"]}


def test_bytes_that_are_no_text_are_replaced_and_hide_nothing(home):
    done = home.admit("redact", input=b"\xff\xfe password=s3cr3tpw\xff \xc3")
    assert done.returncode == 1
    assert b"s3cr3tpw" not in done.stdout and done.stdout.endswith(" \ufffd".encode())


def test_a_users_pattern_masks_too(home):
    file = home.path / "admit.toml"
    file.write_text('[judge]\nredact_patterns = ["EMP-[0-9]+"]\n')
    done = home.admit("--config", str(file), "redact", input=b"by EMP-42")
    assert (done.returncode, done.stdout) == (1, b"by [redacted:custom]")


def test_a_text_that_is_too_large_to_be_sent_is_refused_with_what_to_do(home):
    most = b"a " * (MOST_BYTES // 2)
    assert home.admit("redact", "--masks", input=most).returncode == 0
    for large in (most + b"a", b"\xff" * (MOST_BYTES // 3 + 1)):
        done = home.admit("redact", input=large)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"never sent" in done.stderr and b"head -c" in done.stderr


def test_standard_input_that_cannot_be_read_is_wrong_usage(home):
    with open(home.path / "written", "wb") as stdin:
        done = home.admit("redact", stdin=stdin)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"standard input cannot be read" in done.stderr


def test_nothing_is_printed_when_it_is_interrupted(home):
    waiting = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([ADMIT, "redact"], env=home.env, **waiting) as running:
        # More than a pipe holds: once it is written, some of it has been read.
        running.stdin.write(b"password=s3cr3tpw " * 20_000)
        running.stdin.flush()
        while running.poll() is None:
            running.send_signal(signal.SIGINT)
            time.sleep(0.1)
        assert (running.returncode, running.stdout.read()) == (130, b"")


def test_the_help_reads_as_it_did(home):
    done = home.admit("redact", "--help")
    path = GOLDEN / "help" / "admit-redact.txt"
    if os.environ.get("ADMIT_WRITE_GOLDEN"):
        path.write_bytes(done.stdout)
    assert (done.returncode, done.stdout) == (0, path.read_bytes())
