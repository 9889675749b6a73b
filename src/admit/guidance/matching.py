"""What the gate asks of a matcher by meaning, and the one that stands in where there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from .model import Snippet


class Matched(NamedTuple):
    """What a text has to do with each snippet.

    Attributes:
        scores: Probability of the best chunk, rounded to 6 decimals, of every snippet with a description.
        admitted: Ids that are proposed, the best first.
        outcompeted: Ids at or above the bar that better ones kept out.
    """

    scores: Mapping[str, float]
    admitted: tuple[str, ...] = ()
    outcompeted: frozenset[str] = frozenset()


NOTHING_MATCHED = Matched({})


class SemanticMatcher(Protocol):
    """Says what a text has to do with the snippets it was made for."""

    @property
    def mode(self) -> str:
        """``fused``, ``lexical`` or ``explicit_only``."""
        ...

    def match(self, text: str, eligible: Sequence[Snippet]) -> Matched:
        """Hold a text against the snippets that may compete; never raises."""
        ...


class ExplicitOnly:
    """No matcher: nothing is proposed by meaning, and no pattern is vetoed."""

    mode = "explicit_only"

    def match(self, text: str, eligible: Sequence[Snippet]) -> Matched:
        return NOTHING_MATCHED
