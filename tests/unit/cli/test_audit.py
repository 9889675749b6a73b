"""`admit audit`: recorded sessions in their usual places or in a folder, as text and as JSON."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from admit.cli import audit as audit_command
from admit.cli import frame
from admit.config import layers


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    for variable, folder in (("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("HOME", "home")):
        monkeypatch.setenv(variable, str(tmp_path / folder))
    for variable in ("ADMIT_CONFIG", "ADMIT_OFF", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(layers, "_seen", {})
    monkeypatch.setattr(layers, "_user_file", None)
    commands = {**frame.COMMANDS, "audit": ("admit.cli.audit", "Read the sessions you already have.")}
    monkeypatch.setattr(frame, "COMMANDS", commands)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def recorded(tmp_path, monkeypatch) -> Path:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    from report.recordings import write_all

    write_all(tmp_path / "recorded")
    return tmp_path / "recorded"


@pytest.fixture
def admit(capsys):
    def run(*args: str) -> tuple[int, str, str]:
        code = frame.run(args)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_the_usual_places_are_read_without_being_named(admit, recorded, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    (recorded / "sessions").rename(tmp_path / "kept")
    recorded.rename(home / ".claude")
    (home / ".codex").mkdir()
    (tmp_path / "kept").rename(home / ".codex" / "sessions")
    code, out, err = admit("audit")
    assert (code, err) == (0, "") and "Sessions: 3 claude-code, 1 codex, with 3 requests" in out


def test_a_folder_is_read_by_its_path_and_nothing_is_made(admit, recorded, tmp_path):
    code, out, _ = admit("audit", str(recorded))
    assert code == 0 and "Nothing was changed or recorded, and no judge was asked." in out
    assert not (tmp_path / "state").exists() and not (tmp_path / "config").exists()


def test_days_choose_the_window(admit, recorded):
    assert "2 claude-code" in admit("audit", "--days", "2", str(recorded))[1]
    assert json.loads(admit("audit", "--json", "--days", "1", str(recorded))[1])["sessions"] == {
        "claude-code": 1
    }


def test_json_is_one_object(admit, recorded):
    code, out, _ = admit("audit", "--json", str(recorded))
    value = json.loads(out)
    assert code == 0 and value["schema"] == 1 and value["sessions"] == {"claude-code": 3, "codex": 1}


def test_without_sessions_it_says_how_to_name_a_folder(admit):
    code, out, _ = admit("audit")
    assert code == 0 and out.endswith("`admit audit DIR` reads the sessions under another folder.\n")


def test_show_prints_an_example_with_what_was_used_marked(admit, recorded):
    code, out, _ = admit("audit", "show", "1", str(recorded))
    assert code == 0 and out.startswith("Example 1 of 4, a what-if")
    marked = [line for line in out.splitlines() if line.startswith("> ")]
    assert len(marked) == 2 and all("RETRY_CEILING" in line for line in marked)
    value = json.loads(admit("audit", "show", "1", str(recorded), "--json")[1])
    assert value["n"] == 1 and len(value["after"]) < len(value["before"])


@pytest.mark.parametrize("number", ["0", "99"])
def test_an_example_that_is_not_there_is_a_finding(number, admit, recorded):
    code, _, err = admit("audit", "show", number, str(recorded))
    assert code == 1 and f"there is no example {number}: 4 examples in these sessions" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show",), "takes the number of an example"),
        (("show", "x"), "takes the number of an example"),
        (("show", "-1"), "No such option"),
        (("nowhere",), "there is no folder or session nowhere"),
        (("show", "1", "nowhere"), "there is no folder or session nowhere"),
        ((".", "."), "give one folder, not 2"),
        (("--days", "0"), "--days"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(words, said, admit):
    code, _, err = admit("audit", *words)
    assert code == 2 and said in err


def test_the_settings_of_the_door_are_the_users(admit, recorded, tmp_path):
    (tmp_path / "config" / "admit").mkdir(parents=True)
    (tmp_path / "config" / "admit" / "admit.toml").write_text("[outputs]\ngate_chars = 13000\n")
    assert json.loads(admit("audit", "--json", str(recorded))[1])["gate_chars"] == 13_000


def test_progress_is_shown_on_a_terminal_and_cleared(admit, recorded, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    code, out, _ = admit("audit", str(recorded))
    assert code == 0 and "\r4 of 4 sessions, 6 large outputs" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K") and "\r" not in out


def test_its_own_help_names_examples():
    assert "admit audit show 1" in (audit_command.command.epilog or "")
