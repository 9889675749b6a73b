"""Which models count as one reviewer: a review holds for its partition and for no other.

A partition is a named bucket of model ids. An id that no bucket names is a partition of its own, so that a
model nobody has compared never passes for another.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

UNNAMED = "unnamed"
"""The partition of a reviewer that does not say which model it is."""

# Ids that are one model under several names: a snapshot, its alias, and how another server spells it.
_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "jev-1.13": ("jev-1.13", "jev-1.13.0", "typesafe/jev-1.13", "typesafe/jev-1.13-20260917"),
        "claude-haiku-4.5": (
            "claude-haiku-4-5",
            "claude-haiku-4-5-20251001",
            "anthropic/claude-haiku-4.5",
        ),
        "claude-sonnet-4.5": (
            "claude-sonnet-4-5",
            "claude-sonnet-4-5-20250929",
            "anthropic/claude-sonnet-4.5",
        ),
        "claude-opus-4.5": (
            "claude-opus-4-5",
            "claude-opus-4-5-20251101",
            "anthropic/claude-opus-4.5",
        ),
    }
)
BUCKETS: Mapping[str, str] = MappingProxyType(
    {id: bucket for bucket, ids in _NAMES.items() for id in (*ids, bucket)}
)
"""Partition by id in lower case; an id may end in ``-`` and an effort, which is then its own entry."""


def partition(
    model: str | None,
    effort: str | None = None,
    *,
    weights: str = "",
    buckets: Mapping[str, str] = BUCKETS,
) -> str:
    """The partition of a model.

    The id is taken in lower case and without a suffix in brackets, such as ``[1m]``. With an effort,
    ``ID-EFFORT`` is looked for before ``ID``; an id that is not found is its own partition.

    Args:
        model: Its id; None or blank is a model that is not named.
        effort: How hard it thinks, as its host calls it.
        weights: The hash of a local model's weights: name and hash are its partition then.
    """
    id = (model or "").strip().lower()
    if id.endswith("]") and "[" in id:
        id = id[: id.rindex("[")].rstrip()
    if not id:
        return UNNAMED
    if weights:
        return f"{id}@{weights}"
    tried = (f"{id}-{effort.strip().lower()}", id) if effort and effort.strip() else (id,)
    return next((buckets[one] for one in tried if one in buckets), id)
