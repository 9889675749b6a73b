"""Wiring Claude Code: real-shaped settings files go in and come out again as they were."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from admit.config.keys import shipped
from admit.errors import SettingsError
from admit.hosts import deadlines
from admit.hosts.claude_code import entries as lines
from admit.hosts.claude_code.entries import Place, entries, is_ours
from admit.hosts.claude_code.init import FILE, host_version, plan_init, plan_remove, settings_path
from admit.hosts.settings import record
from admit.hosts.settings.file import backups
from admit.hosts.settings.hooks import find

FILES = Path(__file__).parents[2] / "golden" / "init"
NAMES = sorted(path.stem for path in FILES.glob("*.json"))
WRITTEN_OUT = ("tabs", "crlf", "minified", "other-tools-hooks")
PLACE = Place(
    "/opt/admit/bin/python", "/opt/admit/lib/admit/hosts/hook_client.py", "/run/user/7/admit/d.sock"
)
VALUES = shipped()


class Settings:
    """The user's settings file in a home of its own."""

    def __init__(self, home: Path) -> None:
        self.path = home / ".claude" / FILE

    def put(self, data: bytes) -> None:
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_bytes(data)

    def init(self, **given):
        change = plan_init("user", **{"values": VALUES, "place": PLACE, **given})
        change.apply()
        return change

    def remove(self):
        change = plan_remove("user")
        change.apply()
        return change


