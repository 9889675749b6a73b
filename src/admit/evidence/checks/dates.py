"""Dates of claims, held against the artifacts of their blocks."""

from __future__ import annotations

from collections.abc import Iterator

from admit.evidence.checks.numbers import about, claims
from admit.evidence.checks.page import Page
from admit.evidence.checks.values import dates_in
from admit.evidence.model import Finding

RULES = ("date",)


def check(page: Page) -> Iterator[Finding]:
    """One finding for each date of a claim that none of its artifacts holds, at the coarser precision."""
    for block, own, texts in claims(page):
        seen = set()
        for date, span in dates_in(own):
            if date in seen or any(text.dates.hold(date) for text in texts):
                continue
            seen.add(date)
            yield about(page, "date", block, span, texts)
