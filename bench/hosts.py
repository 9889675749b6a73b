"""Benchmark of the daemon and the hook's client: what a hook costs beside a bare interpreter.

    python bench/hosts.py [--runs N] [--json]

Every figure is taken in this run, in a home of its own, with the real handler and no judge. The bars that are
times were set where `python -I -S -c pass` takes 11 ms at the median. Where it takes longer they grow as
much, so that a slow or busy machine changes no verdict.

Exit codes: 0 every bar is met, 1 one is not.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile

from hosts_bench import clients, crowd, direct
from hosts_bench.figures import Figure, table
from hosts_bench.home import Home


def main() -> int:
    """Measure everything, print the table or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=100, help="hooks of each kind, and kills a step (100)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="admit-") as folder, Home(folder) as home:
        cold = clients.cold_start(home)
        bare, round_trip = clients.round_trip(home, options.runs)
        figures += [*round_trip, *clients.cpu(home, options.runs)]
        figures += direct.measure(home, options.runs, bare)
        figures += crowd.measure(home, bare)
        figures += [cold.scaled(bare), *clients.memory(home)]
        figures += clients.killed(home, options.runs)
    if options.json:
        rows = [figure._asdict() | {"met": figure.met} for figure in figures]
        print(json.dumps({"schema": 1, "bare_start_ms": round(bare, 2), "figures": rows}, indent=2))
    else:
        print(f"A bare interpreter takes {bare:.1f} ms at the median; bars that are times are for 11 ms.\n")
        print(table(figures))
    return 0 if all(figure.met for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
