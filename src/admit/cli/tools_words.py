"""Shortlists, explanations and figures of the tools door for people and programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from admit.config.check import visible
from admit.text.table import table

if TYPE_CHECKING:
    from admit.tools.explained import Explanation
    from admit.tools.model import Component, Ranked, Shortlist
    from admit.tools.tokens import Counter

SCHEMA = 1
HEAD = ("rank", "tool", "score", "p", "tokens", "because of", "words that matched")
NUMBERS = (0, 2, 3, 4)
MOST_LEFT_OUT = 5
_ID = 70

REASONS = {
    "exact": "its name",
    "judge": "the judge",
    "budget": "its rank",
    "depth": "its rank",
    "over_budget": "its rank; over the budget alone",
    "fallback": "its rank; not judged",
    "defect": "its rank; not judged",
}
"""Why a tool is shown, by the word of the record."""

LEFT_OUT = {
    "disabled": "is switched off",
    "not_authorised": "may not be used",
    "changed": "changed since it was approved: admit tools diff",
    "new": "is new and not approved: admit tools diff",
    "not_ready": "cannot be called now",
    "out_of_filter": "is outside the filter",
    "already_exposed": "is there already",
    "over_tokens": "did not fit into the schema tokens that were left",
}
"""Why a tool is not, by the word of the record."""


def lines(found: Shortlist, by: Counter, budget: str) -> list[str]:
    """The tools shown, what was passed over, and the outcome last."""
    said: list[str] = []
    if found.admitted:
        rows = [
            (
                f"{one.rank:,}",
                visible(one.route.id, _ID),
                f"{one.score:.2f}",
                "" if one.p is None else f"{one.p:.2f}",
                by.shown(one.tokens),
                REASONS.get(one.reason.partition(":")[0], one.reason),
                visible(", ".join(words(one.components)), 60),
            )
            for one in found.admitted
        ]
        said.append(without_empty(rows, HEAD, NUMBERS))
        count = len(found.admitted)
        tools = f"{count:,} tool{'' if count == 1 else 's'}"
        said.append(f"{tools}, {by.shown(found.schema_tokens)} schema tokens ({by.name}); {budget}")
    passed = [one for one in found.excluded if one.reason in ("over_tokens", "not_ready")]
    for one in passed[:MOST_LEFT_OUT]:
        detail = f" ({visible(one.detail)})" if one.detail else ""
        said.append(f"{visible(one.route_id, _ID)} {LEFT_OUT[one.reason]}{detail}")
    if len(passed) > MOST_LEFT_OUT:
        said.append(f"… and {len(passed) - MOST_LEFT_OUT:,} more; --json lists them all")
    return [*said, f"{found.outcome}{': ' if found.text else ''}{found.text}"]


def as_json(found: Shortlist) -> dict[str, Any]:
    """The JSON object of a shortlist."""
    return {
        "schema": SCHEMA,
        "outcome": found.outcome,
        "tools": [
            {
                "id": one.route.id,
                "rank": one.rank,
                "score": one.score,
                "components": [part._asdict() for part in one.components],
                "reason": one.reason,
                "tokens": one.tokens,
                "p": one.p,
            }
            for one in found.admitted
        ],
        "nearest": list(found.nearest),
        "excluded": [{"id": one.route_id, "reason": one.reason} for one in found.excluded],
        "matched": found.matched,
        "overflow": found.overflow,
        "schema_tokens": {"n": found.schema_tokens, "counter": found.counter},
        "depth": found.depth,
        "judge": found.judge or None,
        "reason": found.reason,
        "text": found.text,
        "catalog_revision": found.catalog_revision,
        "decision_id": found.decision_id,
        "elapsed_ms": found.elapsed_ms,
    }


def explained(found: Explanation) -> list[str]:
    """One tool against one request: whether it is shown, its score in parts, its neighbours."""
    count, depth = found.cut
    left = found.excluded
    why = f", for it {LEFT_OUT[left.reason]}" if left is not None else ""
    detail = f" ({visible(left.detail)})" if left is not None and left.detail else ""
    said = [f"{visible(found.route_id, _ID)}: {'shown' if found.shown else 'not shown'}{why}{detail}"]
    if found.ranked is None:
        return said if left is not None else [*said, "No word of the request is one of its own."]
    one = found.ranked
    said[0] += f"; rank {one.rank:,}, score {one.score:.3f}; the first {count:,} that fit are shown ({depth})"
    if not found.shown and not why:
        said[0] += ", and it comes after them"
    rows = [
        (part.lane, part.signal, f"{part.value:+.3f}", visible(", ".join(part.words), 60))
        for part in one.components
    ]
    said.append(table(rows, ("lane", "signal", "value", "words"), right=(2,)))
    for label, other in (("above", found.above), ("below", found.below)):
        if other is not None:
            said.append(f"One place {label}: {visible(other.route_id, _ID)}, score {other.score:.3f}")
    return said


def explained_json(found: Explanation) -> dict[str, Any]:
    """The JSON object of an explanation."""
    one, left = found.ranked, found.excluded
    return {
        "schema": SCHEMA,
        "id": found.route_id,
        "shown": found.shown,
        "rank": one.rank if one is not None else None,
        "score": one.score if one is not None else None,
        "components": [part._asdict() for part in one.components] if one is not None else [],
        "words": list(one.matched) if one is not None else [],
        "exact": one.exact if one is not None else False,
        "excluded": {"reason": left.reason, "detail": left.detail} if left is not None else None,
        "cut": {"shown": found.cut[0], "depth": found.cut[1]},
        "above": _place(found.above),
        "below": _place(found.below),
    }


def words(components: Sequence[Component]) -> list[str]:
    """The words of the request that a score came from, each once."""
    return list(dict.fromkeys(word for part in components for word in part.words))


def without_empty(rows: Sequence[Sequence[str]], head: Sequence[str], right: Sequence[int]) -> str:
    """A table without the columns in which nothing stands."""
    kept = [k for k in range(len(head)) if any(row[k] for row in rows)]
    flush = [place for place, k in enumerate(kept) if k in right]
    return table([[row[k] for k in kept] for row in rows], [head[k] for k in kept], right=flush)


def _place(one: Ranked | None) -> dict[str, Any] | None:
    return None if one is None else {"id": one.route_id, "rank": one.rank, "score": one.score}
