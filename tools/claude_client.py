"""Installs the client that the self-test is tried with, and prints its path: `python tools/claude_client.py`.

It comes from npm, in one fixed version, into `.peers/claude-code`. Another version: give it as an argument.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

VERSION = "2.1.332"
PACKAGE = "@anthropic-ai/claude-code"
FOLDER = Path(__file__).parents[1] / ".peers" / "claude-code"


def main() -> None:
    """Install where it is not there yet, and print the path."""
    version = sys.argv[1] if len(sys.argv) > 1 else VERSION
    folder = FOLDER / version
    if found(folder, version) is None:
        # Without `--prefix` npm would look for a package of its own further up.
        command = [
            "npm",
            "install",
            "--no-audit",
            "--no-fund",
            "--prefix",
            str(folder),
            f"{PACKAGE}@{version}",
        ]
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(command, stdout=sys.stderr, check=False)
        if done.returncode:
            raise SystemExit(f"npm could not install {PACKAGE}@{version}")
    path = found(folder, version)
    if path is None:
        raise SystemExit(f"{folder} holds no client that says it is {version}")
    print(path)


def found(folder: Path, version: str) -> Path | None:
    """The executable in a folder that says it is of that version."""
    own = folder / "node_modules" / "@anthropic-ai"
    # Where npm ran no install script, the binary is only in the package of the platform.
    for path in (folder / "node_modules" / ".bin" / "claude", *sorted(own.glob("claude-code-*/claude"))):
        if path.exists():
            done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
            if done.stdout.startswith(f"{version} "):
                return path
    return None


if __name__ == "__main__":
    main()
