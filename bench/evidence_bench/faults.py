"""Every fault of a judge, by many seeds: is a pair without a valid answer ever reported as PASS?"""

from __future__ import annotations

from evidence_faults import run

from .figures import Figure


def figures(seeds: int) -> list[Figure]:
    """One row for all faults together, and which of them there were."""
    rows = run(seeds)
    passed = [one for one in rows if one.passed]
    return [
        Figure(
            f"unjudged pairs reported as PASS, {len({one.fault for one in rows})} faults × {seeds} seeds",
            f"{sum(one.passed for one in rows)} of {sum(one.pairs for one in rows):,}",
            "0",
            ", ".join(one.fault for one in passed) or "none",
        )
    ]
