"""The help of `admit evidence`, as people see it at 80 columns."""

from __future__ import annotations

import pytest
from command_line import golden

from admit.cli import frame

COMMANDS = ("", "plan", "lint", "review", "open", "finalize", "status", "ack", "report")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_reads_as_it_did_and_has_an_example(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert frame.run(["evidence", *filter(None, [name]), "--help"]) == 0
    text = capsys.readouterr().out
    golden(f"help/{'-'.join(filter(None, ['admit-evidence', name]))}.txt", text)
    assert f"admit evidence {name}".strip() in text.split("Examples:")[-1]
    assert name or "..." not in text.split("Commands:")[-1]


def test_the_server_of_a_job_is_no_command_for_people(capsys):
    assert frame.run(["evidence", "--help"]) == 0
    assert "serve" not in capsys.readouterr().out.split("Commands:")[-1]
