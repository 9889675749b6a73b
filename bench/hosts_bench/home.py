"""A home of its own with a daemon in it, and the payloads that are sent."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from admit.hosts import hook_client
from admit.hosts.daemon import control
from admit.hosts.daemon.places import socket_path

CLIENT = str(Path(hook_client.__file__))
BARE = (sys.executable, "-I", "-S", "-c", "pass")
HOST = "claude-code"
OUTPUT = "PostToolUse"
BUDGET_MS = 4_800


class Home:
    """Everything that Admit keeps is under one folder while this holds."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._before = dict(os.environ)

    def __enter__(self) -> Home:
        run = os.path.join(self.folder, "run")
        os.mkdir(run, 0o700)
        for name in ("ADMIT_CONFIG", "ADMIT_OFF", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
            os.environ.pop(name, None)
        state = os.path.join(self.folder, "state")
        os.environ.update(HOME=self.folder, XDG_RUNTIME_DIR=run, XDG_STATE_HOME=state)
        self.socket = socket_path()
        return self

    def __exit__(self, *_: object) -> None:
        control.stop(self.socket)
        os.environ.clear()
        os.environ.update(self._before)

    def command(self, event: str = OUTPUT, socket: str = "") -> list[str]:
        """The line of a hook."""
        return [sys.executable, "-I", "-S", CLIENT, socket or self.socket, HOST, event, str(BUDGET_MS)]

    def payload(self, output_chars: int, *, session: str = "bench", tag: str = "") -> bytes:
        """What Claude Code sends after a command with an output of about this length."""
        lines = [
            f"[{n:06d}] {tag} compiling module {n * 7919 % 100_000} of the tree"
            for n in range(max(1, output_chars // 48))
        ]
        lines[len(lines) // 2] = f"error: {tag} undefined reference to the symbol that matters"
        response: dict[str, Any] = {"stdout": "\n".join(lines), "stderr": "", "interrupted": False}
        return json.dumps(
            {
                "session_id": session,
                "cwd": self.folder,
                "hook_event_name": OUTPUT,
                "tool_name": "Bash",
                "tool_input": {"command": "make"},
                "tool_use_id": tag or "1",
                "tool_response": response | {"isImage": False},
            }
        ).encode()

    def prompt(self) -> bytes:
        """What Claude Code sends with a prompt of about 1 KB."""
        words = "fix the failing build of the parser and add a test for it " * 15
        given = {"session_id": "bench", "cwd": self.folder, "hook_event_name": "UserPromptSubmit"}
        return json.dumps(given | {"prompt": words}).encode()
