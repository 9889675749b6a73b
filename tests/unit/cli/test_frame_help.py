"""The help texts, as people see them at 80 columns; `ADMIT_WRITE_GOLDEN=1` writes them anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from admit.cli import frame

GOLDEN = Path(__file__).parents[2] / "golden" / "help"
COMMANDS = (
    "",
    "config",
    "config show",
    "config explain",
    "config set",
    "config check",
    "config path",
    "status",
    "doctor",
    "pause",
    "resume",
    "completion",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_reads_as_it_did(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert frame.run([*command.split(), "--help"]) == 0
    text = capsys.readouterr().out
    path = GOLDEN / f"{'-'.join(['admit', *command.split()])}.txt"
    if os.environ.get("ADMIT_WRITE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()
    assert "..." not in text.split("Commands:")[-1]
