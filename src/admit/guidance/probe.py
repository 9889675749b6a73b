"""Score guidance on prompts of known need, on the live path of the gate."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from admit.errors import ProbeFormatError

from .gate import GuidanceGate
from .model import GuidanceResult, Outcome, Surface

MOST_BYTES = 16 << 20
DEPTHS = (3, 5, 8)
METRICS = ("top1", *(f"recall@{k}" for k in DEPTHS), "mrr", "shown", "none_auc", "none_quiet")
"""What a bar can be set on; each is between 0 and 1, more is better."""

HEADER = ("prompt", "expected", "kind", "must_not")


class ProbeRow(NamedTuple):
    """One prompt and what should be offered for it.

    Attributes:
        expected: Ids; none where nothing should be.
        need: Whether ``any`` of them will do, or ``all`` are wanted.
        must_not: Ids that must not be shown.
    """

    prompt: str
    expected: tuple[str, ...]
    need: Literal["any", "all"] = "any"
    kind: str = ""
    must_not: tuple[str, ...] = ()


class Scored(NamedTuple):
    """What became of one row.

    Attributes:
        ranks: Of the expected ids over the full ranking, from 1, in their order; None has no rank.
        shown: Whether what was needed was shown; of a row that expects nothing, whether anything was.
        stage: Where the best of the expected ended.
        best: The greatest probability of any snippet; None without a matcher.
        wrong: Ids of `must_not` that were shown.
    """

    row: ProbeRow
    ranks: tuple[int | None, ...]
    shown: bool
    stage: str
    best: float | None
    wrong: tuple[str, ...]

    @property
    def first(self) -> int | None:
        """The best rank of an expected id."""
        return min((rank for rank in self.ranks if rank is not None), default=None)

    def within(self, depth: int) -> bool:
        """Whether what is needed stands among the first so many."""
        found = [rank is not None and rank <= depth for rank in self.ranks]
        return all(found) if self.row.need == "all" else any(found)


class ProbeReport(NamedTuple):
    """The figures of a probe; a figure that cannot be said is None.

    Attributes:
        figures: By the names of `METRICS`, over all rows.
        kinds: The same by kind.
        lost: Rows that expect something and were not shown it, by the stage that lost it.
        fires: Rows that expect nothing and were shown something.
        wrong: Snippets shown that `must_not` names.
    """

    rows: tuple[Scored, ...]
    matcher: str
    figures: Mapping[str, float | None]
    kinds: Mapping[str, Mapping[str, float | None]]
    lost: Mapping[str, int]
    fires: int
    wrong: int


def probe(gate: GuidanceGate, rows: Iterable[ProbeRow], *, cwd: str = "", ask: bool = False) -> ProbeReport:
    """Scan each prompt as a dry run and hold the ranking against what is expected.

    The full ranking is by tier and value of what was set off, then by the probability of all that was not;
    equal ones by id. Within the first k means any of the expected ids, or all of them, as the row says.

    Args:
        cwd: The working folder, for preconditions.
        ask: Whether the judge may be asked.
    """
    scored, matcher = [], ""
    for row in rows:
        result = gate.scan(Surface("prompt", row.prompt, cwd=cwd), dry_run=True, ask=ask)
        matcher = result.matcher
        scored.append(_scored(row, result))
    kinds = sorted({one.row.kind for one in scored if one.row.kind})
    return ProbeReport(
        tuple(scored),
        matcher,
        figures_of(scored),
        {kind: figures_of([one for one in scored if one.row.kind == kind]) for kind in kinds},
        dict(sorted(Counter(one.stage for one in scored if one.row.expected and not one.shown).items())),
        sum(one.shown for one in scored if not one.row.expected),
        sum(len(one.wrong) for one in scored),
    )


def ranking(outcomes: Iterable[Outcome]) -> list[str]:
    """Ids by tier and value, then by probability; what has neither is left out."""

    def key(one: Outcome) -> tuple[int, float, str]:
        hit = one.hit
        if hit is not None and hit.trigger.kind == "state":
            return (-3, 0.0, one.id)
        if hit is not None and hit.explicit is not None:
            return (-2, -float(hit.explicit), one.id)
        return (-1 if hit is not None else 0, -(one.score or 0.0), one.id)

    return [one.id for one in sorted(outcomes, key=key) if one.hit is not None or one.score is not None]


def figures_of(scored: Sequence[Scored]) -> dict[str, float | None]:
    """Each figure by its name."""
    wanted = [one for one in scored if one.row.expected]
    none = [one for one in scored if not one.row.expected]
    figures: dict[str, float | None] = {"top1": _mean([one.first == 1 for one in wanted])}
    for depth in DEPTHS:
        figures[f"recall@{depth}"] = _mean([one.within(depth) for one in wanted])
    figures["mrr"] = _mean([1 / one.first if one.first else 0.0 for one in wanted])
    figures["shown"] = _mean([one.shown for one in wanted])
    figures["none_auc"] = auc([one.best for one in wanted], [one.best for one in none])
    figures["none_quiet"] = _mean([not one.shown for one in none])
    return figures


def auc(positive: Sequence[float | None], negative: Sequence[float | None]) -> float | None:
    """The chance that a positive value is above a negative one, ties half (Mann and Whitney 1947).

    None where a value is unknown or one side is empty.
    """
    ups = [one for one in positive if one is not None]
    downs = [one for one in negative if one is not None]
    if not ups or not downs or len(ups) < len(positive) or len(downs) < len(negative):
        return None
    wins = sum((up > down) + (up == down) / 2 for up in ups for down in downs)
    return wins / (len(ups) * len(downs))


def read_rows(path: str) -> list[ProbeRow]:
    """The rows of a file: JSON lines where its first line opens an object, else tab-separated.

    Raises:
        ProbeFormatError: It cannot be read; the message names file and line.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ProbeFormatError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > MOST_BYTES:
        raise ProbeFormatError(f"{path} is larger than {MOST_BYTES:,} bytes")
    try:
        return list(parse_rows(data.decode("utf-8-sig"), path))
    except UnicodeDecodeError:
        raise ProbeFormatError(f"{path} is not UTF-8") from None


