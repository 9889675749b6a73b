"""A pause turns every door off, and ends by itself or by `resume`."""

from __future__ import annotations

import os

import pytest

from admit.config import pause as module
from admit.config.pause import Pause, pause, paused, resume


def test_nothing_is_paused_at_first(home):
    assert paused() is None and resume() is False


def test_a_pause_turns_every_door_off_above_every_layer(home):
    home.user('outputs.mode = "shadow"\n')
    assert pause() == Pause("admit pause", None) == paused()
    config = home.load(**{"outputs.mode": "enforce"})
    assert config.values["outputs.mode"] == "off" and config.pause is not None
    assert config.origin("outputs.mode").layer == "pause"
    assert resume() is True
    assert home.load().values["outputs.mode"] == "shadow"


def test_a_pause_of_minutes_ends_by_itself(home, monkeypatch):
    monkeypatch.setattr(module, "time", lambda: 1000.0)
    assert pause(5).until_ms == 1_300_000
    monkeypatch.setattr(module, "time", lambda: 1299.9)
    assert paused() == Pause("admit pause", 1_300_000)
    monkeypatch.setattr(module, "time", lambda: 1300.0)
    assert paused() is None


def test_the_file_is_private_and_a_later_pause_replaces_it(home):
    pause(5)
    pause()
    path = home.state / "paused"
    assert oct(path.stat().st_mode & 0o777) == "0o600"
    assert os.listdir(home.state) == ["paused"]
    assert paused() == Pause("admit pause", None)


@pytest.mark.parametrize("text", [b"", b"soon", b"\xff\xff", b"-1", b"1e9"])
def test_a_damaged_file_pauses_until_resume(text, home):
    home.state.mkdir(parents=True)
    (home.state / "paused").write_bytes(text)
    assert paused() == Pause("admit pause", None)


@pytest.mark.parametrize(("value", "off"), [("1", True), ("0", False), ("", False), ("true", False)])
def test_only_the_value_1_of_admit_off_pauses_and_another_word_is_found(value, off, home, monkeypatch):
    monkeypatch.setenv("ADMIT_OFF", value)
    config = home.load()
    assert (config.values["outputs.mode"] == "off") is off
    assert [finding.kind for finding in config.findings] == (["environment"] if value == "true" else [])
