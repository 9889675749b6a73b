"""Reviews as JSON, schema ``admit.evidence/1``, keys in one order.

What a key holds is in `model`. At the end of a pair ``conflict`` and ``shadow`` stand only where they are so,
and at the end of a finding ``passage``, ``passage_line`` and ``text`` only where there is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from admit.evidence.model import Coverage, Finding, Review, Verdict

SCHEMA = "admit.evidence/1"


def document(
    command: str, reviews: Iterable[Review], counts: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """The whole answer of a command.

    Args:
        counts: Further counts of the summary, such as pairs that are ``not_applicable``.
    """
    pairs = tuple(reviews)
    return {
        "schema": SCHEMA,
        "command": command,
        "summary": {**summary(pairs), **(counts or {})},
        "pairs": [pair(one) for one in pairs],
    }


def summary(reviews: Iterable[Review]) -> dict[str, int]:
    """How many pairs there are, and how many of each verdict."""
    given = Counter(one.verdict for one in reviews)
    return {"pairs": given.total(), **{word: given[word] for word in get_args(Verdict)}}


def pair(review: Review) -> dict[str, Any]:
    """One pair."""
    found: dict[str, Any] = {
        **review.pair._asdict(),
        "verdict": review.verdict,
        "reason": review.reason,
        "plan_hash": review.plan_hash,
        "pack_hash": review.pack_hash,
        "stored": review.stored,
        "coverage": None if review.coverage is None else coverage(review.coverage),
        "findings": [finding(one) for one in review.findings],
    }
    if review.conflict:
        found["conflict"] = True
    if review.shadow is not None:
        found["shadow"] = review.shadow
    return found


def coverage(value: Coverage) -> dict[str, Any]:
    """What a verdict rests on."""
    return {
        "cap": value.cap,
        "unit": value.unit,
        "offered": value.offered,
        "read": value.read,
        "slots_used": value.slots_used,
        "bytes_offered": value.bytes_offered,
        "bytes_read": value.bytes_read,
        "stop": value.stop,
        "complete": value.complete,
        "opened": [one._asdict() for one in value.opened],
        "unread": [
            {
                "id": one.id,
                "artifact": one.artifact,
                "blocks": list(one.blocks),
                "part": one.part,
                "reason": one.reason,
            }
            for one in value.unread
        ],
        "unavailable": [one._asdict() for one in value.unavailable],
    }


def finding(value: Finding) -> dict[str, Any]:
    """One finding of a pair."""
    found: dict[str, Any] = {
        "rule": value.rule,
        "severity": value.severity,
        "line": value.line,
        "block": value.block,
        "claim": value.claim,
        "artifact": value.artifact,
        "origin": value.origin,
    }
    if value.passage:
        found |= {"passage": value.passage, "passage_line": value.passage_line}
    return {**found, "text": value.text} if value.text else found
