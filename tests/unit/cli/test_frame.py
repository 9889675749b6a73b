"""The frame: which module is loaded, what an error says, and how a command ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import click
import pytest

from admit import __version__, errors
from admit.cli import crash, frame


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def probe(monkeypatch):
    """Put one command named `probe` into the table, made from a function."""

    def install(function):
        module = SimpleNamespace(command=click.command("probe")(function))
        monkeypatch.setitem(sys.modules, "probe_module", module)
        table = {**frame.COMMANDS, "probe": ("probe_module", "Probe.")}
        monkeypatch.setattr(frame, "COMMANDS", table)

    return install


def python(code: str, **kwargs) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, **kwargs)


def test_version_is_printed(capsys):
    assert frame.run(["--version"]) == 0
    assert capsys.readouterr().out == f"admit {__version__}\n"


def test_help_lists_every_command_and_imports_none(capsys):
    before = {name for name in sys.modules if name.startswith("admit.cli.")}
    assert frame.run(["--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for name, (_, summary) in frame.COMMANDS.items():
        assert f"{name} {summary}" in text
    assert {name for name in sys.modules if name.startswith("admit.cli.")} == before


def test_the_frame_loads_neither_pydantic_nor_rich_nor_numpy_nor_a_command():
    code = (
        "import sys; from admit.cli.frame import run; run(['--version']);"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in "
        "{'pydantic','rich','numpy','onnxruntime','asyncio','tomllib','tomlkit','sqlite3'}"
        " or m.startswith('admit.cli.')))"
    )
    assert python(code).stdout.decode().splitlines()[-1] == "['admit.cli.frame']"


@pytest.mark.parametrize(("word", "meant"), [("outptu", "output"), ("statsu", "status"), ("confg", "config")])
def test_an_unknown_command_names_the_nearest_one(word, meant, capsys):
    assert frame.run([word]) == 2
    error = capsys.readouterr().err
    assert f"There is no command '{word}'. Did you mean '{meant}'?" in error


def test_an_unknown_command_with_no_near_one_makes_no_guess(capsys):
    assert frame.run(["zzzzzz"]) == 2
    assert "Did you mean" not in capsys.readouterr().err


def test_an_unknown_option_is_a_usage_error(capsys):
    assert frame.run(["--colour"]) == 2
    assert "--colour" in capsys.readouterr().err


def test_a_named_settings_file_that_is_not_there_is_a_usage_error(capsys):
    assert frame.run(["--config", "/nonexistent.toml", "status"]) == 2
    assert "/nonexistent.toml" in capsys.readouterr().err


@pytest.mark.parametrize("value", [None, 0, 1, 7, 137])
def test_a_command_returns_its_exit_code(value, probe):
    probe(lambda: value)
    assert frame.run(["probe"]) == (value or 0)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.ConfigError("x is wrong", key="x"), 2),
        (errors.BadRange("7-x is no range"), 2),
        (errors.Corrupt("the ledger is damaged"), 2),
        (errors.OutputNotFound("o_1", "expired"), 1),
        (errors.CalibrationError("a gate failed"), 1),
        (click.UsageError("not so"), 2),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (BrokenPipeError(), 141),
    ],
)
def test_every_error_ends_with_its_exit_code_and_without_a_traceback(error, code, probe, capsys):
    def fail():
        raise error

    probe(fail)
    assert frame.run(["probe"]) == code
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    if str(error) and code in (1, 2):
        assert str(error) in captured.err


def test_a_bug_leaves_a_crash_log_and_says_where(probe, capsys, monkeypatch):
    def fail():
        raise TypeError("a private word")

    probe(fail)
    monkeypatch.setattr(
        sys, "argv", ["admit", "run", "--task=secret", "-uname:word", "--", "curl", "-Htoken"]
    )
    assert frame.run(["probe"]) == 3
    said = capsys.readouterr().err
    path = re.search(r"The details are in (\S+);", said)[1]
    assert "TypeError" in said and "private" not in said
    with open(path) as log:
        text = log.read()
    assert f"admit {__version__}\n" in text and "python 3." in text and "click " in text
    assert "TypeError: a private word" in text
    assert "called run --task -u\n" in text
    assert oct(os.stat(path).st_mode & 0o777) == "0o600"
    assert oct(os.stat(os.path.dirname(path)).st_mode & 0o777) == "0o700"


def test_crash_logs_stay_small_and_few():
    try:
        raise ValueError("x" * 1_000_000)
    except ValueError as error:
        paths = [crash.write_crash_log(error) for _ in range(25)]
    folder = os.path.dirname(paths[0])
    left = sorted(os.path.join(folder, name) for name in os.listdir(folder))
    assert left == paths[-20:]
    assert all(os.path.getsize(path) == crash.MAX_BYTES for path in left)


def test_a_crash_log_that_cannot_be_written_leaves_one_sentence(probe, capsys, tmp_path, monkeypatch):
    def fail():
        raise TypeError("what happened")

    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(blocked))
    probe(fail)
    assert frame.run(["probe"]) == 3
    said = capsys.readouterr().err
    assert "(TypeError) at test_frame.py:" in said and "Traceback" not in said


def test_a_reader_that_goes_away_ends_the_command_quietly():
    code = (
        "import sys, types, click; from admit.cli import frame\n"
        "def many():\n    for i in range(100000): click.echo(i)\n"
        "sys.modules['probe'] = types.SimpleNamespace(command=click.command('probe')(many))\n"
        "frame.COMMANDS = {'probe': ('probe', '')}\n"
        "sys.exit(frame.run(['probe']))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 141


@pytest.mark.parametrize(
    ("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colour_is_off_where_the_environment_says_so(environment, coloured, probe, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    seen = []
    probe(lambda: seen.append(click.get_current_context().color))
    frame.run(["probe"])
    assert seen == [None if coloured else False]


def test_there_is_no_colour_in_a_pipe(probe, capsys):
    probe(lambda: click.echo(click.style("word", fg="red")))
    assert frame.run(["probe"]) == 0
    assert capsys.readouterr().out == "word\n"


def test_json_survives_a_lone_surrogate(capsys):
    frame.print_json({"text": "é \ud800"})
    assert json.loads(capsys.readouterr().out) == {"text": "é \ud800"}


def test_completion_offers_commands_without_importing_them(capsys, monkeypatch):
    monkeypatch.setenv("_ADMIT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "admit re")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert frame.run([]) == 0
    assert capsys.readouterr().out.split() == ["plain,recall", "plain,report", "plain,redact", "plain,resume"]