@pytest.fixture
def user(place, monkeypatch):
    for name in ("CLAUDE_CONFIG_DIR", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    return Settings(place)


def test_there_are_thirty_files_of_every_shape():
    assert len(NAMES) >= 30


@pytest.mark.parametrize("name", NAMES)
def test_in_again_and_out_leaves_the_bytes_of_before(user, name):
    before = (FILES / f"{name}.json").read_bytes()
    user.put(before)
    first = user.init()
    assert first.diff() and not first.is_empty
    second = plan_init("user", values=VALUES, place=PLACE)
    assert second.is_empty and second.diff() == ""
    user.remove()
    assert user.path.read_bytes() == before
    assert record.edited() == ()


@pytest.mark.parametrize("name", NAMES)
def test_a_second_installation_in_between_leaves_no_trace_either(user, name):
    before = (FILES / f"{name}.json").read_bytes()
    user.put(before)
    user.init()
    moved = user.init(place=Place("/new/bin/python", "/new/admit/hosts/hook_client.py", "/new.sock"))
    assert len(moved.lines) == len(entries(VALUES, PLACE, "exec"))
    assert all(
        line.startswith("/new/bin/python -I -S /new/admit/hosts/hook_client.py") for line in moved.lines
    )
    user.remove()
    assert user.path.read_bytes() == before


@pytest.mark.parametrize("name", NAMES)
def test_the_hooks_of_others_are_all_there_and_in_their_order(user, name):
    before = (FILES / f"{name}.json").read_bytes()
    user.put(before)
    user.init()
    value = json.loads(before.decode("utf-8-sig") or "{}") if before.strip(b"\xef\xbb\xbf \n") else {}
    after = json.loads(user.path.read_text("utf-8-sig"))
    assert list(after)[: len(value)] == list(value)
    for event, groups in value.get("hooks", {}).items():
        assert after["hooks"][event][: len(groups)] == groups
    assert {key: one for key, one in value.items() if key != "hooks"} == {
        key: one for key, one in after.items() if key != "hooks"
    }


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_what_is_written_is_laid_out_as_the_file_is(user, name):
    user.put((FILES / f"{name}.json").read_bytes())
    user.init()
    golden = FILES / "after" / f"{name}.json"
    if os.environ.get("ADMIT_WRITE_GOLDEN"):
        golden.write_bytes(user.path.read_bytes())
    assert user.path.read_bytes() == golden.read_bytes()


def test_a_file_and_a_folder_that_were_not_there_are_gone_again(user, place):
    user.init()
    assert json.loads(user.path.read_text())["hooks"]
    user.init(place=PLACE._replace(python="/elsewhere/python"))
    for old in backups(str(user.path)):
        os.unlink(old)
    user.remove()
    assert not (place / ".claude").exists()


def test_a_folder_that_holds_something_else_by_now_stays(user, place):
    user.init()
    (place / ".claude" / "CLAUDE.md").write_text("notes")
    user.remove()
    assert os.listdir(place / ".claude") == ["CLAUDE.md"]


def test_a_file_that_was_edited_since_keeps_the_edit_and_loses_our_entries_alone(user):
    user.put(b'{\n  "model": "opus"\n}\n')
    user.init()
    text = user.path.read_text()
    user.path.write_text(text.replace('"model": "opus"', '"model": "sonnet",\n  "verbose": true'))
    user.remove()
    assert user.path.read_bytes() == b'{\n  "model": "sonnet",\n  "verbose": true\n}\n'


def test_entries_that_were_edited_are_put_right_by_the_next_init(user):
    user.put(b'{\n  "model": "opus"\n}\n')
    whole = user.init().text
    user.path.write_text(whole.replace('"timeout": 10', '"timeout": 1'))
    assert user.init().text == whole
    user.remove()
    assert user.path.read_bytes() == b'{\n  "model": "opus"\n}\n'


def test_without_the_list_everything_of_ours_still_goes(user, place):
    user.put(b'{\n  "model": "opus"\n}\n')
    user.init()
    (place / "state" / "admit" / "inits.json").unlink()
    assert user.init().is_empty
    user.remove()
    assert user.path.read_bytes() == b'{\n  "model": "opus"\n}\n'


def test_removing_where_there_is_nothing_changes_nothing(user):
    assert user.remove().is_empty and not user.path.exists()
    user.put(b'{"a":1}')
    assert user.remove().is_empty and user.path.read_bytes() == b'{"a":1}'


@pytest.mark.parametrize(
    "data, place_in_file",
    [
        (b'{\n  "model": "opus", // the best\n}', "2:20"),
        (b'{\n  "model": "opus",\n}', "2:18"),
        (b'{"a": 1, "a": 2}', "1:10"),
        (b'{"hooks": {"Stop": {}}}', "1:20"),
        (b'{"a": "\xff"}', "1:8"),
    ],
)
def test_a_file_that_cannot_be_edited_is_left_alone_and_named_with_line_and_column(user, data, place_in_file):
    user.put(data)
    with pytest.raises(SettingsError) as caught:
        plan_init("user", values=VALUES, place=PLACE)
    assert str(caught.value).startswith(f"{user.path}:{place_in_file}: ")
    assert user.path.read_bytes() == data and os.listdir(user.path.parent) == [FILE]


def test_every_event_has_its_time_outs_from_the_chain():
    groups = entries(VALUES, PLACE, "exec")
    for event, group in groups.items():
        (handler,) = group["hooks"]
        name = deadlines.class_of(lines.EVENTS[event])
        steps = deadlines.chain(VALUES, name)
        assert handler["args"][-2:] == [event, str(steps.client)]
        assert handler["timeout"] * 1000 == steps.host
        assert steps.client + deadlines.APART_MS <= steps.host


def test_an_event_at_which_nothing_is_done_costs_no_process():
    assert set(entries(VALUES, PLACE, "exec")) == set(lines.EVENTS) - {"PostToolBatch"}


def test_tools_that_the_user_named_are_matched_too():
    values = {**VALUES, "hosts.claude-code.tools": ("Bash", "Web*", "mcp__a.b__?")}
    groups = entries(values, PLACE, "exec")
    assert (
        groups["PostToolUse"]["matcher"]
        == r"Bash|Read|Grep|Glob|WebFetch|mcp__.*|Agent|Task|Web.*|mcp__a\.b__."
    )
    assert groups["PreToolUse"]["matcher"] == "Edit|Write|MultiEdit|NotebookEdit|Bash|Agent|Task"
    assert "matcher" not in groups["Stop"]


@pytest.mark.parametrize(
    "handler, ours",
    [
        (entries(VALUES, PLACE, "exec")["Stop"]["hooks"][0], True),
        (entries(VALUES, PLACE, "shell")["Stop"]["hooks"][0], True),
        (entries(VALUES, PLACE, "project")["Stop"]["hooks"][0], True),
        ({"command": "/x/python", "args": ["-I", "/old/site-packages/admit/hosts/hook_client.py"]}, True),
        ({"command": "/x/python", "args": ["-I", "/old/notadmit/hosts/hook_client.py"]}, False),
        ({"command": "cat /opt/admit/lib/admit/hosts/hook_client.py"}, False),
        ({"command": "admit status"}, False),
        ({"type": "prompt", "prompt": "admit/hosts/hook_client.py"}, False),
        ({"args": 7}, False),
        (None, False),
    ],
)
def test_entries_of_ours_are_known_by_the_clients_path_and_nothing_else_is(handler, ours):
    assert is_ours(handler) is ours


@pytest.mark.parametrize(
    "version, form",
    [("2.1.332", "exec"), ("2.1.140", "exec"), ("2.1.138", "shell"), ("1.0.9", "shell"), (None, "exec")],
)
def test_a_version_that_knows_no_list_of_words_gets_a_shell_line(user, version, form):
    change = user.init(version=version)
    handler = find(change.text, is_ours)[0].value["hooks"][0]
    assert ("args" in handler) == (form == "exec")
    assert lines.place_of(handler) == PLACE


def test_a_path_with_spaces_and_quotes_survives_every_form(monkeypatch):
    odd = Place("/a b/$x/\"py'thon", "/a `b`/admit/hosts/hook_client.py", "/s/d.sock")
    monkeypatch.setenv("HOME", "/a b")
    for form in ("exec", "shell", "project"):
        (handler,) = entries(VALUES, odd, form)["Stop"]["hooks"]
        assert is_ours(handler)
        if form == "exec":
            assert lines.place_of(handler) == odd
            continue
        script = handler["command"].replace("[ -x", "true || [ -x").replace("exec ", "printf '%s\\n' ")
        if form == "shell":
            script = f"printf '%s\\n' {script}"
        said = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
        assert said.split("\n")[:5] == [odd.python, "-I", "-S", odd.client, odd.socket]


def test_a_projects_file_holds_no_path_of_the_home_and_says_what_that_means(user, place, monkeypatch):
    project = place / "code" / "app"
    (project / ".git").mkdir(parents=True)
    (project / "src").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place / "run"))
    mine = Place(
        f"{place}/venv/bin/python", f"{place}/venv/admit/hosts/hook_client.py", f"{place}/run/admit/d.sock"
    )
    change = plan_init("project", values=VALUES, cwd=str(project / "src"), place=mine)
    change.apply()
    text = (project / ".claude" / FILE).read_text()
    assert str(place) not in text
    assert '\\"$HOME/venv/bin/python\\"' in text and '\\"$XDG_RUNTIME_DIR/admit/d.sock\\"' in text
    assert any("no path of your home" in note for note in change.notes)
    handler = json.loads(text)["hooks"]["Stop"][0]["hooks"][0]
    assert lines.place_of(handler) == mine
    away = subprocess.run(["sh", "-c", handler["command"]], env={"HOME": "/nobody"}, capture_output=True)
    assert (away.returncode, away.stdout, away.stderr) == (0, b"", b"")
    plan_remove("project", cwd=str(project)).apply()
    assert not (project / ".claude").exists()


