"""Where things stand, and a fresh interpreter to look into."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "admit"
DOCS = ROOT / "docs"
MODULES = sorted(SOURCE.rglob("*.py"))


def name_of(file: Path) -> str:
    """The dotted name of a module's file."""
    parts = file.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def loaded_by(code: str, given: str = "", **environment: str) -> set[str]:
    """The names of all modules that a fresh interpreter holds after running `code` on `given` as input."""
    script = f"{code}\nimport sys, json\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=given,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout.splitlines()[-1]))
