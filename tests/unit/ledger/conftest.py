"""Every test has a state folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from admit.ledger.sqlite import SqliteLedger


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "admit"


@pytest.fixture
def ledger(state: Path) -> Iterator[SqliteLedger]:
    opened = SqliteLedger()
    yield opened
    opened.close()
