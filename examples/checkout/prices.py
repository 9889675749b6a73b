"""Prices of the tour's little shop, in cents; one rule in here is wrong."""

from __future__ import annotations

VAT = {"de": 0.19, "fr": 0.20, "ch": 0.081}


def net_total(items: list[tuple[int, int]]) -> int:
    """The sum of unit price times quantity."""
    return sum(price * quantity for price, quantity in items)


def discounted(total: int, percent: int) -> int:
    """Take off a discount, rounded half up."""
    return total - (total * percent + 50) // 100


def gross_total(total: int, country: str) -> int:
    """Add the tax of a country."""
    return int(total * (1 + VAT[country]))
