"""Time and memory of the order: process CPU in milliseconds, one thread."""

from __future__ import annotations

import random
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator

from admit.tools.index import Index
from admit.tools.model import Route
from admit.tools.rank import Ranker
from outputs_bench.stats import percentile

from .sets import ToolSet

SIZES = (500, 20_000)
REQUESTS = 400
CHANGES = 30
SEED = 5


def measure(tools: ToolSet) -> list[dict[str, object]]:
    """A row for each size; larger ones repeat the tools under further sources."""
    draw = random.Random(SEED)
    requests = draw.sample([query.text for query in tools.queries], REQUESTS)
    rows: list[dict[str, object]] = []
    for size in SIZES:
        routes = draw.sample(tools.routes, size) if size <= len(tools.routes) else list(_grown(tools, size))
        begin = time.process_time()
        index = Index(routes)
        built = time.process_time() - begin
        ranker = Ranker(index)
        first, warm = ([_spent(ranker, text) for text in requests] for _ in range(2))
        changes: list[float] = []
        after: list[float] = []
        for route in draw.sample(routes, CHANGES):
            begin = time.process_time()
            index.remove([route.id])
            middle = time.process_time()
            index.add([route])
            changes += [(middle - begin) * 1_000, (time.process_time() - middle) * 1_000]
            after.append(_spent(ranker, requests[0]))
        rows.append(
            {
                "routes": size,
                "build_s": built,
                "first": _ends(first),
                "warm": _ends(warm),
                "change": _ends(changes),
                "after_change": _ends(after),
                "memory_mb": _memory(routes),
            }
        )
    rows.append({"import_ms": _import_ms()})
    return rows


def _grown(tools: ToolSet, size: int) -> Iterator[Route]:
    for number in range(size):
        copy, place = divmod(number, len(tools.routes))
        route = tools.routes[place]
        yield route._replace(id=f"{route.id}_{copy}", source=f"{route.source} {copy}") if copy else route


def _spent(ranker: Ranker, text: str) -> float:
    begin = time.process_time()
    ranker.rank(text, 10)
    return (time.process_time() - begin) * 1_000


def _ends(spent: list[float]) -> tuple[float, float]:
    ordered = sorted(spent)
    return percentile(ordered, 0.5), percentile(ordered, 0.95)


def _memory(routes: list[Route]) -> float:
    tracemalloc.start()
    index = Index(routes)
    used = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    del index
    return used


def _import_ms() -> float:
    code = (
        "import time; begin = time.process_time(); import admit.tools.rank; "
        "print((time.process_time() - begin) * 1e3)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(9)
    ]
    return sorted(float(run.stdout) for run in runs)[4]


def print_table(rows: list[dict[str, object]]) -> None:
    """Print the rows as Markdown; pairs are p50 and p95."""
    print("| routes | build s | asked, ms | again, ms | add or remove, ms | after a change, ms | MB |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        if "import_ms" in row:
            print(f"\nimport admit.tools.rank: {row['import_ms']:.1f} ms")
            continue
        pairs = (row[name] for name in ("first", "warm", "change", "after_change"))
        told = " | ".join("{:.2f}, {:.2f}".format(*pair) for pair in pairs)  # type: ignore[misc]
        print(f"| {row['routes']:,} | {row['build_s']:.2f} | {told} | {row['memory_mb']:.0f} |")
