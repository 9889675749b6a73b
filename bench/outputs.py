"""Benchmark of the outputs door: what survives when a large tool output is shown inside a budget.

    python bench/outputs.py --set ci --budget 6000 --data PATH [--peers] [--curve] [--plot FILE] [--json FILE]

Exit codes: 0 done, 2 usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from outputs_bench import bars, report, speed
from outputs_bench.ci_logs import redrawn_away
from outputs_bench.plot import curve_svg
from outputs_bench.runner import run
from outputs_bench.sets import SETS
from outputs_bench.stats import mean

CURVE = (2_000, 4_000, 6_000, 8_000, 10_000, 15_000)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--set", default="all", choices=[*SETS, "speed", "all"], help="which cases")
    parser.add_argument("--budget", type=int, default=6_000, help="characters shown at most, header aside")
    parser.add_argument(
        "--data", type=Path, help="folder of the public data; without it, sets that need it are skipped"
    )
    parser.add_argument("--peers", action="store_true", help="install and run the peers as well")
    parser.add_argument("--judges", action="store_true", help="also ours with the filter and the local judge")
    parser.add_argument("--curve", action="store_true", help="also at budgets from 2,000 to 15,000")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="write the curve of the set as SVG (implies --curve)"
    )
    parser.add_argument(
        "--bars", action="store_true", help="print only the figures to reach and the measured ones"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write one JSON object for each case and row"
    )
    return parser.parse_args()


def main() -> int:
    """Run what the command line asks for and print Markdown."""
    options = arguments()
    if options.data and not (options.data / "outputs").is_dir():
        print(f"no outputs folder in {options.data}; --data takes the folder that holds it", file=sys.stderr)
        return 2
    if options.plot and options.set in ("all", "speed"):
        print("--plot draws one set; name it with --set", file=sys.stderr)
        return 2
    if options.bars:
        print(bars.table(bars.measure(options.data)))
        return 0
    results = []
    for name, case_set in SETS.items():
        if options.set not in (name, "all"):
            continue
        if case_set.needs_data and not options.data:
            print(f"### {case_set.title}: skipped, needs --data\n")
            continue
        cases = case_set.load(options.data or Path())
        done = run(name, case_set, cases, options.budget, peers=options.peers, judges=options.judges)
        results += done.results
        print(report.table(case_set, done, options.budget))
        if name.startswith("ci"):
            labelled = sum(len(case.wanted) for case in cases)
            away = sum(redrawn_away(case.text, case.wanted) for case in cases)
            print(f"{labelled:,} labelled lines, {away} of them overwritten in place.\n")
        if options.curve or options.plot:
            results += curve(name, options)
    if options.set in ("speed", "all"):
        print_speed()
    if options.json:
        rows = (json.dumps(result._asdict(), ensure_ascii=False) for result in results)
        options.json.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return 0


def curve(name: str, options: argparse.Namespace) -> list:
    """Print what each row keeps at each budget, write the plot, and return the results."""
    case_set = SETS[name]
    cases = case_set.load(options.data or Path())
    points: dict[str, dict[int, float]] = {}
    results = []
    for budget in CURVE:
        done = run(name, case_set, cases, budget, peers=options.peers)
        results += done.results
        for row, of_row in report.rows_of(done).items():
            points.setdefault(row, {})[budget] = mean([result.score for result in of_row])
    print(report.curve_table(case_set.title, points))
    if options.plot:
        points.pop("headroom compress", None)  # takes no size, so it has no place on this axis
        options.plot.write_text(
            curve_svg(f"Kept of what mattered: {case_set.title}", points), encoding="utf-8"
        )
    return results


def print_speed() -> None:
    """Print both speed tables, or why one was not run."""
    for measure in (speed.cold_table, speed.warm_table):
        try:
            print(measure())
        except (RuntimeError, OSError) as reason:
            print(f"not run: {reason}\n")


if __name__ == "__main__":
    sys.exit(main())
