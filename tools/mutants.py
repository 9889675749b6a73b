"""Remove one statement at a time, run the tests that ought to notice, and list what none of them notices.

    python tools/mutants.py                        a sample of core and outputs, the same every time
    python tools/mutants.py --limit 0 --jobs 2     all of it, two at a time
    python tools/mutants.py --paths src/admit/core/order.py --limit 0

Each mutant is one statement replaced by `pass`, in a copy of the tree in a temporary folder. Imports,
definitions, docstrings and type aliases are not removed: Python itself or nothing at all depends on them.
What survives is printed as `file:line: statement`. A statement whose last line ends in `# mutant: <why>`
changes only speed, and is left alone.

Exit codes: 0 none survived, 1 some did, 2 the tests fail without any mutant.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PATHS = ("src/admit/core/*.py", "src/admit/outputs/**/*.py")
COPIED = ("src", "tests", "docs", "tools", "pyproject.toml")
LEFT_ALONE = "# mutant:"
SAMPLE = 200
SLOWEST_S = 30.0
"""A mutant may take this long, or three times the time of the unchanged tests; one that hangs is noticed."""


class Mutant(NamedTuple):
    """One statement to remove: lines from 1, both ends included."""

    path: str
    first: int
    last: int
    statement: str


class Outcome(NamedTuple):
    """What the tests said of one mutant: ``killed``, ``survived`` or ``hung``."""

    mutant: Mutant
    verdict: str


def mutants_of(source: str, path: str) -> list[Mutant]:
    """Every statement of a file that can be removed, in line order."""
    lines = source.splitlines()
    found = []
    for statement in _statements(ast.parse(source)):
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        if LEFT_ALONE not in lines[last - 1]:
            found.append(Mutant(path, first, last, lines[first - 1].strip()))
    return sorted(found, key=lambda one: (one.first, -one.last))


def without(source: str, mutant: Mutant) -> str:
    """The source with the statement replaced by `pass`; every other line keeps its number."""
    lines = source.splitlines(keepends=True)
    line = lines[mutant.first - 1]
    indent = line[: len(line) - len(line.lstrip())]
    gone = ["\n"] * (mutant.last - mutant.first)
    return "".join([*lines[: mutant.first - 1], f"{indent}pass\n", *gone, *lines[mutant.last :]])


def tests_for(path: str) -> list[str]:
    """The tests that ought to notice: those of the file, then all of its room; else every one."""
    room = Path("tests/unit") / Path(path).relative_to("src/admit").parts[0]
    own = room / f"test_{Path(path).stem}.py"
    return [str(one) for one in (own, room) if (ROOT / one).exists()] or ["tests"]


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    skipped = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Pass)
    for parent in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(parent, field, None)
            if not isinstance(block, list) or _is_typing_only(parent):
                continue
            for statement in block:
                if not (
                    isinstance(statement, skipped)
                    or _is_words(statement, parent)
                    or _is_elif(parent, statement)
                ):
                    yield statement


def _is_elif(parent: ast.AST, statement: ast.stmt) -> bool:
    """An `elif` stands at the column of its `if`; replacing it alone would not be Python."""
    both = isinstance(parent, ast.If) and isinstance(statement, ast.If)
    return both and statement.col_offset == parent.col_offset  # type: ignore[attr-defined]


def _is_typing_only(parent: ast.AST) -> bool:
    if isinstance(parent, ast.If):
        return isinstance(parent.test, ast.Name) and parent.test.id == "TYPE_CHECKING"
    if isinstance(parent, ast.ClassDef):
        return any(isinstance(base, ast.Name) and base.id == "Protocol" for base in parent.bases)
    return False


def _is_words(statement: ast.stmt, parent: ast.AST) -> bool:
    """A docstring, an ellipsis, a bare annotation or a type alias."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return True
    if isinstance(statement, ast.AnnAssign) and statement.value is None:
        return True
    if not isinstance(parent, ast.Module) or not isinstance(statement, ast.Assign):
        return False
    value = statement.value
    literal = isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name)
    return literal or (isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr))


