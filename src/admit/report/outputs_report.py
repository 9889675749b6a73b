"""Outputs that a judge chose from beside those that got the excerpt: what was kept, what was fetched again.

Both sources work offline. The ledger knows everything; recorded sessions know what the agent saw and which
outputs it went back for, but not what a judge cost: that is unknown there, never 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from admit.config.keys import default
from admit.judges.advice import SHADOW
from admit.ledger.port import DecisionView
from admit.outputs.nonce import header_id
from admit.text.table import table
from admit.transcripts.model import Session, ToolUse, input_texts

from .layout import percent, share
from .stats import wilson

Name = Literal["filtered", "excerpt", "other"]
NAMES: tuple[Name, ...] = ("filtered", "excerpt", "other")
HEAD = (
    "outputs",
    "decisions",
    "went back",
    "rate",
    "recalls",
    "kept characters",
    "of original",
    "requests",
    "judge ms",
    "door ms",
    "fallbacks",
)
UNKNOWN = "unknown"


class OutputsRow(NamedTuple):
    """What became of one kind of output. None is unknown.

    Attributes:
        name: ``filtered`` (a judge chose), ``excerpt`` (the door chose alone), ``other`` (shown whole, a
            duplicate, or only computed in shadow mode).
        outputs, decisions: Distinct outputs, and decisions about them.
        recalled, recalls: Outputs the agent went back for, and how often in all.
        original_chars, kept_chars: Over all decisions.
        requests: To a judge.
        judge_ms, total_ms: Over all decisions.
        fallbacks: Why a judge's word was not used, by reason.
    """

    name: Name
    outputs: int = 0
    decisions: int = 0
    recalled: int = 0
    recalls: int = 0
    original_chars: int = 0
    kept_chars: int = 0
    requests: int | None = 0
    judge_ms: float | None = 0.0
    total_ms: float | None = 0.0
    fallbacks: Mapping[str, int] | None = None


def report_rows(
    *, decisions: Iterable[DecisionView] = (), sessions: Iterable[Session] | None = None
) -> list[OutputsRow]:
    """One row each for filtered, excerpt and other outputs, in this order.

    Args:
        decisions: Of the outputs door, with their recalls, from the ledger.
        sessions: Recorded sessions to read instead.
    """
    rows: dict[Name, OutputsRow] = {name: OutputsRow(name, fallbacks={}) for name in NAMES}
    kinds: dict[str, Name] = {}
    recalls: dict[str, int] = {}
    if sessions is None:
        _from_decisions(decisions, rows, kinds, recalls)
    else:
        unknown = OutputsRow("other", requests=None, judge_ms=None, total_ms=None)
        rows.update((name, unknown._replace(name=name)) for name in NAMES)
        for session in sessions:
            _from_session(session, rows, kinds, recalls)
    for output_id, name in kinds.items():
        row, n = rows[name], recalls.get(output_id, 0)
        rows[name] = row._replace(
            outputs=row.outputs + 1, recalled=row.recalled + (n > 0), recalls=row.recalls + n
        )
    return [rows[name] for name in NAMES]


def render(rows: Sequence[OutputsRow]) -> str:
    """The rows as a table, the reasons of fallbacks below it, and how often the agent went back."""
    cells = [_cells(row) for row in rows]
    lines = [table(cells, ("", *HEAD), right=range(1, len(HEAD) + 1))]
    for row in rows:
        if row.fallbacks:
            words = ", ".join(f"{n:,} {reason}" for reason, n in sorted(row.fallbacks.items()))
            lines.append(f"Fallbacks to the excerpt: {words}.")
        if row.outputs and row.name != "other":
            rate = percent(wilson(row.recalled, row.outputs))
            kind = "filtered" if row.name == "filtered" else "excerpted"
            lines.append(
                f"The agent went back for {row.recalled:,} of {row.outputs:,} {kind} "
                f"output{'' if row.outputs == 1 else 's'}: {rate}, 95 % interval."
            )
    return "\n".join(lines)


def as_json(rows: Sequence[OutputsRow]) -> list[dict[str, Any]]:
    """The rows, with the recall rate and its interval."""
    return [
        row._asdict()
        | {"fallbacks": dict(row.fallbacks) if row.fallbacks is not None else None}
        | {"recall_rate": wilson(row.recalled, row.outputs)._asdict()}
        for row in rows
    ]


def kind_of(view: DecisionView) -> Name:
    """Which row a decision belongs to."""
    how = view.decision.extra.get("how")
    if not acted(view):
        return "other"
    return "filtered" if how == "judged" else "excerpt" if how == "local" else "other"


def acted(view: DecisionView) -> bool:
    """Whether the decision changed what was shown; a judge's shadow leaves the excerpt in its place."""
    return bool(view.decision.extra.get("changed", view.decision.mode == "enforce"))


