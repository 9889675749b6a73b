"""The help of `admit tools`, as people see it at 80 columns."""

from __future__ import annotations

import pytest
from command_line import golden

from admit.cli import frame

COMMANDS = ("", "import", "find", "explain", "list", "add", "refresh", "remove", "diff", "approve", "eval")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_reads_as_it_did(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert frame.run(["tools", *filter(None, [name]), "--help"]) == 0
    text = capsys.readouterr().out
    golden(f"help/{'-'.join(filter(None, ['admit-tools', name]))}.txt", text)
    assert name or "..." not in text.split("Commands:")[-1]
