"""Benchmark of the evidence door: the resolver, plans and their cost, checks, faults and enforced reads.

    python bench/evidence.py --data PATH [--part PART ...] [--runs N] [--seeds N] [--json FILE]

Parts: fixture, population, links, same, speed, checks, faults, reads; all of them without `--part`.
`--data` names the folder that holds `evidence/commonplace-kb`; what needs it is left out without it.
lychee is installed into its own environment on first use. Exit codes: 0 done, 2 usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from evidence_bench import checks, faults, fixture, links, population, reads, same, speed
from evidence_bench.figures import Figure, print_table

Part = Callable[[argparse.Namespace], list[Figure]]

# Part: (title, whether it needs the public data, how it is measured)
PARTS: Mapping[str, tuple[str, bool, Part]] = MappingProxyType(
    {
        "fixture": ("The resolver on 27 links", False, lambda options: fixture.figures()),
        "population": (
            "What the notes of the public base offer",
            True,
            lambda options: population.figures(population.measure(options.data)),
        ),
        "links": (
            "Missing targets of 692 files beside lychee",
            True,
            lambda options: links.figures(options.data),
        ),
        "same": ("The same plan everywhere", True, lambda options: same.figures(options.data)),
        "speed": ("Cold processes", False, lambda options: speed.figures(options.data, options.runs)),
        "checks": ("Quotations, numbers and dates", True, lambda options: checks.figures(options.data)),
        "faults": ("Judge faults", False, lambda options: faults.figures(options.seeds)),
        "reads": ("Enforced reads", False, lambda options: reads.figures()),
    }
)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of the public data")
    parser.add_argument("--part", action="append", choices=tuple(PARTS), help="only this; may be given again")
    parser.add_argument("--runs", type=int, default=5, help="cold processes a row of speed")
    parser.add_argument("--seeds", type=int, default=200, help="seeds a fault")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows as JSON")
    return parser.parse_args()


def main() -> int:
    """Run what the command line asks for and print Markdown."""
    options = arguments()
    if options.data is not None and not (options.data / population.ROOT).is_dir():
        print(f"no {population.ROOT} in {options.data}; --data takes the folder of it", file=sys.stderr)
        return 2
    results: dict[str, list[dict[str, str]]] = {}
    for part in options.part or PARTS:
        title, needs_data, measure = PARTS[part]
        if needs_data and options.data is None:
            print(f"\n## {title}\n\nnot run: it needs --data")
            continue
        rows = measure(options)
        print_table(title, rows)
        results[part] = [one._asdict() for one in rows]
    if options.json:
        options.json.write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
