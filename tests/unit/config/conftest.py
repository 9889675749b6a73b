"""A home, a project and a user of their own for every test of the configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from admit.config import layers


class Home(NamedTuple):
    """Where the test's files stand."""

    user_file: Path
    project: Path
    state: Path

    def user(self, text: str | bytes) -> Path:
        """Write the user's file, mode 0600."""
        self.user_file.parent.mkdir(parents=True, exist_ok=True)
        self.user_file.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.user_file.chmod(0o600)
        return self.user_file

    def file(self, text: str | bytes) -> Path:
        """Write the project's file."""
        path = self.project / ".admit.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def load(self, **overrides: object) -> layers.Config:
        return layers.load(str(self.project), overrides=overrides)


@pytest.fixture
def home(tmp_path, monkeypatch) -> Home:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("ADMIT_CONFIG", raising=False)
    monkeypatch.delenv("ADMIT_OFF", raising=False)
    monkeypatch.setattr(layers, "_seen", {})
    monkeypatch.setattr(layers, "_user_file", None)
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    return Home(tmp_path / "config/admit/admit.toml", project, tmp_path / "state/admit")


def toml(**values: object) -> str:
    """Lines that set dotted keys; a tuple is written as a list."""
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())