def parse_rows(text: str, name: str = "probe") -> Iterator[ProbeRow]:
    """The rows of a text; empty lines, and lines of tabs that begin with ``#``, are none.

    Raises:
        ProbeFormatError: A row is not as it should be.
    """
    lines = [(number, line.rstrip("\r")) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    read = _from_json if lines and lines[0][1].lstrip().startswith("{") else _from_tabs
    for number, line in lines:
        try:
            row = read(line)
        except ProbeFormatError as error:
            raise ProbeFormatError(f"{name}:{number}: {error}") from None
        if row is not None:
            yield row


def _from_tabs(line: str) -> ProbeRow | None:
    cells = [cell.strip() for cell in line.split("\t")]
    if line.startswith("#") or cells[:2] == list(HEADER[:2]):
        return None
    if not 2 <= len(cells) <= len(HEADER):
        raise ProbeFormatError(f"give 2 to 4 cells with tabs between: {', '.join(HEADER)}")
    prompt, expected, kind, must_not = (*cells, "", "")[:4]
    if not prompt or not expected:
        raise ProbeFormatError("neither the prompt nor what is expected may be empty; for nothing write none")
    if "|" in expected and "&" in expected:
        raise ProbeFormatError("write a|b for any of them or a&b for all, not both")
    ids = () if expected == "none" else _ids(expected.replace("&", "|").split("|"))
    barred = _ids(must_not.replace(",", "|").split("|")) if must_not else ()
    return ProbeRow(prompt, ids, "all" if "&" in expected else "any", kind, barred)


def _from_json(line: str) -> ProbeRow:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise ProbeFormatError("this is no JSON object") from None
    if not isinstance(row, dict) or not isinstance(row.get("prompt"), str) or not row["prompt"].strip():
        raise ProbeFormatError('give an object with a "prompt" that is not empty')
    if "expected" not in row:
        raise ProbeFormatError('"expected" is missing: an id, a list of ids, or null for nothing')
    kind = row.get("category") or row.get("kind") or ""
    many = isinstance(row["expected"], list)
    need: Literal["any", "all"] = "all" if many else "any"
    return ProbeRow(row["prompt"], _given(row["expected"]), need, str(kind), _given(row.get("must_not")))


def _given(value: Any) -> tuple[str, ...]:
    if value is None or value == "none":
        return ()
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) for one in values):
        raise ProbeFormatError("an id is a text")
    return _ids(values)


def _ids(values: Iterable[str]) -> tuple[str, ...]:
    ids = tuple(dict.fromkeys(one.strip() for one in values))
    if not all(ids):
        raise ProbeFormatError("an id is empty")
    return ids


def _scored(row: ProbeRow, result: GuidanceResult) -> Scored:
    places = {name: place for place, name in enumerate(ranking(result.outcomes), 1)}
    ranks = tuple(places.get(name) for name in row.expected)
    by_id = {one.id: one for one in result.outcomes}
    # Where the first one ended that was not shown although it was needed; of any, the one ranked best.
    lost = [name for name in row.expected if name not in result.shown]
    lost.sort(key=lambda name: places.get(name, len(places) + 1))
    there = [name in result.shown for name in row.expected]
    shown = bool(result.shown) if not row.expected else (all if row.need == "all" else any)(there)
    stage = "shown" if shown or not lost else by_id[lost[0]].stage if lost[0] in by_id else "unknown_id"
    best = max((one.score for one in result.outcomes if one.score is not None), default=None)
    wrong = tuple(name for name in row.must_not if name in result.shown)
    return Scored(row, ranks, shown, stage if row.expected else "", best, wrong)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
