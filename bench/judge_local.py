"""The local judge beside BM25 and plain word overlap, on its own labelled cases; its time and its memory.

    python bench/judge_local.py [--doors guidance outputs] [--seed 1] [--json FILE]

Quality is cross-validated with whole groups left out (a prompt with all its pairs; an output with all its
tasks), over the folds of the shipped artefacts; BM25 and Jaccard pass through a one-feature fit on the same
folds, so that their calibration can be compared too. The cases were written for Admit, and the judge is
fitted on them: every figure is a development figure.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from admit.core.question import Ask
from admit.judges.encoder import Encoder
from admit.judges.local import LocalConfig, LocalJudge
from admit.judges.rubric import guidance_question, outputs_question
from admit.lab import fit
from admit.lab.calibrate import DOORS, Table, cross_validated, quality, tabulate
from admit.lab.cases import Case, read_cases
from admit.text.bm25 import Bm25
from admit.text.terms import terms

CASES = Path(__file__).parent / "calibration"
RUNS = 60


def qualities(door: str, seed: int) -> dict[str, dict[str, Any]]:
    """The figures of each way of judging, by its name."""
    rows, _ = read_cases(CASES / f"{door}.jsonl")
    spec = DOORS[door]
    encoder = Encoder() if Encoder().is_installed() else None
    names = ("cos", *spec.lexical) if encoder is not None else spec.lexical
    table = tabulate(rows, names, encoder)
    lexical = table.x[:, 1:] if encoder is not None else table.x
    columns = {"lexical": lexical, "BM25": bm25(rows), "Jaccard": table.overlap[:, None]}
    if encoder is not None:
        columns = {"embed": table.x, "cosine alone": table.x[:, :1], **columns}
    found = {}
    for name, x in columns.items():
        one = Table(x, table.y, table.groups, table.overlap)
        found[name] = quality(cross_validated(one, spec.levels, seed), one, spec, seed)
        # A one-feature score keeps its own order over all folds; its AUC needs no fit.
        if x.shape[1] == 1:
            positive = table.y >= spec.positive_from
            least = fit.threshold_at_recall(x[:, 0], positive)
            interval = fit.auc_interval(x[:, 0], positive, table.groups, seed)
            found[name]["auc"] = round(fit.auc(x[:, 0], positive), 4)
            found[name]["auc_ci95"] = [round(edge, 4) for edge in interval]
            found[name]["kept_at_recall_90"] = round(float((x[:, 0] >= least).mean()), 4)
    return found


def bm25(rows: tuple[Case, ...]) -> np.ndarray:
    scores: list[float] = []
    indexes: dict[tuple[str, ...], Bm25] = {}
    for case in rows:
        if case.subjects not in indexes:
            indexes[case.subjects] = Bm25([terms(subject) for subject in case.subjects])
        scores.extend(indexes[case.subjects].scores(terms(case.task)))
    return np.array(scores)[:, None]


def latencies(mode: str, door: str, count: int) -> dict[str, float]:
    """Milliseconds of one ask over `count` subjects never seen before, with everything loaded.

    The CPU's own time stands beside the wall's, for a machine that others use too.
    """
    rows, _ = read_cases(CASES / f"{door}.jsonl")
    question = guidance_question if door == "guidance" else outputs_question
    pool = sorted({subject for case in rows for subject in case.subjects})
    judge = LocalJudge(LocalConfig(mode=mode))
    spent: list[float] = []
    busy: list[float] = []
    for run in range(RUNS + 3):
        subjects = [f"{pool[(run * count + k) % len(pool)]} {run}" for k in range(count)]
        questions = tuple(question(f"q{k}", subject) for k, subject in enumerate(subjects, 1))
        task = f"{rows[run % len(rows)].task} {run}"
        started, cpu = time.perf_counter(), time.process_time()
        reply = judge.ask(Ask(door, task, (), questions, None, 60_000, "r"))
        spent.append((time.perf_counter() - started) * 1000)
        busy.append((time.process_time() - cpu) * 1000)
        if reply.status != "judged" or reply.quirks:
            raise SystemExit(f"{mode}: {reply.status} {reply.reason} {reply.quirks}")
    p50, p95 = np.quantile(spent[3:], [0.5, 0.95])
    cpu50, cpu95 = np.quantile(busy[3:], [0.5, 0.95])
    figures = {"p50_ms": p50, "p95_ms": p95, "cpu_p50_ms": cpu50, "cpu_p95_ms": cpu95}
    return {name: round(float(value), 1) for name, value in figures.items()}


_FIRST_ASK = """
import sys, time
def memory(name):  # not getrusage, whose peak a child inherits
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) / 1024
import admit.judges.profiles as profiles
from admit.core.question import Ask
from admit.judges.rubric import guidance_question
before, started, cpu = memory("VmRSS"), time.perf_counter(), time.process_time()
judge = profiles.load_judge("local", config={"judge.local.mode": sys.argv[1]})
ask = Ask("guidance", "the disk is full", (), (guidance_question("q1", "ops disks"),), None, 60000, "r")
reply = judge.ask(ask)
assert reply.status == "judged" and not reply.quirks, reply
spent = time.perf_counter() - started, time.process_time() - cpu
print(*spent, memory("VmRSS") - before, memory("VmHWM") - before)
"""


def first_ask(mode: str) -> dict[str, float]:
    """From loading the judge to its first answer in a fresh process: time, memory added, and at its peak."""
    runs = []
    for _ in range(3):
        command = [sys.executable, "-c", _FIRST_ASK, mode]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        runs.append(tuple(map(float, printed.split())))
    wall, cpu, added, peak = (sorted(column)[1] for column in zip(*runs, strict=True))
    return {
        "load_s": round(wall, 2),
        "cpu_s": round(cpu, 2),
        "added_mb": round(added, 1),
        "peak_mb": round(peak, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--doors", nargs="*", default=list(DOORS), choices=list(DOORS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="also write the figures there")
    given = parser.parse_args()
    found: dict[str, Any] = {"quality": {}, "speed": {}}
    for door in given.doors:
        found["quality"][door] = qualities(door, given.seed)
        print(f"\n{door} (development)")
        print(f"  {'':20} {'AUC':>8}   95 % interval    kept at recall 0.9        ECE   Brier skill")
        for name, one in found["quality"][door].items():
            low, high = one["auc_ci95"]
            print(
                f"  {name:20} {one['auc']:8.4f}   {low:.4f}..{high:.4f}   {one['kept_at_recall_90']:17.1%}"
                f"   {one['ece']:8.4f}   {one['brier_skill']:8.3f}"
            )
    print("\none ask, subjects never seen before")
    modes = ("embed", "lexical") if Encoder().is_installed() else ("lexical",)
    for mode in modes:
        speed = {
            "8 short candidates": latencies(mode, "guidance", 8),
            "24 passages": latencies(mode, "outputs", 24),
            "first ask, fresh process": first_ask(mode),
        }
        found["speed"][mode] = speed
        for name, values in speed.items():
            print(f"  {mode:8} {name:25} " + "  ".join(f"{key} {value}" for key, value in values.items()))
    load = os.getloadavg()[0]
    print(f"  load of this machine now: {load:.1f} on {os.cpu_count()} cores")
    if "embed" not in modes:
        print("  embed    not run: pip install 'admit[local]'")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
