"""A home of their own for tests of guidance."""

from __future__ import annotations

import pytest

from .project import Guidance


@pytest.fixture
def guidance(tmp_path, monkeypatch):
    """An empty home with a project in it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return Guidance(tmp_path)
