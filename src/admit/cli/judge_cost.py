"""`admit judge cost`: what judges cost, the known and the unknown kept apart."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from admit.cli.frame import DONE, counted, json_option, print_json
from admit.cli.judge_words import usd
from admit.cli.since import SINCE
from admit.config.layers import Config, load
from admit.text.table import table

if TYPE_CHECKING:
    from admit.ledger.costs import JudgeCost

EXAMPLES = """\b
Examples:
  admit judge cost
  admit judge cost --by profile --since 30d"""

BY = ("day", "session", "project", "profile")


@click.command("cost", short_help="What judges cost.", epilog=EXAMPLES)
@click.option("--by", type=click.Choice(BY), default="day", show_default=True, help="One row for each.")
@click.option("--since", type=SINCE, default="30d", show_default=True, help="7d, 12h or a date (2026-01-31).")
@json_option
def command(by: str, since: int, as_json: bool) -> int:
    """Sum what the calls of decisions cost. Days are UTC, as those of the caps are.

    A call whose cost nobody said is counted apart and is never 0. The last line is what counts against the
    caps today: it holds reservations, and what `judge ask` and `judge check` sent, which no decision does.
    """
    from admit.judges.standing import Used, today

    config = load()
    rows = _read(config, by, since)
    used = today(time.time())
    caps = {name: config.values[f"limits.day.{name}"] for name in Used._fields}
    if as_json:
        answer = {"by": by, "since_ms": since, "rows": [row._asdict() for row in rows]}
        print_json({"schema": 1, **answer, "today": used and used._asdict(), "caps": caps})
        return DONE
    if rows:
        head = (by, "calls", "questions", "tokens in", "known cost", "calls of unknown cost")
        click.echo(table([_line(row) for row in rows], head, right=range(1, len(head))))
    else:
        click.echo("No decision of this time asked a judge.")
    if used is None:
        click.echo("What counts against the caps today cannot be read, so nothing is sent: admit doctor")
        return DONE
    click.echo(
        f"Today (UTC) against the caps: {used.requests:,} of {counted(caps['requests'], 'request')}, "
        f"{used.input_tokens:,} of {caps['input_tokens']:,} tokens in, {usd(used.usd)} of {usd(caps['usd'])}."
    )
    return DONE


def _read(config: Config, by: str, since: int) -> list[JudgeCost]:
    from admit.ledger.costs import judge_costs
    from admit.ledger.places import places
    from admit.ledger.reading import reading

    with reading(places(config.values).database, config.values["ledger.busy_ms"]) as connection:
        return [] if connection is None else judge_costs(connection, by, since)


def _line(row: JudgeCost) -> list[str]:
    tokens = f"{row.input_tokens:,}"
    if row.tokens_unknown:
        tokens += f" + {counted(row.tokens_unknown, 'call')} unknown"
    return [
        row.key or "none named",
        f"{row.calls:,}",
        f"{row.questions:,}",
        tokens,
        usd(row.cost_usd),
        f"{row.cost_unknown:,}",
    ]
