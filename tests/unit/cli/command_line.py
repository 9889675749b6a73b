"""`admit` as a real process in a home of its own, and golden files of what people see."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ADMIT = str(Path(sys.executable).with_name("admit"))
GOLDEN = Path(__file__).parents[2] / "golden"
WAIT_S = 60


class Home:
    """A home folder, and the command line in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.env = {"PATH": os.environ["PATH"], "HOME": str(path), "COLUMNS": "80", "TZ": "UTC"}
        self.env["XDG_STATE_HOME"] = str(path / "state")

    def admit(self, *args: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
        """Run `admit` with these arguments to its end; `input` is its standard input."""
        given = {"env": self.env, "cwd": self.path, "timeout": WAIT_S}
        given |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        if "input" not in options:
            given["stdin"] = subprocess.DEVNULL
        done: subprocess.CompletedProcess[bytes] = subprocess.run([ADMIT, *args], **(given | options))
        return done

    def output(self, data: bytes, *args: str, **options: Any) -> bytes:
        """What `admit output` writes for these bytes, given as a file."""
        file = self.path / "input"
        file.write_bytes(data)
        with open(file, "rb") as stdin:
            done = self.admit("output", *args, stdin=stdin, **options)
        assert (done.returncode, done.stderr) == (0, b""), done
        return done.stdout

    def stored(self, data: bytes) -> str:
        """Store an output by way of `admit output`, and give its id."""
        return id_in(self.output(data, "--exit-code", "2"))

    @property
    def files(self) -> list[Path]:
        """Every stored output."""
        return sorted((self.path / "state" / "admit" / "outputs").glob("??/*.txt"))


def id_in(text: bytes) -> str:
    """The id that the first line of a cut output names."""
    return text.split(b"\n")[0].split(b"admit recall ")[1].split()[0].decode()


def log(lines: int = 3_000, *, error: str = "error: the one that matters") -> bytes:
    """A build log of about 40 characters a line, its one error in the middle."""
    rows = [b"[%05d] compiling module number %d now" % (n, n * 7) for n in range(lines)]
    rows[lines // 2] = error.encode("utf-8", "surrogateescape")
    return b"\n".join(rows) + b"\n"


def golden(name: str, text: str) -> None:
    """Compare with a golden file; `ADMIT_WRITE_GOLDEN=1` writes it anew."""
    path = GOLDEN / name
    if os.environ.get("ADMIT_WRITE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()