class Bench:
    """One copy of the tree, in which one mutant at a time is tried."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", ".hypothesis")
                shutil.copytree(source, folder / name, ignore=ignored)
            elif source.exists():
                shutil.copy(source, folder / name)

    def passes(self, tests: Sequence[str], limit_s: float | None = None) -> bool | None:
        """Whether the tests pass here; None when they took too long."""
        shutil.rmtree(self._folder / ".hypothesis", ignore_errors=True)
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--no-header"]
        environment = {
            **os.environ,
            "PYTHONPATH": str(self._folder / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        process = subprocess.Popen(
            [*command, "--hypothesis-seed=0", *tests],
            cwd=self._folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return process.wait(limit_s) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            return None

    def try_out(self, mutant: Mutant, limit_s: float) -> Outcome:
        """Run the tests of one mutant, and put the file back."""
        file = self._folder / mutant.path
        source = file.read_text(encoding="utf-8")
        file.write_text(without(source, mutant), encoding="utf-8")
        try:
            passed = self.passes(tests_for(mutant.path), limit_s)
        finally:
            file.write_text(source, encoding="utf-8")
        return Outcome(mutant, {True: "survived", False: "killed", None: "hung"}[passed])


def chosen(paths: Sequence[str], limit: int, seed: int) -> list[Mutant]:
    """All mutants, or for one seed the same `limit` of them (0: all), in file and line order."""
    files = sorted({file for pattern in paths for file in ROOT.glob(pattern)})
    found = [
        mutant
        for file in files
        for mutant in mutants_of(file.read_text(encoding="utf-8"), str(file.relative_to(ROOT)))
    ]
    if 0 < limit < len(found):
        picked = sorted(Random(seed).sample(range(len(found)), limit))
        found = [found[k] for k in picked]
    return found


def run(mutants: Sequence[Mutant], jobs: int) -> list[Outcome] | None:
    """Try all, `jobs` at a time; outcomes in the order given, or None when the unchanged tests fail."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        benches: SimpleQueue[Bench] = SimpleQueue()
        for k in range(jobs):
            benches.put(Bench(Path(folder) / str(k)))
        limits: dict[str, float] = {}
        first = benches.get()
        for room in sorted({tests_for(mutant.path)[-1] for mutant in mutants}):
            started = time.monotonic()
            if not first.passes([room]):
                print(f"the tests in {room} fail without a mutant")
                return None
            limits[room] = max(SLOWEST_S, 3 * (time.monotonic() - started))
        benches.put(first)

        tried: list[Outcome] = []

        def try_one(mutant: Mutant) -> Outcome:
            bench = benches.get()
            try:
                outcome = bench.try_out(mutant, limits[tests_for(mutant.path)[-1]])
            finally:
                benches.put(bench)
            if outcome.verdict == "survived":
                print(f"{mutant.path}:{mutant.first}: {mutant.statement}", flush=True)
            tried.append(outcome)
            if sys.stderr.isatty():
                print(f"\r{len(tried)} of {len(mutants)}", end="", file=sys.stderr, flush=True)
            return outcome

        with ThreadPoolExecutor(jobs) as pool:
            return list(pool.map(try_one, mutants))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--paths", nargs="+", default=PATHS, metavar="GLOB", help="files, from the root")
    parser.add_argument("--limit", type=int, default=SAMPLE, metavar="N", help=f"how many ({SAMPLE}); 0: all")
    parser.add_argument("--seed", type=int, default=0, help="which sample (0)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="copies that work at once (1)")
    options = parser.parse_args(arguments)
    mutants = chosen(options.paths, options.limit, options.seed)
    outcomes = run(mutants, max(1, options.jobs))
    if outcomes is None:
        return 2
    counts = {verdict: sum(one.verdict == verdict for one in outcomes) for verdict in ("killed", "hung")}
    survived = [one.mutant for one in outcomes if one.verdict == "survived"]
    print(
        f"{len(outcomes)} statements removed: {counts['killed']} noticed by a failing test, "
        f"{counts['hung']} by a test that hung, {len(survived)} not noticed"
    )
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
