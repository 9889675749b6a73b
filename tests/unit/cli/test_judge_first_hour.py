"""The first hour of a new user, as the page of judges tells it, against a server of its own process."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import ADMIT, WAIT_S, Home

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "judges.md").read_text(encoding="utf-8")


@pytest.fixture
def server() -> Iterator[str]:
    """The address of a judge server."""
    command = [sys.executable, "-m", "tests.servers.chat_server", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


class Shell:
    """A user's shell in a home of its own, in the project's folder."""

    def __init__(self, home: Path) -> None:
        self._env = Home(home).env | {"PATH": f"{Path(ADMIT).parent}:{Home(home).env['PATH']}"}

    def run(self, line: str) -> str:
        """What a line prints; it must end well."""
        done = subprocess.run(
            line, shell=True, cwd=ROOT, env=self._env, capture_output=True, text=True, timeout=WAIT_S
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout


def block(beginning: str) -> list[str]:
    """The commands of the page's block whose first line begins so."""
    blocks = re.findall(r"```\n(.*?)```", PAGE, re.DOTALL)
    return next(lines for text in blocks if (lines := text.splitlines())[0].startswith(beginning))


def test_a_server_of_ones_own_answers_acts_and_is_accounted_for(tmp_path, server):
    shell = Shell(tmp_path)
    *setup, check = block("admit config set judge.profiles.openai-compatible.destination")
    for line in setup:
        shell.run(line.replace("http://127.0.0.1:8080", server))
    assert "state     valid" in shell.run(check)

    score, noul = (shell.run(line) for line in block('admit judge ask --task "which test fails'))
    assert "expectation 2.80 of 3" in score and "openai-compatible, qwen3-4b: " in score
    assert noul.startswith("P(yes) 0.") and "no threshold is known" in noul

    for line in block("admit config set judge.profiles.openai-compatible.outputs.threshold"):
        shell.run(line)
    output, status, why = block("admit output --task")
    assert "A judge scored 8 passages." in shell.run(output)
    assert re.search(r"^outputs, filtered +1 ", shell.run(status), re.MULTILINE)
    told = shell.run(why)
    assert "judge openai-compatible, 1 request" in told and "admitted (judge)" in told

    cost = shell.run("admit judge cost --by profile")
    assert re.search(r"^openai-compatible +1 +8 +[\d,]+ +\$0 +1$", cost, re.MULTILINE)
    assert re.search(r": 4 of 5,000 requests", cost)


def test_ollama_takes_three_commands(tmp_path, server):
    shell = Shell(tmp_path)
    shell.run(f"admit config set judge.profiles.ollama.destination {server}/v1")  # its own port is another
    commands = block("admit config set judge.profiles.ollama.model")
    assert len(commands) == 3
    assert "state     valid" in [shell.run(line) for line in commands][-1]


def test_a_systemone_server_takes_three_commands(tmp_path, server):
    shell = Shell(tmp_path)
    commands = block("admit config set judge.profiles.mine.backend")
    assert len(commands) == 3
    said = [shell.run(line.replace("http://127.0.0.1:8000", server)) for line in commands]
    assert "state     valid" in said[-1]
