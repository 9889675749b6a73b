"""A state folder of its own, and a host, for every test of the adapters."""

from __future__ import annotations

import pytest

from .claude import Host


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A home where nothing is yet."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    for name in ("ADMIT_CONFIG", "ADMIT_OFF"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def host(place):
    """A session with the shipped settings."""
    return Host(place)