def test_hooks_in_both_files_are_named_before_they_run_twice(user, place):
    user.init()
    (place / "app" / ".git").mkdir(parents=True)
    change = plan_init("project", values=VALUES, cwd=str(place / "app"), place=PLACE)
    assert any("twice" in note for note in change.notes)


def test_hooks_that_are_switched_off_in_the_file_are_named(user):
    user.put(b'{"disableAllHooks": true}')
    assert any("disableAllHooks" in note for note in user.init().notes)


def test_the_settings_are_found_where_the_host_looks_for_them(user, place, monkeypatch):
    assert settings_path("user") == str(user.path)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(place / "other"))
    assert settings_path("user") == str(place / "other" / FILE)
    (place / ".claude").mkdir()
    (place / "app" / "src").mkdir(parents=True)
    assert settings_path("project", str(place / "app")) == str(place / "app" / ".claude" / FILE)
    (place / "app" / ".git").write_text("gitdir: elsewhere")
    assert settings_path("project", str(place / "app" / "src")) == str(place / "app" / ".claude" / FILE)


def test_the_home_folder_is_no_project(user, place):
    with pytest.raises(SettingsError, match="home folder"):
        settings_path("project", str(place))


@pytest.mark.parametrize(
    "script, version",
    [
        ("echo '2.1.332 (Claude Code)'", "2.1.332"),
        ("echo hello", None),
        ("exit 1", None),
        ("printf '2\\0331 x'", None),
    ],
)
def test_the_hosts_version_is_what_it_says_or_unknown(tmp_path, script, version):
    client = tmp_path / "claude"
    client.write_text(f"#!/bin/sh\n{script}\n")
    client.chmod(0o755)
    assert host_version(str(client)) == version
    assert host_version(str(tmp_path / "none")) is None
