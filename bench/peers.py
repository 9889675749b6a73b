"""Peers of the outputs door: each in its own virtual environment, driven as a worker over JSON lines,
offline.

``python bench/peers.py`` installs them all; a benchmark with ``--peers`` installs what it misses.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
HOME = HERE.parent / ".peers"
ANSWER_SECONDS = 120
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HEADROOM_OFFLINE": "1", "DO_NOT_TRACK": "1"}


class Peer(NamedTuple):
    """A package at a pinned version and the names of the rows its worker answers with."""

    name: str
    version: str
    rows: tuple[str, ...]

    @property
    def requirement(self) -> str:
        """The pinned requirement for pip."""
        return f"{self.name}=={self.version}"


OUTPUT_PEERS = (
    Peer("tooltrim", "0.3.3", ("tooltrim", "tooltrim, no task")),
    Peer("headroom-ai", "0.42.0", ("headroom compress", "headroom log", "headroom text")),
)


class NotRun(Exception):
    """A peer could not be installed, started, or did not answer; the message says why."""


def install(peer: Peer) -> Path:
    """Return the Python of the peer's environment, made with pip on first use. Raises ``NotRun``."""
    folder = HOME / peer.name
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / "installed.txt"
    if stamp.is_file() and stamp.read_text() == peer.requirement:
        return python
    try:
        venv.create(folder, with_pip=True, clear=True)
        command = [
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            peer.requirement,
        ]
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=900)
    except subprocess.CalledProcessError as error:
        last = (error.stderr or "pip failed").strip().splitlines()[-1]
        raise NotRun(f"{peer.requirement} did not install: {last}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotRun(f"{peer.requirement} did not install: {error}") from error
    stamp.write_text(peer.requirement)
    return python


class Worker:
    """A running peer; ``shorten`` asks for one output at a time."""

    def __init__(self, peer: Peer) -> None:
        """Start the worker script of ``peer``. Raises ``NotRun``."""
        self.peer = peer
        python = install(peer)
        home = HOME / peer.name / "home"
        home.mkdir(exist_ok=True)
        script = HERE / "peer_workers" / f"{peer.name.replace('-', '_')}_worker.py"
        self._process = subprocess.Popen(
            [str(python), "-I", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **OFFLINE, "HOME": str(home)},
            cwd=home,
        )

    def shorten(self, text: str, task: str, budget: int) -> dict[str, tuple[str, float]]:
        """Return the shown text and the milliseconds of each of the peer's rows, near ``budget`` characters.

        Raises ``NotRun`` when the peer stops, answers with an error, or not within two minutes.
        """
        request = json.dumps({"text": text, "task": task, "budget": budget})
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.write(request.encode("utf-8", "surrogatepass") + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise NotRun(f"{self.peer.requirement} stopped") from error
        if not select.select([self._process.stdout], [], [], ANSWER_SECONDS)[0]:
            self.close()
            raise NotRun(f"{self.peer.requirement} gave no answer in {ANSWER_SECONDS} s")
        line = self._process.stdout.readline()
        if not line:
            raise NotRun(f"{self.peer.requirement} stopped with exit code {self._process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise NotRun(f"{self.peer.requirement}: {answer['error']}")
        return {row: (text, ms) for row, (text, ms) in answer["rows"].items()}

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the worker."""
        self._process.kill()
        self._process.wait()


if __name__ == "__main__":
    for one in OUTPUT_PEERS:
        try:
            print(one.requirement, "in", install(one).parent.parent)
        except NotRun as reason:
            print("not run:", reason, file=sys.stderr)
