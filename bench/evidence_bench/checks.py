"""The checks that need no judge, on cases made from the public base."""

from __future__ import annotations

from pathlib import Path

import evidence_quotes

from .figures import Figure
from .population import ROOT


def figures(data: Path) -> list[Figure]:
    """Precision and recall of quotations, false alarms of numbers and dates."""
    return [Figure(*row) for row in evidence_quotes.figures(data / ROOT)]
