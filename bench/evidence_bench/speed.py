"""How long cold processes take on a warm page cache, less the time of `admit --version`, beside lychee."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from peers import NotRun

from . import generate, lychee
from .figures import Figure
from .population import FOLDERS, ROOT

RUNS = 5
LINK_RULES = ("dangling", "dangling-wiki", "ambiguous", "outside", "malformed", "directory", "non-text",
              "bad-anchor", "unavailable")  # fmt: skip


def figures(data: Path | None, runs: int = RUNS) -> list[Figure]:
    """Plan the population and lint the generated base, each the median of `runs` cold processes."""
    bare = _median(["--version"], Path.cwd(), runs)[0]
    rows = [Figure("admit --version", f"{bare:.2f} s", "–", "taken off the rows below")]
    if data is not None:
        root = data / ROOT
        took, peak = _median(["evidence", "plan", "--top", "--json", *FOLDERS], root, runs)
        rows.append(
            Figure(
                "plan 338 notes, all hashes", _said(took - bare, peak), "≤ 0.6 s", _peer(root, False, runs)
            )
        )
    with TemporaryDirectory() as folder:
        root = Path(folder) / "base"
        root.mkdir()
        generate.write(root)
        rules = [part for rule in LINK_RULES for part in ("--rule", rule)]
        took, peak = _median(["evidence", "lint", "--json", *rules, "."], root, runs)
        rows.append(
            Figure("lint 2,013 generated files, links and anchors", _said(took - bare, peak),
                   "≤ 3 s, ≤ 250 MB", _peer(root, True, runs))
        )  # fmt: skip
        took, peak = _median(["evidence", "lint", "--json", "."], root, max(1, runs // 2))
        rows.append(Figure("the same, every rule", _said(took - bare, peak), "≤ 8 s"))
    return rows


def _median(arguments: Sequence[str], folder: Path, runs: int) -> tuple[float, float]:
    """Median wall seconds and the largest peak memory in MB; one run more warms the page cache."""
    command = [str(Path(sys.executable).with_name("admit")), *arguments]
    times, peak = [], 0.0
    with TemporaryDirectory() as home:
        env = {**os.environ, "XDG_STATE_HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}
        for _ in range(runs + 1):
            started = time.perf_counter()
            process = subprocess.Popen(
                command, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
            assert process.stderr is not None
            said = process.stderr.read()
            _, status, used = os.wait4(process.pid, 0)
            times.append(time.perf_counter() - started)
            code = os.waitstatus_to_exitcode(status)
            if code not in (0, 1) or b"Error" in said or b"bug" in said:
                raise SystemExit(f"{' '.join(command)} ended with {code}: {said.decode()[-300:]}")
            peak = max(peak, _megabytes(used))
    return sorted(times[1:])[(runs - 1) // 2], peak


def _megabytes(used: resource.struct_rusage) -> float:
    return used.ru_maxrss / 1024 if sys.platform != "darwin" else used.ru_maxrss / 1024 / 1024


def _said(seconds: float, peak: float) -> str:
    return f"{seconds:.2f} s, {peak:.0f} MB"


def _peer(root: Path, anchors: bool, runs: int) -> str:
    try:
        took = sorted(lychee.run(root, anchors=anchors).seconds for _ in range(runs + 1))[runs // 2]
    except NotRun as error:
        return f"lychee: not run ({error})"
    return f"{lychee.PEER.requirement}: {took:.2f} s, no plan and no hashes"
