"""What the system refuses is said in a sentence, and is no bug of Admit's."""

from __future__ import annotations

import os
import resource

import pytest
from command_line import Home, log

FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


@FULL
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("args", [["status"], ["config", "show"], ["--help"], ["output", "--json"]])
def test_a_full_disk_under_standard_output_is_said_and_ends_with_1(home, args, unbuffered):
    home.env["PYTHONUNBUFFERED"] = unbuffered
    with open("/dev/full", "wb") as full:
        done = home.admit(*args, stdout=full)
    assert done.returncode == 1
    assert done.stderr == b"admit: standard output could not be written: No space left on device\n"


@FULL
def test_a_full_disk_under_standard_error_changes_no_exit_code(home):
    with open("/dev/full", "wb") as full:
        assert home.admit("status", stderr=full).returncode == 0
        assert home.admit("status", "--nope", stderr=full).returncode == 2
        assert home.admit("why", "o_000000000000", stderr=full).returncode == 1


@pytest.mark.parametrize("args", [["pause"], ["config", "set", "outputs.mode", "off"]])
def test_a_file_that_cannot_be_written_is_named_and_ends_with_2(home, args):
    (home.path / "state").write_text("")
    (home.path / ".config").write_text("")
    done = home.admit(*args)
    assert done.returncode == 2
    assert str(home.path).encode() in done.stderr and done.stderr.count(b"\n") == 1
    assert b"bug" not in done.stderr and b"Traceback" not in done.stderr


@pytest.mark.parametrize("args", [["pause"], ["config", "set", "outputs.mode", "off"]])
def test_a_disk_that_takes_no_byte_is_said_with_the_file(home, args):
    done = home.admit(*args, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    assert done.returncode == 2
    assert str(home.path).encode() in done.stderr and done.stderr.count(b"\n") == 1
    assert not list(home.path.rglob("*.new"))


def test_closed_streams_leave_the_commands_exit_code_and_no_traceback(home):
    done = home.admit("run", "--", "sh", "-c", "echo x; exit 5", preexec_fn=lambda: os.close(1))
    assert (done.returncode, done.stderr) == (5, b"")
    (home.path / "build.log").write_bytes(log())
    with open(home.path / "build.log", "rb") as stdin:
        done = home.admit("output", stdin=stdin, preexec_fn=lambda: os.close(1))
    assert b"Traceback" not in done.stderr and b"bug" not in done.stderr
    assert home.admit("recall", "--last", "--whole", "--raw").stdout == log()


@pytest.mark.parametrize("files", [6, 8])
def test_few_open_files_leave_the_command_or_a_sentence(home, files):
    done = home.admit(
        *("run", "--", "sh", "-c", "echo x; exit 5"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
    )
    said = b"admit run: the command could not be run: Too many open files\n"
    assert (done.returncode, done.stdout, done.stderr) in [(5, b"x\n", b""), (126, b"", said)]


def test_an_empty_command_is_not_found(home):
    done = home.admit("run", "--", "")
    assert (done.returncode, done.stderr) == (127, b"admit run: '': command not found\n")


@pytest.mark.parametrize("option", ["--lines", "--cursor"])
def test_a_number_of_five_thousand_digits_is_a_usage_error(home, option):
    done = home.admit("recall", "--last", option, "9" * 5_000)
    assert done.returncode == 2 and b"at most 100 characters" in done.stderr


@pytest.mark.parametrize("args", [["why"], ["show"], ["recall"], ["ledger", "show"]])
def test_an_id_that_is_no_text_is_not_found(home, args):
    home.stored(log())
    assert home.admit(*args, b"\xff").returncode == 1


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("outputs.skip_tools", b'["\xff"]', b"is not UTF-8"),
        ("outputs.mode", b"\xff", b"is not UTF-8"),
        ("outputs.gate_chars", b"9" * 5_000, b"takes a value such as"),
        ("outputs.mask", b"yes", b'takes true or false, not "yes"'),
    ],
)
def test_a_value_that_cannot_be_set_is_a_usage_error(home, key, value, said):
    done = home.admit("config", "set", key, value)
    assert done.returncode == 2 and said in done.stderr


def test_a_folder_of_sessions_that_is_not_there_is_named(home):
    done = home.admit("outputs", "report", "--sessions", "/nope")
    assert done.returncode == 2 and b"/nope" in done.stderr
