"""`admit init` and `admit uninstall` as a person runs them: shown first, asked, written, undone."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from admit.hosts import routes
from admit.hosts.claude_code.init import FILE
from admit.ledger import iter_records

ADMIT = str(Path(sys.executable).with_name("admit"))
WAIT_S = 60


class Person:
    """A home, and somebody at its command line."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.file = home / ".claude" / FILE
        self.env = {"HOME": str(home), "PATH": f"{home}/bin:/usr/bin:/bin", "TZ": "UTC", "COLUMNS": "80"}
        self.env["ORT_DISABLE_TELEMETRY"] = "1"  # else onnxruntime keeps a folder of its own in the caches
        for name in ("STATE", "CONFIG", "CACHE"):
            self.env[f"XDG_{name}_HOME"] = str(home / name.lower())

    def runs(self, *args, **options):
        """Run without a terminal."""
        return subprocess.run(
            [ADMIT, *args],
            env=self.env,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            **options,
        )

    def answers(self, words, *args):
        """Run at a terminal and type one answer to each question; gives the exit code and what was shown."""
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(self.home)
            os.execve(ADMIT, [ADMIT, *args], self.env)
        shown, end, words = b"", time.monotonic() + WAIT_S, list(words)
        while time.monotonic() < end:
            try:
                shown += os.read(fd, 65536)
            except OSError:
                break
            if words and shown.rstrip().endswith(b"]:"):
                os.write(fd, f"{words.pop(0)}\n".encode())
                shown += b"\n"
        os.close(fd)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()

    def events(self, type):
        records = iter_records(str(self.home / "state" / "admit" / "ledger.db"))
        return [event.body for record in records for event in record.events if event.type == type]


@pytest.fixture
def person(place):
    return Person(place)


def test_print_shows_everything_and_writes_nothing(person):
    done = person.runs("init", "claude-code", "--print")
    assert done.returncode == 0
    assert f"+++ {person.file}" in done.stdout and '+    "UserPromptSubmit": [' in done.stdout
    assert "hook_client.py" in done.stdout.partition("The command lines in full:")[2]
    assert not person.file.exists() and not (person.home / "state" / "admit" / "inits.json").exists()


def test_without_a_terminal_and_a_yes_it_prints_and_says_what_is_missing(person):
    done = person.runs("init", "claude-code")
    assert done.returncode == 2 and "+++ " in done.stdout
    assert (
        done.stderr
        == "admit: nothing was written: there is no terminal to ask at; add --yes if you mean it\n"
    )
    assert not person.file.exists()


def test_yes_writes_looks_around_and_records_it(person):
    person.file.parent.mkdir()
    person.file.write_text('{"model": "opus"}\n')
    done = person.runs("init", "claude-code", "--yes")
    assert done.returncode == 0, done.stderr
    assert "What stood there is in" in done.stdout and "The doctor:" in done.stdout
    assert "there is no claude on PATH" in done.stdout and "hosts.wrap" not in done.stdout
    assert person.events("host.init") == [
        {"host": "claude-code", "files": [str(person.file)], "action": "init"}
    ]
    again = person.runs("init", "claude-code", "--yes")
    assert again.returncode == 0 and again.stdout.startswith(f"{person.file} stays as it is.\n")
    gone = person.runs("init", "claude-code", "--remove", "--yes")
    assert gone.returncode == 0 and person.file.read_text() == '{"model": "opus"}\n'
    assert [one["action"] for one in person.events("host.init")] == ["init", "remove"]


@pytest.mark.parametrize("word, written", [("y", True), ("n", False), ("", False)])
def test_at_a_terminal_it_asks_and_a_yes_alone_writes(person, word, written):
    code, shown = person.answers([word], "init", "claude-code", "--no-selftest")
    assert code == 0 and f"Write {person.file}?" in shown
    assert person.file.exists() is written
    assert written or "Nothing was written." in shown


def test_settings_that_are_not_json_are_left_alone_with_line_and_column(person):
    person.file.parent.mkdir()
    person.file.write_text('{\n  "model": "opus", // the best\n}\n')
    for args in (["--yes"], ["--print"], ["--remove", "--yes"]):
        done = person.runs("init", "claude-code", *args)
        assert (done.returncode, done.stderr) == (
            2,
            f"admit: {person.file}:2:20: a comment, which JSON does not have\n",
        )
    assert os.listdir(person.file.parent) == [FILE]


def test_a_link_is_named_and_what_it_leads_to_is_written(person):
    real = person.home / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text("{}")
    person.file.parent.mkdir()
    person.file.symlink_to(real)
    done = person.runs("init", "claude-code", "--yes", "--no-selftest")
    assert done.stdout.startswith(f"{person.file} is a link to {real}.\n")
    assert person.file.is_symlink() and "hook_client.py" in real.read_text()


def test_a_projects_settings_hold_no_home_and_say_why(person):
    project = person.home / "app"
    (project / ".git").mkdir(parents=True)
    person.home = project
    done = person.runs("init", "claude-code", "--project", "--yes", "--no-selftest")
    assert done.returncode == 0 and "no path of your home" in done.stdout
    assert person.env["HOME"] not in (project / ".claude" / FILE).read_text()


