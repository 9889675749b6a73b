"""A home of its own for `admit tools`, with files of tools, and commands run in this process."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.unit.tools.gates import reading, tool

from admit.cli import frame

ROOT = Path(__file__).parents[3]
TRACKER = [
    tool("create_issue", "Open an issue in the tracker", "title", "body", **reading(False)),
    tool("close_issue", "Close an issue", "id", **reading(False)),
    tool("list_pulls", "List pull requests", **reading(True)),
]
Run = Callable[..., tuple[int, str, str]]


class Tools:
    """`admit tools` in a home folder."""

    def __init__(self, home: Path, capsys: Any) -> None:
        self.home = home
        self._capsys = capsys

    def __call__(self, *words: str) -> tuple[int, str, str]:
        """Run it with words: exit code, standard output, standard error."""
        code = frame.run(["tools", *words])
        said = self._capsys.readouterr()
        return code, said.out, said.err

    def json(self, *words: str, code: int = 0) -> Any:
        """The JSON that it prints."""
        done, out, err = self(*words, "--json")
        assert done == code, (done, out, err)
        return json.loads(out)

    def write(self, name: str, value: Any) -> str:
        """A file in the home; what is no text is written as JSON."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return str(path)

    def tracker(self) -> None:
        """Take the source ``tracker`` in."""
        path = self.write("tracker.json", TRACKER)
        assert self("add", "json", path, "--yes")[0] == 0

    @property
    def settings(self) -> str:
        """The user's settings."""
        return (self.home / ".config/admit/admit.toml").read_text()

    def client(self, *modes: str) -> None:
        """Write a client's file with a server for each mode of the test servers."""
        env = {"PYTHONPATH": str(ROOT), "API_KEY": "s3cr3t-value"}
        rows = {
            mode: {
                "command": sys.executable,
                "args": ["-m", "tests.servers.mcp_server", "--mode", mode],
                "env": env,
            }
            for mode in modes
        }
        self.write(".claude.json", {"mcpServers": rows})
