"""Benchmark of the tools door's order: is the tool that a request needs among the first?

    python bench/tools.py --suite surfaces|real|speed --data PATH [--dense] [--peers] [--json FILE]

`--data` names the folder that holds `tools/`. Exit codes: 0 done, 2 usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tools_bench import rows, speed
from tools_bench.sets import SIZES, real, surface


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--suite", default="surfaces", choices=("surfaces", "real", "speed"))
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data")
    parser.add_argument("--dense", action="store_true", help="also with the local embedder")
    parser.add_argument("--peers", action="store_true", help="install and run the peers as well")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows as JSON")
    return parser.parse_args()


def main() -> int:
    """Run what the command line asks for and print Markdown."""
    options = arguments()
    data = options.data / "tools"
    if not data.is_dir():
        print(f"no tools folder in {options.data}; --data takes the folder that holds it", file=sys.stderr)
        return 2
    results: list[dict[str, object]] = []
    if options.suite == "speed":
        results = speed.measure(real(data))
        speed.print_table(results)
    else:
        sets = [surface(data, size) for size in SIZES] if options.suite == "surfaces" else [real(data)]
        for one in sets:
            found = rows.measure(one, data, dense=options.dense, peers=options.peers)
            rows.print_table(one, found)
            results += [row._asdict() for row in found]
    if options.json:
        options.json.write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
