"""Benchmark of the tools door's order: is the tool that a request needs among the first?

    python bench/tools.py --suite own [--dense] [--peers] [--json FILE]
    python bench/tools.py --suite surfaces|real|speed --data PATH [--dense] [--peers] [--json FILE]

`own` is the surfaces written for this project, the hard one among them; `--data` names the folder that holds
`tools/` for the others. Exit codes: 0 done, 2 usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from tools_bench import names, rows, speed
from tools_bench.sets import OWN, SIZES, ToolSet, own, real, surface

SETS: Mapping[str, Callable[[Path], list[ToolSet]]] = MappingProxyType(
    {
        "own": lambda data: [own(name) for name in OWN],
        "surfaces": lambda data: [surface(data, size) for size in SIZES],
        "real": lambda data: [real(data)],
    }
)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--suite", default="surfaces", choices=("own", "surfaces", "real", "speed"))
    parser.add_argument("--data", type=Path, default=Path(), help="folder of the public data")
    parser.add_argument("--dense", action="store_true", help="also with the local embedder")
    parser.add_argument("--peers", action="store_true", help="install and run the peers as well")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows as JSON")
    return parser.parse_args()


def main() -> int:
    """Run what the command line asks for and print Markdown."""
    options = arguments()
    data = options.data / "tools"
    if options.suite != "own" and not data.is_dir():
        print(f"no tools folder in {options.data}; --data takes the folder that holds it", file=sys.stderr)
        return 2
    results: list[dict[str, object]] = []
    if options.suite == "speed":
        results = speed.measure(real(data))
        speed.print_table(results)
    else:
        for one in SETS[options.suite](data):
            found = rows.measure(one, data, dense=options.dense, peers=options.peers)
            rows.print_table(one, found)
            names.print_table(one)
            results += [row._asdict() for row in found]
    if options.json:
        options.json.write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
