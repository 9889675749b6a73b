"""`admit run` as a real process, in a home of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ADMIT = str(Path(sys.executable).with_name("admit"))
PYTHON = sys.executable
WAIT_S = 60


class Home:
    """A home folder, and the command line in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "SHELL") if name in os.environ}
        self.env = {**kept, "HOME": str(path), "XDG_STATE_HOME": str(path / "state"), "COLUMNS": "100"}

    def admit(self, *args: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
        """Run `admit` with these arguments to its end."""
        given = {"env": self.env, "cwd": self.path, "timeout": WAIT_S, "capture_output": True} | options
        if "stdout" in options or "stderr" in options:
            del given["capture_output"]
        if "input" not in options and "stdin" not in options:
            given["stdin"] = subprocess.DEVNULL
        return subprocess.run([ADMIT, *args], **given)

    def run(self, *command: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
        """`admit run -- COMMAND`."""
        return self.admit("run", "--", *command, **options)

    def start(self, command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
        """`admit run -- COMMAND`, not waited for."""
        given: dict[str, Any] = {
            "env": self.env,
            "cwd": self.path,
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
        }
        process: Any = subprocess.Popen([ADMIT, "run", "--", *command], **(given | options))
        return process

    @property
    def left(self) -> list[Path]:
        """Files that wrappers have not let go of."""
        return sorted((self.path / "state" / "admit" / "outputs").glob(".new-*"))


def log(lines: int = 3_000, *, error: str = "") -> bytes:
    """A build log of about 40 characters a line, its one error in the middle."""
    rows = [b"[%05d] compiling module number %d now" % (n, n * 7) for n in range(lines)]
    if error:
        rows[lines // 2] = error.encode()
    return b"\n".join(rows) + b"\n"
