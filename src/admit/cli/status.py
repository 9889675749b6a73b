"""`admit status`: what happened at each door, and what it saved."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from admit.cli.frame import DONE, json_option, print_json
from admit.cli.since import SINCE
from admit.config.layers import Config, load
from admit.text.table import table

if TYPE_CHECKING:
    from admit.ledger.queries import DoorTotals

# What a door's sizes count.
UNITS = {"guidance": "characters", "tools": "tokens", "outputs": "characters", "evidence": "artifacts"}
HEAD = (
    "door",
    "decisions",
    "asked",
    "admitted",
    "blocked",
    "unjudged",
    "fallbacks",
    "kept of offered",
    "saved",
    "went back",
)


@click.command("status")
@click.option(
    "--since", type=SINCE, default="7d", show_default=True, help="7d, 12h, 30m or a date (2026-01-31)."
)
@json_option
def command(since: int, as_json: bool) -> int:
    """Count what happened at each door: one row a door, for outputs one a kind.

    Filtered outputs were cut as a judge chose, excerpts by the door alone, whole ones not at all.
    Asked, admitted, blocked and unjudged count candidates. Saved is against what the host would have shown,
    where that is known. Went back counts outputs that were recalled.
    """
    config = load()
    totals, dropped, gaps = _read(config, since)
    if as_json:
        doors = [row._asdict() | {"unit": UNITS.get(row.door)} for row in totals]
        pause = config.pause._asdict() if config.pause is not None else None
        answer = {"since_ms": since, "doors": doors, "dropped": dict(sorted(dropped.items()))}
        print_json({"schema": 1, **answer, "gaps": gaps, "paused": pause})
        return DONE
    if totals:
        click.echo(table([_row(row) for row in totals], HEAD, right=range(1, len(HEAD))))
    else:
        click.echo("No door has decided anything in this time.")
    for sentence in _below(config, dropped, gaps):
        click.echo(sentence)
    return DONE


def _read(config: Config, since: int) -> tuple[list[DoorTotals], Counter[str], dict[str, int]]:
    """Totals by door, records dropped by cause since then, and records lost by writer."""
    from admit.ledger.database import lost_by_writer
    from admit.ledger.places import places
    from admit.ledger.queries import door_totals, dropped_since
    from admit.ledger.reading import reading

    with reading(places(config.values).database, config.values["ledger.busy_ms"]) as connection:
        if connection is None:
            return [], Counter(), {}
        return door_totals(connection, since), dropped_since(connection, since), lost_by_writer(connection)


def _row(row: DoorTotals) -> list[str]:
    name = f"{row.door}, {row.kind}" if row.kind else row.door
    counts = (row.decisions, row.asked, row.admitted, row.blocked, row.unjudged, row.fallbacks)
    unit = UNITS.get(row.door, "")
    offered = f"{short(row.size_out)} of {short(row.size_in)} {unit}" if row.size_in else "-"
    return [
        name,
        *(f"{count:,}" for count in counts),
        offered,
        f"{short(row.saved)} {unit}",
        f"{row.recalled:,}" if row.door == "outputs" else "-",
    ]


def _below(config: Config, dropped: Counter[str], gaps: dict[str, int]) -> list[str]:
    """What a person must know beside the table."""
    lines = []
    if dropped:
        causes = ", ".join(f"{count:,} {cause}" for cause, count in sorted(dropped.items()))
        lines.append(f"Not recorded: {dropped.total():,} records ({causes}). admit doctor says why.")
    if gaps:
        lines.append(f"Lost: {sum(gaps.values()):,} records of processes that were killed before they wrote.")
    if config.pause is not None:
        from admit.cli.pause import sentence

        lines.append(sentence(config.pause))
    return lines


def short(count: int) -> str:
    """A count in at most five characters: 950, 12.3k, 4.5M."""
    for size, letter in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if abs(count) >= size * 10 or (abs(count) >= size and size > 1_000):
            return f"{count / size:.1f}{letter}"
    return f"{count:,}"
