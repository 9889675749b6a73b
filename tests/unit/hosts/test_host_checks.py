"""What the doctor finds at a host: entries gone, edited or dead, untested versions, broken chains."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from admit.cli import host_checks
from admit.cli.host_checks import HOST_CHECKS, host_notes
from admit.config.keys import shipped
from admit.config.layers import Config, load
from admit.hosts import routes
from admit.hosts.claude_code import selftest
from admit.hosts.claude_code.entries import Place
from admit.hosts.claude_code.init import FILE, plan_init
from admit.hosts.claude_code.selftest import ProbeResult
from admit.hosts.daemon import control
from admit.hosts.daemon.places import socket_path

AREAS = {check.__name__: check for check in HOST_CHECKS}


@pytest.fixture
def home(place, monkeypatch):
    """A home with a project, a client of version 9.9.9 on PATH, and nothing connected."""
    for name in ("CLAUDE_CONFIG_DIR", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    host_checks._version.cache_clear()
    client = place / "bin" / "claude"
    client.parent.mkdir()
    client.write_text("#!/bin/sh\necho '9.9.9 (Claude Code)'\n")
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{client.parent}{os.pathsep}{os.defpath}")
    (place / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(place / "project")
    return place


def connect(scope="user", place=None):
    change = plan_init(scope, values=shipped(), place=place, cwd=os.getcwd())
    change.apply()
    return Path(change.file.path)


def found(area, **values):
    config = load()
    config = config._replace(values={**config.values, **values})
    return [(fault.text, fault.fix) for fault in AREAS[area](config)]


def test_where_no_host_is_connected_there_is_nothing_to_find_or_to_say(home):
    assert [found(area) for area in AREAS] == [[]] * len(AREAS)
    assert list(host_notes(load())) == []


def test_what_init_wrote_is_as_it_should_be(home):
    connect()
    assert found("hosts") == []


@pytest.mark.parametrize("scope", ["user", "project"])
def test_entries_that_somebody_took_out_are_missed(home, scope):
    path = connect(scope)
    path.write_text("{}")
    ((text, fix),) = found("hosts")
    assert f"{path} holds no entry" in text and ("--project" in fix) == (scope == "project")


def test_entries_that_somebody_edited_are_found(home):
    path = connect()
    path.write_text(path.read_text().replace('"timeout": 10', '"timeout": 1'))
    ((text, fix),) = found("hosts")
    assert "not those that this installation writes" in text and fix == "admit init claude-code"


def test_an_installation_that_moved_away_is_named_with_its_line(home):
    path = connect(place=Place("/gone/python", "/gone/admit/hosts/hook_client.py", "/gone/d.sock"))
    texts = [text for text, _ in found("hosts")]
    assert texts == [
        f"{path} names {dead}, which is not there: the host reports a failed hook at every event."
        for dead in ("/gone/python", "/gone/admit/hosts/hook_client.py")
    ]


def test_another_living_installation_is_found_too(home):
    elsewhere = home / "other" / "admit" / "hosts" / "hook_client.py"
    elsewhere.parent.mkdir(parents=True)
    elsewhere.write_text("")
    connect(place=Place(sys.executable, str(elsewhere), "/d.sock"))
    ((text, _),) = found("hosts")
    assert "not those that this installation writes" in text


def test_a_file_that_the_host_ignores_is_named_with_its_place(home):
    path = connect()
    path.write_text('{\n  "a": 1, // why\n}')
    ((text, _),) = found("hosts")
    assert text.startswith(f"{path} cannot be read, so no hook in it runs: 2:11: a comment")


def test_settings_that_let_no_hook_run_are_found(home):
    path = connect()
    path.write_text(path.read_text().replace("{", '{"disableAllHooks": true,', 1))
    assert found("hosts") == [
        (
            f"disableAllHooks is true in {path}: no hook runs, so nothing is done in its sessions.",
            "Take that line out.",
        )
    ]


def test_a_client_that_is_not_there_is_named_as_it_is_typed(home, monkeypatch):
    connect()
    monkeypatch.setenv("PATH", str(home))
    assert "There is no claude on PATH, so its version is not known." in list(host_notes(load()))


def test_hooks_that_run_twice_are_found(home):
    connect()
    connect("project")
    assert [fix for _, fix in found("hosts")] == ["admit init claude-code --project --remove"]


def test_another_projects_file_is_not_looked_at(home, monkeypatch):
    path = connect("project")
    path.write_text("{}")
    (home / "elsewhere" / ".git").mkdir(parents=True)
    monkeypatch.chdir(home / "elsewhere")
    assert found("hosts") == []


def test_a_version_that_nobody_tested_is_found_until_somebody_does(home):
    connect()
    ((text, fix),) = found("versions")
    assert "9.9.9" in text and fix == "admit selftest claude-code"
    selftest.keep("9.9.9", [ProbeResult("replace-bash", "pass", "seen")], int(time.time() * 1000))
    assert found("versions") == []
    assert any("9.9.9" in note and "self-tested" in note for note in host_notes(load()))
    selftest.keep("9.9.9", [ProbeResult("replace-bash", "fail", "the original stands")], 1)
    ((text, _),) = found("versions")
    assert text == "replace-bash failed with 9.9.9: the original stands. The route is off."


def test_a_wrap_that_the_host_makes_unsafe_is_found(home):
    connect()
    selftest.keep("9.9.9", [ProbeResult("replace-bash", "pass", "seen")], 1)
    routes.keep("claude-code", "9.9.9", {"rewrite_input": "yes"})
    assert found("versions", **{"hosts.wrap": "list"}) == []
    routes.keep("claude-code", "9.9.9", {"rewrite_input": "no"})
    ((text, fix),) = found("versions", **{"hosts.wrap": "list"})
    assert "nothing is wrapped" in text and fix == "admit config set hosts.wrap off"


def test_a_chain_that_cannot_hold_is_found_with_and_without_a_host(home):
    assert found("deadlines") == []
    ((text, fix),) = found("deadlines", **{"hosts.deadline_ms.before_tool.client": 2_900})
    assert "too late for the host" in text and fix.startswith("admit config set")


def test_the_notes_spell_the_chain_out(home):
    connect()
    notes = list(host_notes(load()))
    assert "Deadlines in ms, before tool: door 650 < client 900 < host 3,000." in notes
    assert "The daemon is not running; the next hook starts it." in notes


def test_a_socket_that_others_can_reach_is_found(home):
    folder = Path(socket_path()).parent
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    assert found("daemon") == [(f"{folder} is open to other users.", f"chmod 700 {folder}")]


@pytest.mark.parametrize(
    "told, words",
    [
        ({"version": "0.0.1"}, "of version 0.0.1"),
        ({"other_clients": ["0.0.1"]}, "other versions come"),
        ({"answered": {"ok": 9, "shed": 2}}, "2 hooks passed"),
        ({"odd": {"shape_unknown": 3, "deadline": 0}}, "3 shape_unknown"),
    ],
)
def test_what_the_daemon_says_of_itself_is_heard(home, monkeypatch, told, words):
    well = {"version": host_checks.__version__, "other_clients": [], "answered": {"ok": 1}, "odd": {}}
    monkeypatch.setattr(control, "status", lambda path: well)
    assert found("daemon") == []
    monkeypatch.setattr(control, "status", lambda path: {**well, **told})
    ((text, fix),) = found("daemon")
    assert words in text and fix


def test_the_shipped_settings_have_a_chain_that_holds():
    assert list(AREAS["deadlines"](Config(shipped()))) == []


def test_a_file_of_the_host_without_our_entries_is_none_of_ours(home):
    (home / ".claude").mkdir()
    (home / ".claude" / FILE).write_text(json.dumps({"hooks": {}}) + " // odd")
    assert found("hosts") == []
