"""The same plan, byte for byte: 20 runs, three hash seeds, one and four workers, two roots."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from .figures import Figure
from .population import ROOT, notes_of

_CODE = """
import sys
from admit.core.events import canonical
from admit.evidence.base import Base
from admit.evidence.gate import EvidenceGate
from admit.evidence.planning import canonical_plan
root, workers, *notes = sys.argv[1:]
with Base.open(root) as base:
    if workers == "1":
        plans = [EvidenceGate(base).plan(note) for note in notes]
    else:
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(int(workers)) as pool:
            plans = list(pool.map(EvidenceGate(base).plan, notes))
    for one in plans:
        sys.stdout.buffer.write(canonical(canonical_plan(one)) + one.plan_hash.encode() + b"\\n")
"""


def figures(data: Path, runs: int = 20) -> list[Figure]:
    """Plan the population again and again, and count the different outcomes."""
    root = data / ROOT
    notes = notes_of(root)
    with TemporaryDirectory() as folder:
        other = Path(folder) / "elsewhere"
        shutil.copytree(root, other)
        told = {_planned((root, other)[k % 2], (1, 4)[k // 2 % 2], k % 3, notes) for k in range(runs)}
    return [
        Figure(f"different plans of {len(notes)} notes in {runs} runs", f"{len(told)}", "1",
               "3 hash seeds, 1 and 4 workers, 2 roots")
    ]  # fmt: skip


def _planned(root: Path, workers: int, seed: int, notes: list[str]) -> bytes:
    env = {**os.environ, "PYTHONHASHSEED": str(seed)}
    command = [sys.executable, "-c", _CODE, str(root), str(workers), *notes]
    return subprocess.run(command, env=env, capture_output=True, check=True).stdout
