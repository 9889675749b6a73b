"""A review as the row of a job keeps it: as commands print it, and whole, to be told again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from admit.evidence.as_json import pair
from admit.evidence.model import Coverage, Finding, Opened, Pair, Review, Unavailable, Unread

WHOLE = "whole"


def stored(review: Review) -> dict[str, Any]:
    """What the row keeps."""
    return {**pair(review), WHOLE: told(review)}


def told(value: Any) -> Any:
    """A value of the model as JSON: named tuples become objects, other tuples lists."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: told(one) for name, one in value._asdict().items()}  # type: ignore[attr-defined]
    if isinstance(value, (tuple, list)):
        return [told(one) for one in value]
    return value


def review_of(row: Mapping[str, Any]) -> Review:
    """The review that `stored` wrote.

    Raises:
        KeyError, TypeError, ValueError: It did not write this.
    """
    held = row[WHOLE]
    coverage = None if held["coverage"] is None else _coverage(held["coverage"])
    findings = tuple(Finding(**one) for one in held["findings"])
    return Review(**{**held, "pair": Pair(**held["pair"]), "findings": findings, "coverage": coverage})


def _coverage(held: Mapping[str, Any]) -> Coverage:
    parts = {
        "opened": tuple(Opened(**one) for one in held["opened"]),
        "unread": tuple(
            Unread(**{**one, "links": tuple(one["links"]), "blocks": tuple(one["blocks"])})
            for one in held["unread"]
        ),
        "unavailable": tuple(Unavailable(**one) for one in held["unavailable"]),
    }
    return Coverage(**{**held, **parts})
