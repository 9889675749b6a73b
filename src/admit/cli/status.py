"""`admit status`: what happened at each door, and what it saved."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import click

from admit.cli.frame import DONE, counted, json_option, print_json
from admit.cli.guidance_standing import Standing, standing
from admit.cli.since import SINCE
from admit.config.layers import Config, load
from admit.text.table import table

if TYPE_CHECKING:
    from admit.ledger.costs import JudgeCost
    from admit.ledger.judged import ReasonCount
    from admit.ledger.queries import DoorTotals

# What a door's sizes count.
UNITS = {"guidance": "characters", "tools": "tokens", "outputs": "characters", "evidence": "bytes"}
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


class Read(NamedTuple):
    """What the record says: totals by door, reasons, judges, records dropped by cause and lost by writer."""

    doors: list[DoorTotals]
    reasons: list[ReasonCount]
    judges: list[JudgeCost]
    dropped: Counter[str]
    gaps: dict[str, int]


@click.command("status")
@click.option(
    "--since", type=SINCE, default="7d", show_default=True, help="7d, 12h, 30m or a date (2026-01-31)."
)
@json_option
def command(since: int, as_json: bool) -> int:
    """Count what happened at each door: one row a door, for outputs one a kind.

    Filtered outputs were cut as a judge chose, excerpts by the door alone, whole ones not at all.
    Asked, admitted, blocked and unjudged count candidates. Saved is against what the host would have shown,
    where that is known. Went back counts outputs that were recalled. Below it stand the reasons why a judge's
    word was not used, what was sent to each judge, and how the guidance of this folder is found and judged.
    """
    config = load()
    read = _read(config, since)
    guidance = standing(config, os.getcwd())
    if as_json:
        print_json(_as_json(config, read, since, guidance))
        return DONE
    if read.doors:
        click.echo(table([_row(row) for row in read.doors], HEAD, right=range(1, len(HEAD))))
    else:
        click.echo("No door has decided anything in this time.")
    for sentence in (*_reasons(config, read.reasons), *_judges(read.judges), *_below(config, read)):
        click.echo(sentence)
    if guidance.snippets:
        click.echo(guidance.sentence)
    return DONE


def _read(config: Config, since: int) -> Read:
    from admit.ledger.costs import judge_costs
    from admit.ledger.database import lost_by_writer
    from admit.ledger.judged import reason_counts
    from admit.ledger.places import places
    from admit.ledger.queries import door_totals, dropped_since
    from admit.ledger.reading import reading

    with reading(places(config.values).database, config.values["ledger.busy_ms"]) as connection:
        if connection is None:
            return Read([], [], [], Counter(), {})
        return Read(
            door_totals(connection, since),
            reason_counts(connection, since),
            judge_costs(connection, "profile", since),
            dropped_since(connection, since),
            lost_by_writer(connection),
        )


def _as_json(config: Config, read: Read, since: int, guidance: Standing) -> dict[str, object]:
    from admit.cli.reasons import explained

    return {
        "schema": 1,
        "since_ms": since,
        "doors": [row._asdict() | {"unit": UNITS.get(row.door)} for row in read.doors],
        "reasons": [
            row._asdict() | explained(config, row.reason, row.profile, row.door)._asdict()
            for row in read.reasons
        ],
        "judges": [row._asdict() for row in read.judges],
        "guidance": guidance._asdict() | {"errors": len(guidance.errors)},
        "dropped": dict(sorted(read.dropped.items())),
        "gaps": read.gaps,
        "paused": config.pause._asdict() if config.pause is not None else None,
    }


def _reasons(config: Config, rows: list[ReasonCount]) -> list[str]:
    """Why a judge's word was not used, each reason apart with its fix."""
    if not rows:
        return []
    from admit.cli.reasons import explained

    lines = ["A judge's word was not used:"]
    for row in rows:
        said = explained(config, row.reason, row.profile, row.door)
        judge = f", {row.profile}" if row.profile else ""
        lines.append(f"  {row.door}{judge}: {row.decisions:,} × {row.reason}. {said.sentence}")
        lines += [f"      {said.fix}"] if said.fix else []
    return lines


def _judges(rows: list[JudgeCost]) -> list[str]:
    """What was sent to each judge, and what it cost where that is known."""
    from admit.cli.judge_words import usd

    lines = []
    for row in rows:
        unknown = f", {counted(row.cost_unknown, 'request')} of unknown cost" if row.cost_unknown else ""
        asked = f"{counted(row.calls, 'request')}, {counted(row.questions, 'question')}"
        lines.append(f"Judge {row.key or 'unnamed'}: {asked}, {usd(row.cost_usd)} known{unknown}.")
    return lines


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


def _below(config: Config, read: Read) -> list[str]:
    """What a person must know beside the table."""
    lines = []
    if read.dropped:
        causes = ", ".join(f"{count:,} {cause}" for cause, count in sorted(read.dropped.items()))
        lines.append(f"Not recorded: {read.dropped.total():,} records ({causes}). admit doctor says why.")
    if read.gaps:
        lost = sum(read.gaps.values())
        lines.append(f"Lost: {lost:,} records of processes that were killed before they wrote.")
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
