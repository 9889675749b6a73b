"""How well a gate does on requests whose needed tools are known: recall, coverage, size, and kinds of misses.

A cut is either a depth of the door or ``@K``, the first K of the order. Recall is the share of a request's
needed tools that are shown, averaged over requests; coverage the share of requests that are shown all. The
interval of each is the percentile bootstrap's over requests (Efron and Tibshirani, 1993), 95 %.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from admit.core.events import parse
from admit.errors import UsageError

from .catalog import Catalog
from .route import Routes
from .sources.json_list import from_json

if TYPE_CHECKING:
    from .gate import ToolGate
    from .model import Ranked

EXAMPLE = '{"id": "1", "query": "open an issue", "required": ["tracker/create_issue"]}'
DRAWS = 1000
DEEP = 100
"""Places of the order that are looked at for what is missing; past them ties alone are followed."""
DIGITS = 9
"""Decimals at which two scores are the same, as in the order."""


class Query(NamedTuple):
    """One request; `required` holds the ids that it needs, and none where no tool fits."""

    id: str
    text: str
    required: tuple[str, ...]
    stratum: str = ""
    language: str = ""


class Cut(NamedTuple):
    """What one request was shown at one cut.

    Attributes:
        tokens: Schema tokens; None at ``@K``, where no budget counts them.
        level: Needed tools that are missing although their score is that of the last one shown, a count.
        below: Other needed tools that are missing, a count.
    """

    shown: int
    hits: int
    tokens: int | None
    level: int
    below: int


class Scored(NamedTuple):
    """One request with its cuts, by name."""

    query: Query
    cuts: dict[str, Cut]


class Share(NamedTuple):
    """A mean over requests with its 95 % interval."""

    value: float
    low: float
    high: float


class Figures(NamedTuple):
    """One cut over a group of requests. What has no population is None.

    Attributes:
        n: Requests.
        recall, coverage: Over the requests that need a tool.
        shown, shown_p95: Tools.
        tokens: Schema tokens, a mean.
        per_1000: Recall for each 1,000 schema tokens.
        level, below: Kinds of misses, counts of tools.
        none_shown: Share of the requests without a fitting tool that are shown none.
    """

    group: str
    cut: str
    n: int
    recall: Share | None
    coverage: Share | None
    shown: float
    shown_p95: int
    tokens: float | None
    per_1000: float | None
    level: int
    below: int
    none_shown: float | None


def read_queries(text: str, where: str) -> list[Query]:
    """Rows of JSON: ``{"id", "query", "required": [ids], "stratum"?, "language"?}``, one a line.

    Raises:
        UsageError: A row is not of this form; names it.
    """
    found: list[Query] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row: Any = parse(line)
            required = tuple(row["required"])
            words = [str(row.get(key) or "") for key in ("stratum", "language")]
            query = Query(str(row["id"]), row["query"], required, *words)
            if not isinstance(query.text, str) or not all(isinstance(one, str) for one in required):
                raise TypeError
        except (ValueError, TypeError, KeyError, AttributeError):
            raise UsageError(f"{where}:{number}: is no row such as {EXAMPLE}") from None
        found.append(query)
    if not found:
        raise UsageError(f"{where} holds no row")
    return found


def read_catalog(text: str, name: str) -> Catalog:
    """A catalog from JSON: a list of tools of one source, or a list of ``{"source", "tools"}``.

    Raises:
        SourceError: It is none.
    """
    try:
        value: Any = parse(text)
    except ValueError:
        value = text
    catalog = Catalog()
    parts = value if isinstance(value, list) else [value]
    if parts and all(isinstance(one, dict) and "source" in one and "tools" in one for one in parts):
        for one in parts:
            catalog.add(from_json(str(one["source"]), one["tools"]))
        return catalog
    routes: Routes = from_json(name, value)
    catalog.add(routes)
    return catalog


def evaluate(
    gate: ToolGate, queries: Sequence[Query], *, depths: Sequence[str], ks: Sequence[int]
) -> list[Scored]:
    """Put every request through the gate at every cut.

    Raises:
        UsageError: A needed tool is not in the catalog, or a depth or K cannot be.
    """
    known = gate.catalog.snapshot().routes
    missing = sorted({one for query in queries for one in query.required} - known.keys())
    if missing:
        rest = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise UsageError(
            f"the catalog has no tool {missing[0]!r}{rest}; the rows need it, and ids are source/name"
        )
    return [_scored(gate, query, depths, ks) for query in queries]


def figures(scored: Sequence[Scored], *, seed: int = 0) -> list[Figures]:
    """Figures of all requests, of those a tool fits and those none does, by stratum, by language."""
    groups: list[tuple[str, list[Scored]]] = [
        ("all", list(scored)),
        ("a tool fits", [one for one in scored if one.query.required]),
        ("no tool fits", [one for one in scored if not one.query.required]),
        *_by(scored, lambda one: one.query.stratum),
        *_by(scored, lambda one: one.query.language),
    ]
    cuts = list(scored[0].cuts) if scored else []
    draw = random.Random(seed)
    return [_figures(name, cut, own, draw) for name, own in groups if own for cut in cuts]


def _scored(gate: ToolGate, query: Query, depths: Sequence[str], ks: Sequence[int]) -> Scored:
    order = gate.rank(query.text, max(DEEP, *ks) if ks else DEEP)
    cuts: dict[str, Cut] = {}
    for k in ks:
        cuts[f"@{k}"] = _cut(gate, query, order, {one.route_id: one.score for one in order[:k]}, None)
    for depth in depths:
        found = gate.find(query.text, depth=depth)
        shown = {one.route.id: one.score for one in found.admitted}
        cuts[depth] = _cut(gate, query, order, shown, found.schema_tokens)
    return Scored(query, cuts)


def _cut(
    gate: ToolGate, query: Query, order: Sequence[Ranked], shown: dict[str, float], tokens: int | None
) -> Cut:
    left = [one for one in query.required if one not in shown]
    level = 0
    if left and shown:
        last = round(min(shown.values()), DIGITS)
        if len(order) >= DEEP and round(order[-1].score, DIGITS) >= last:
            order = gate.rank(query.text, max(1, len(gate.catalog)))
        scores = {one.route_id: round(one.score, DIGITS) for one in order}
        level = sum(scores.get(one) == last for one in left)
    return Cut(len(shown), len(query.required) - len(left), tokens, level, len(left) - level)


def _figures(group: str, cut: str, scored: Sequence[Scored], draw: random.Random) -> Figures:
    needing = [(len(one.query.required), one.cuts[cut]) for one in scored if one.query.required]
    every = [one.cuts[cut] for one in scored]
    recall = _share([own.hits / needed for needed, own in needing], draw)
    tokens = [own.tokens for own in every if own.tokens is not None]
    mean = fmean(tokens) if tokens else None
    needed_mean = [own.tokens for _, own in needing if own.tokens is not None]
    per = recall.value / fmean(needed_mean) * 1000 if recall and needed_mean and any(needed_mean) else None
    none = [one.cuts[cut].shown == 0 for one in scored if not one.query.required]
    sizes = sorted(own.shown for own in every)
    return Figures(
        group,
        cut,
        len(scored),
        recall,
        _share([float(own.hits == needed) for needed, own in needing], draw),
        fmean(sizes),
        sizes[max(0, -(-95 * len(sizes) // 100) - 1)],
        mean,
        per,
        sum(own.level for _, own in needing),
        sum(own.below for _, own in needing),
        fmean(none) if none else None,
    )


def _share(values: Sequence[float], draw: random.Random) -> Share | None:
    if not values:
        return None
    n = len(values)
    means = sorted(sum(draw.choices(values, k=n)) / n for _ in range(DRAWS))
    return Share(fmean(values), means[int(0.025 * DRAWS)], means[int(0.975 * DRAWS) - 1])


def _by(scored: Iterable[Scored], key: Callable[[Scored], str]) -> list[tuple[str, list[Scored]]]:
    """Groups by a word, by name; what has none is in no group."""
    found: dict[str, list[Scored]] = {}
    for one in scored:
        if key(one):
            found.setdefault(key(one), []).append(one)
    return sorted(found.items())
