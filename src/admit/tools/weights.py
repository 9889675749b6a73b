"""The numbers of the order, with the defaults that ship."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from .index import Share

FIELD_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "name": 3.0,
        "aliases": 4.0,
        "outputs": 2.0,
        "title": 2.0,
        "group": 2.5,
        "params": 1.0,
        "source": 0.5,
        "description": 1.0,
        "group_description": 0.5,
        "param_descriptions": 0.5,
        "output_descriptions": 0.5,
    }
)


class Weights(NamedTuple):
    """What each match counts for.

    Attributes:
        k1, b: BM25's saturation and length norm.
        fields: By name of the field.
        stem, family, verb: What a word of the same stem, with the same beginning, or of the same class of
            verbs counts for beside the word itself, 0 to 1.
        whole_name: Added once for a whole name and once for a whole group, in multiples of the word's idf.
        source_only: Factor on a route that matched nothing but its source.
        share: When a word of names marks its source.
    """

    k1: float = 1.2
    b: float = 0.9
    fields: Mapping[str, float] = FIELD_WEIGHTS
    stem: float = 0.9
    family: float = 0.6
    verb: float = 0.5
    whole_name: float = 2.0
    source_only: float = 0.05
    share: Share = Share()


DEFAULT = Weights()
