"""One row for each way of ordering a catalog: ours, with more lanes, and the peers."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from admit.tools.dense import Dense, pool
from admit.tools.history import History
from admit.tools.index import Index
from admit.tools.rank import Ranker
from outputs_bench.stats import Interval, mean, paired, percentile

from .peers import NotRun, orders_of_peers
from .sets import Query, ToolSet

DEPTH = 100
CUTS = (1, 3, 10)


class Row(NamedTuple):
    """The figures of one order; shares 0 to 1, milliseconds of process CPU (None: not measured).

    Attributes:
        lead: Ours (lexical) less this row in recall@3 and @10, paired by request, with 95 % intervals.
        note: Why it did not run; empty where it did.
    """

    suite: str
    name: str
    requests: int = 0
    recall: tuple[float, ...] = ()
    full: tuple[float, ...] = ()
    p50_ms: float | None = None
    p95_ms: float | None = None
    lead: tuple[Interval, ...] = ()
    note: str = ""


class LocalEncoder:
    """The local judge's embedder behind the door's port."""

    def __init__(self) -> None:
        from admit.judges.encoder import Encoder

        self._encoder = Encoder()

    def encode(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """One vector a text."""
        return self._encoder.vectors(texts)


def measure(tools: ToolSet, data: Path, *, dense: bool, peers: bool) -> list[Row]:
    """All rows of one set. Requests that need no tool are left out."""
    asked = [query for query in tools.queries if query.required]
    orders = dict(_own(tools, asked, dense))
    notes: dict[str, str] = {}
    if peers:
        try:
            orders.update(orders_of_peers(tools, asked, data, notes, LocalEncoder() if dense else None))
        except NotRun as reason:
            notes["peers"] = str(reason)
    ours = orders["admit, lexical"][0]
    rows = [_row(tools, name, asked, found, ours) for name, found in orders.items()]
    return rows + [Row(tools.name, name, note=note) for name, note in notes.items()]


def _own(
    tools: ToolSet, asked: list[Query], dense: bool
) -> Iterator[tuple[str, tuple[list[list[str]], list[float]]]]:
    ranker = Ranker(Index(tools.routes))
    yield "admit, lexical", _timed(asked, lambda text: [one.route_id for one in ranker.rank(text, DEPTH)])
    # Half of the requests are history for the other half, and the other way round: none is its own past.
    halves = [_history(asked[first::2]) for first in (0, 1)]
    turn = {query.text: halves[1 - number % 2] for number, query in enumerate(asked)}
    yield (
        "admit, + history",
        _timed(asked, lambda text: [one.route_id for one in ranker.rank(text, DEPTH, history=turn[text])]),
    )
    if dense:
        lane = Dense(LocalEncoder(), tools.routes)
        yield (
            "admit, + dense",
            _timed(
                asked,
                lambda text: [one.route_id for one in pool(ranker.rank(text, DEPTH), lane.scores(text))],
            ),
        )


def _history(past: list[Query]) -> History:
    history = History(lambda stem: hashlib.blake2b(stem.encode(), key=b"bench", digest_size=8).hexdigest())
    history.load((route_id, history.stems(query.text)) for query in past for route_id in query.required)
    return history


def _timed(asked: list[Query], order: Callable[[str], list[str]]) -> tuple[list[list[str]], list[float]]:
    orders: list[list[str]] = []
    spent: list[float] = []
    for query in asked:
        begin = time.process_time()
        orders.append(order(query.text))
        spent.append((time.process_time() - begin) * 1_000)
    return orders, spent


def _row(
    tools: ToolSet,
    name: str,
    asked: list[Query],
    found: tuple[list[list[str]], list[float]],
    ours: list[list[str]],
) -> Row:
    orders, spent = found
    shares = {cut: [_share(q, o, cut) for q, o in zip(asked, orders, strict=True)] for cut in CUTS}
    own = {cut: [_share(q, o, cut) for q, o in zip(asked, ours, strict=True)] for cut in CUTS}
    ordered = sorted(spent)
    return Row(
        tools.name,
        name,
        len(asked),
        tuple(mean(shares[cut]) for cut in CUTS),
        tuple(mean([float(share == 1) for share in shares[cut]]) for cut in CUTS),
        percentile(ordered, 0.5) if ordered else None,
        percentile(ordered, 0.95) if ordered else None,
        () if orders is ours else tuple(paired(own[cut], shares[cut]) for cut in CUTS[1:]),
    )


def _share(query: Query, order: list[str], cut: int) -> float:
    return len(set(query.required) & set(order[:cut])) / len(query.required)


def print_table(tools: ToolSet, rows: list[Row]) -> None:
    """Print the rows as Markdown."""
    print(f"### {tools.name}: {len(tools.routes):,} tools\n")
    print("| row | recall@1 | @3 | @10 | full@3 | full@10 | CPU p50, p95 ms | lexical leads @3 | @10 |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        if row.note:
            print(f"| {row.name} | not run: {row.note} | | | | | | | |")
            continue
        recall = " | ".join(f"{share:.3f}" for share in row.recall)
        full = " | ".join(f"{share:.3f}" for share in row.full[1:])
        lead = " | ".join(f"{one.mean:+.3f} ({one.low:+.3f} to {one.high:+.3f})" for one in row.lead) or " | "
        spent = "–" if row.p50_ms is None else f"{row.p50_ms:.2f}, {row.p95_ms:.2f}"
        print(f"| {row.name} | {recall} | {full} | {spent} | {lead} |")
    print()
