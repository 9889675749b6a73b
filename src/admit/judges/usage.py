"""Tokens and cost as an answer states them: what is no count is unknown, never 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .wire import Usage

MOST_TOKENS = 1 << 53
"""From here on a count is no count: a float would not hold it."""


def read_usage(given: Any, tokens_in: Sequence[str], tokens_out: str) -> tuple[Usage, tuple[str, ...]]:
    """What an answer's `usage` object says, and its quirks: ``no_usage``, ``float_usage``.

    Args:
        given: The object, or whatever stands in its place.
        tokens_in: Names of the counts that make up the tokens in; without the first the sum is unknown, the
            others may be absent.
        tokens_out: Name of the count of tokens out.

    `cost`, in USD, is read where a provider states one, as OpenRouter does.
    """
    if not isinstance(given, dict):
        return Usage(), ("no_usage",)
    first, *more = (_count(given.get(name)) for name in tokens_in)
    total = None if first is None else first + sum(one or 0 for one in more)
    floats = any(isinstance(given.get(name), float) for name in (*tokens_in, tokens_out))
    usage = Usage(total, _count(given.get(tokens_out)), read_cost(given.get("cost")))
    return usage, ("float_usage",) if floats else ()


def read_cost(given: Any) -> float | None:
    """An amount, as of USD; None where it is no finite number from 0 on."""
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        return None
    return float(given) if 0 <= given < float("inf") else None


def _count(given: Any) -> int | None:
    """A whole number from 0 on; a float that is one counts."""
    amount = read_cost(given)
    return int(amount) if amount is not None and amount.is_integer() and amount < MOST_TOKENS else None
