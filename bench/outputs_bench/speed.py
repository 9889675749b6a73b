"""Speed and memory of the outputs door: cold processes, and one warm call in a child that reports its peak
memory.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from .speed_inputs import INPUTS, named

COLD_RUNS = 15
WARM_RUNS = 5
BENCH = Path(__file__).resolve().parent.parent
CHILD = """
import json, resource, sys, time
sys.path.insert(0, sys.argv[1])
data = open(sys.argv[2], "rb").read()
if sys.argv[3] == "call":
    from admit import filter_output
    filter_output(b"warm up\\n" * 2000)
    times = []
    for _ in range(int(sys.argv[4])):
        begin = time.perf_counter()
        shown = filter_output(data, "why does it fail", max_chars=6000)
        times.append((time.perf_counter() - begin) * 1000)
else:
    times, shown = [0.0], ""
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
if sys.platform == "linux":  # ru_maxrss also counts the parent's memory at the time of the fork
    status = open("/proc/self/status").read()
    peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024
print(json.dumps({"ms": times, "peak": peak, "shown": len(shown)}))
"""


class Warm(NamedTuple):
    """A measured input: size in bytes, median milliseconds, and memory in multiples of the input.

    Attributes:
        peak_over_input: Peak resident memory of the whole child process over the input size.
        added_over_input: The same less a child that only reads the input, plus the input itself.
    """

    name: str
    bytes: int
    ms: float
    peak_over_input: float
    added_over_input: float
    shown_chars: int


class Cold(NamedTuple):
    """A command run as a new process: median and slowest milliseconds of fifteen."""

    name: str
    ms: float
    slowest_ms: float


def warm(name: str) -> Warm:
    """Measure one input in fresh child processes; raises ``RuntimeError`` with the child's last line if it
    fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input"
        path.write_bytes(named(name).encode())
        size = path.stat().st_size
        idle = _child(path, "idle", 1)
        runs = WARM_RUNS if size < 1_000_000 else 3
        call = _child(path, "call", runs)
    added = max(0, call["peak"] - idle["peak"]) + size
    return Warm(name, size, statistics.median(call["ms"]), call["peak"] / size, added / size, call["shown"])


def all_warm() -> list[Warm]:
    """Measure every input."""
    return [warm(name) for name in INPUTS]


def cold() -> list[Cold]:
    """Measure ``admit output`` on 121 kB beside a bare interpreter, runs of the two in turn."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input"
        path.write_bytes(named("121 kB log").encode())
        environment = {
            **os.environ,
            "XDG_DATA_HOME": folder,
            "XDG_CONFIG_HOME": folder,
            "XDG_STATE_HOME": folder,
        }
        admit = str(Path(sys.executable).parent / "admit")
        commands = {
            "bare interpreter": [sys.executable, "-c", "pass"],
            "admit output, 121 kB": [admit, "output", "--task", "why does it fail", "--exit-code", "1"],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(COLD_RUNS):
            for name, command in commands.items():
                with path.open("rb") as source:
                    begin = time.perf_counter()
                    done = subprocess.run(
                        command, stdin=source, capture_output=True, env=environment, check=False
                    )
                if done.returncode:
                    raise RuntimeError(f"{name}: exit code {done.returncode}: {_last_line(done.stderr)}")
                times[name].append((time.perf_counter() - begin) * 1_000)
    return [Cold(name, statistics.median(values), max(values)) for name, values in times.items()]


def _child(path: Path, what: str, runs: int) -> dict:
    command = [sys.executable, "-c", CHILD, str(BENCH), str(path), what, str(runs)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(_last_line(done.stderr))
    return json.loads(done.stdout)


def _last_line(stderr: bytes) -> str:
    lines = stderr.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "no message"


def cold_table() -> str:
    """Measure the cold runs and return them as Markdown, with the ratio to the bare interpreter."""
    rows = cold()
    bare = rows[0].ms
    lines = [
        f"### cold process, median of {COLD_RUNS}",
        "",
        "| command | ms | slowest ms | × bare |",
        "| --- | --- | --- | --- |",
    ]
    lines += [f"| {row.name} | {row.ms:.0f} | {row.slowest_ms:.0f} | {row.ms / bare:.1f} |" for row in rows]
    return "\n".join(lines) + "\n"


def warm_table() -> str:
    """Measure the warm runs and return them as Markdown."""
    lines = [
        "### in process, warm: median time and peak memory of a child process",
        "",
        "| input | bytes | ms | whole process ÷ input | input and call ÷ input | chars shown |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in all_warm():
        large = row.bytes >= 1_000_000  # below, the interpreter itself outweighs the input
        memory = f"{row.peak_over_input:.1f} | {row.added_over_input:.1f}" if large else "– | –"
        lines.append(f"| {row.name} | {row.bytes:,} | {row.ms:,.0f} | {memory} | {row.shown_chars:,} |")
    return "\n".join(lines) + "\n"