def fallback_of(view: DecisionView) -> str:
    """Why a judge's word was not used; empty where it was, where none was to be asked, and in shadow."""
    row = view.decision
    reason = row.reason or "" if row.extra.get("how") == "local" else ""
    return "" if reason.startswith(SHADOW) else reason


def _from_decisions(
    decisions: Iterable[DecisionView],
    rows: dict[Name, OutputsRow],
    kinds: dict[str, Name],
    recalls: dict[str, int],
) -> None:
    fallbacks: dict[Name, Counter[str]] = {name: Counter() for name in NAMES}
    for view in decisions:
        name, extra = kind_of(view), view.decision.extra
        row = rows[name]
        rows[name] = row._replace(
            decisions=row.decisions + 1,
            original_chars=row.original_chars + _number(extra.get("original_chars")),
            kept_chars=row.kept_chars + _number(extra.get("kept_chars") or extra.get("original_chars")),
            requests=(row.requests or 0) + _number(extra.get("requests")),
            judge_ms=(row.judge_ms or 0.0) + (view.decision.judge_ms or 0.0),
            total_ms=(row.total_ms or 0.0) + (view.decision.elapsed_ms or 0.0),
        )
        if reason := fallback_of(view):
            fallbacks[name][reason] += 1
        # An output that was decided about twice counts once, as what was done to it most.
        output_id = view.decision.output_id or view.decision.decision_id
        kinds[output_id] = _first(name, kinds.get(output_id, name))
        recalls[output_id] = len(view.recalls)
    for name in NAMES:
        rows[name] = rows[name]._replace(fallbacks=dict(sorted(fallbacks[name].items())))


def _from_session(
    session: Session, rows: dict[Name, OutputsRow], kinds: dict[str, Name], recalls: dict[str, int]
) -> None:
    own: set[str] = set()
    for use in session.uses:
        if use.repeated:
            continue
        for output_id in _recalled(use, own):
            recalls[output_id] = recalls.get(output_id, 0) + 1
        shown = use.shown or ""
        named = header_id(shown)
        first = shown[:1_000].partition("\n")[0]
        kept = _kept().search(first) if named is not None else None
        if named is not None and kept is not None:
            name: Name = "filtered" if "A judge scored " in first else "excerpt"
            output_id, sizes = named[1], [int(number.replace(",", "")) for number in kept.groups()]
        elif len(shown) >= default("outputs.floor_chars") and not (
            named is not None and _recall().search(first)
        ):
            name, output_id, sizes = "other", f"{session.id}:{use.order}", [len(shown), len(shown)]
        else:
            continue
        row = rows[name]
        rows[name] = row._replace(
            decisions=row.decisions + 1,
            kept_chars=row.kept_chars + sizes[0],
            original_chars=row.original_chars + sizes[1],
        )
        own.add(output_id)
        kinds[output_id] = _first(name, kinds.get(output_id, name))


def _first(one: Name, other: Name) -> Name:
    return one if NAMES.index(one) <= NAMES.index(other) else other


def _recalled(use: ToolUse, known: Iterable[str]) -> Iterator[str]:
    """Outputs, of those seen before, that a call goes back for: by its id, or by its stored file's path."""
    texts = input_texts(use.input)
    for output_id in sorted(known):
        if output_id.startswith("o_") and any(_goes_back(text, output_id, use.tool) for text in texts):
            yield output_id


def _goes_back(text: str, output_id: str, tool: str) -> bool:
    by_id = output_id in text and ("recall" in text or tool.endswith("admit_recall"))
    return by_id or f"/{output_id[2:]}" in text


def _cells(row: OutputsRow) -> tuple[str, ...]:
    return (
        row.name,
        f"{row.outputs:,}",
        f"{row.decisions:,}",
        f"{row.recalled:,}",
        share(row.recalled, row.outputs),
        f"{row.recalls:,}",
        f"{row.kept_chars:,}",
        share(row.kept_chars, row.original_chars),
        UNKNOWN if row.requests is None else f"{row.requests:,}",
        UNKNOWN if row.judge_ms is None else f"{row.judge_ms:,.0f}",
        UNKNOWN if row.total_ms is None else f"{row.total_ms:,.0f}",
        UNKNOWN if row.fallbacks is None else f"{sum(row.fallbacks.values()):,}",
    )


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


@lru_cache(maxsize=1)
def _kept() -> re.Pattern[str]:
    return re.compile(
        r"\] ([\d,]{1,20}) of ([\d,]{1,20}) chars \([\d,]+ of [\d,]+ lines?\) kept for the task"
    )


@lru_cache(maxsize=1)
def _recall() -> re.Pattern[str]:
    return re.compile(r" of o_[0-9a-f]{12,64}, (?:verbatim|credentials masked)")