def test_json_says_what_was_done_and_never_asks(person):
    done = person.runs("init", "claude-code", "--json")
    assert done.returncode == 2 and "--yes or --print" in done.stderr
    told = json.loads(person.runs("init", "claude-code", "--json", "--print").stdout)
    assert (told["changed"], told["written"], told["file"]) == (True, False, str(person.file))
    told = json.loads(person.runs("init", "claude-code", "--json", "--yes").stdout)
    assert (told["written"], told["backup"], told["scope"]) == (True, None, "user")
    assert len(told["lines"]) == 11 and told["diff"]
    told = json.loads(person.runs("init", "claude-code", "--json", "--yes", "--remove").stdout)
    assert told["written"] and not person.file.exists()


@pytest.mark.parametrize(
    "host, words", [("mcp", "the MCP gateway is not there yet"), ("emacs", "there is no host 'emacs'")]
)
def test_a_host_that_there_is_not_is_a_wrong_use(person, host, words):
    done = person.runs("init", host, "--yes")
    assert done.returncode == 2 and words in done.stderr and "claude-code" in done.stderr


def a_client(person, version="9.9.9"):
    client = person.home / "bin" / "claude"
    client.parent.mkdir()
    client.write_text(f"#!/bin/sh\necho '{version} (Claude Code)'\n")
    client.chmod(0o755)


def test_the_wrap_stays_off_where_nobody_has_seen_it_to_be_safe(person):
    a_client(person)
    done = person.runs("init", "claude-code", "--yes", "--no-selftest", "--wrap")
    assert "hosts.wrap stays off: 9.9.9 has not been seen to allow it" in done.stdout
    routes.keep("claude-code", "9.9.9", {"rewrite_input": "no"})
    done = person.runs("init", "claude-code", "--yes", "--no-selftest", "--wrap")
    assert "hosts.wrap stays off: 9.9.9 does not keep your rules then" in done.stdout
    assert not (person.home / "config" / "admit" / "admit.toml").exists()


def test_the_wrap_is_put_on_where_it_was_seen_to_be_safe_and_was_asked_for(person):
    a_client(person)
    routes.keep("claude-code", "9.9.9", {"rewrite_input": "yes"})
    done = person.runs("init", "claude-code", "--yes", "--no-selftest")
    assert "hosts.wrap" not in done.stdout
    done = person.runs("init", "claude-code", "--yes", "--no-selftest", "--wrap")
    assert done.returncode == 0 and "hosts.wrap = list" in done.stdout
    assert json.loads(person.runs("config", "explain", "hosts.wrap", "--json").stdout)["value"] == "list"


def test_an_old_client_gets_lines_that_it_understands(person):
    a_client(person, "2.0.76")
    person.runs("init", "claude-code", "--yes", "--no-selftest")
    assert '"args"' not in person.file.read_text()
    assert person.runs("doctor").stdout.find("not those that this installation writes") < 0


def test_uninstall_shows_everything_and_does_nothing_without_a_yes(person):
    person.runs("init", "claude-code", "--yes", "--no-selftest")
    done = person.runs("uninstall")
    assert done.returncode == 2 and "nothing was done" in done.stderr
    assert "Kept so far: the record" in done.stdout and f"--- {person.file}" in done.stdout
    assert "hook_client.py" in person.file.read_text()


def test_uninstall_asks_of_each_thing_apart(person):
    person.runs("init", "claude-code", "--yes", "--no-selftest")
    state = person.home / "state" / "admit"
    (state / "outputs").mkdir(exist_ok=True)
    (state / "outputs" / "o.txt").write_text("text")
    code, shown = person.answers(["y", "y", "n", "n", "n", "n"], "uninstall")
    assert code == 0, shown
    assert "Delete the stored outputs" in shown and "Delete the record" in shown
    assert not (state / "outputs").exists() and (state / "ledger.db").exists()
    assert not person.file.exists()


def test_uninstall_with_yes_leaves_nothing_of_admit_and_everything_else(person):
    person.file.parent.mkdir()
    person.file.write_text('{"model": "opus"}\n')
    person.runs("init", "claude-code", "--yes", "--no-selftest")
    assert person.runs("daemon", "start").returncode == 0
    done = person.runs("uninstall", "--yes", "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["files"], told["daemon_stopped"]) == (0, [str(person.file)], True)
    assert person.runs("daemon", "status").returncode == 1
    left = sorted(str(path.relative_to(person.home)) for path in person.home.rglob("*") if path.is_file())
    assert left == [".claude/settings.json"] and person.file.read_text() == '{"model": "opus"}\n'


def test_uninstall_says_what_it_could_not_take_out(person):
    person.runs("init", "claude-code", "--yes", "--no-selftest")
    person.file.write_text(person.file.read_text() + "// odd")
    done = person.runs("uninstall", "--yes")
    assert done.returncode == 1 and f"{person.file} cannot be edited" in done.stdout
