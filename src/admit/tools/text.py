"""What the agent reads beside the tools: names and counts, in our own words and nobody's descriptions."""

from __future__ import annotations

from collections.abc import Sequence

from admit.text.plain import one_line

from .model import OutcomeWord

MOST_NAMES = 5
MOST_SERVERS = 12


def outcome_text(
    outcome: OutcomeWord,
    *,
    nearest: Sequence[str] = (),
    sources: Sequence[str] = (),
    already: Sequence[str] = (),
    down: Sequence[str] = (),
    overflow: int = 0,
) -> str:
    """One to three sentences.

    Args:
        nearest: Names of what came nearest and was not judged fit, best first.
        sources: Names of the servers there are.
        already: Names of tools the agent has.
        down: Sources that are not ready.
        overflow: How many more matched.
    """
    said: list[str] = []
    if outcome in ("admitted", "fallback"):
        if overflow:
            said.append(f"{overflow:,} more matched; ask with other words or a name.")
    elif outcome == "none_fits":
        said.append("No available tool does this.")
        if nearest:
            said.append(f"Nearest: {_names(nearest)} (not judged fit).")
    elif outcome == "no_match":
        said.append("No available tool does this.")
        if sources:
            said.append(f"Servers: {_names(sources, MOST_SERVERS)}.")
    elif outcome == "empty_catalog":
        said.append("There are no tools to choose from.")
    if already:
        said.append(f"already available: {_names(already, MOST_SERVERS)}")
    said += [f"server {one_line(name)} is down." for name in down[:MOST_SERVERS]]
    return " ".join(said)


def _names(names: Sequence[str], most: int = MOST_NAMES) -> str:
    shown = ", ".join(one_line(name) for name in names[:most])
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown
