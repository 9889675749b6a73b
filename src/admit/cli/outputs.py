"""`admit outputs`: what is stored, what retention removes, and what a judge would cost."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from admit.cli import door
from admit.cli.frame import DONE, counted, json_option, print_json
from admit.cli.since import SINCE
from admit.errors import UsageError
from admit.ledger.moments import local
from admit.text.table import table

if TYPE_CHECKING:
    from admit.ledger.port import OutputRow

EXAMPLES = """\b
Examples:
  admit outputs list --limit 5
  admit outputs prune
  admit outputs report
  admit outputs estimate --task "when did the retry limit change" < git.log"""

PRUNE = "Remove what is past its time or over the size."
REPORT = "Filtered outputs beside excerpts, offline."
ESTIMATE = "What the filter would ask a judge about an output."


def _example(words: str) -> str:
    return f"\b\nExample:\n  admit outputs {words}"


@click.group("outputs", epilog=EXAMPLES)
def command() -> None:
    """The stored outputs: list and prune them, say what a judge would be asked, and report what it did."""


@command.command("list", short_help="What is stored, newest first.", epilog=_example("list --limit 5"))
@click.option("--limit", type=click.IntRange(min=1), default=20, metavar="N", help="The newest N (20).")
@click.option("--session", metavar="ID", help="Only outputs of this session.")
@json_option
def list_outputs(limit: int, session: str | None, as_json: bool) -> int:
    """List stored outputs, newest first, also those that are gone."""
    config = door.settings()
    place = door.open_place(config)
    rows = _rows(place, session)[:limit]
    if as_json:
        print_json({"schema": 1, "outputs": [row._asdict() for row in rows]})
        return DONE
    if not rows:
        click.echo(
            "Nothing is stored yet: `admit output` and `admit run` store what is over 2,000 characters."
        )
        return DONE
    cells = [
        (
            row.output_id,
            _time(row.stored_ms),
            row.tool or "",
            "unknown" if row.exit_code is None else f"{row.exit_code}",
            f"{row.bytes:,}",
            "" if row.lines is None else f"{row.lines:,}",
            f"{row.gone_reason} {_time(row.gone_ms)}" if row.gone_ms else "" if row.complete else "cut off",
        )
        for row in rows
    ]
    click.echo(table(cells, ("id", "stored", "tool", "exit code", "bytes", "lines", "note"), right=(3, 4, 5)))
    return DONE


@command.command("prune", short_help=PRUNE, epilog=_example("prune --json"))
@json_option
def prune(as_json: bool) -> int:
    """Remove what is past outputs.retain_days or over outputs.max_bytes, the longest unused first."""
    config = door.settings()
    place = door.open_place(config)
    report = place.store.prune(door.now_ms())
    place.settle(config)
    if as_json:
        print_json({"schema": 1, **report._asdict()})
    else:
        click.echo(
            f"{counted(report.removed, 'output')} removed ({report.bytes:,} bytes); "
            f"{report.kept_bytes:,} bytes stay."
        )
    return DONE


@command.command("estimate", short_help=ESTIMATE, epilog=_example('estimate --task "why" < build.log'))
@click.option("--task", default="", metavar="TEXT", help="What the agent is doing.")
@click.option("--exit-code", type=int, metavar="N", help="The command's exit code.")
@json_option
def estimate(task: str, exit_code: int | None, as_json: bool) -> int:
    """Say what the filter would ask a judge about the output on standard input. Nothing is sent."""
    from admit.outputs.model import RawOutput, Task

    config = door.settings()
    place = door.open_place(config)
    data = sys.stdin.buffer.read()
    cost = door.open_gate(config, place, estimate=True).estimate(RawOutput(data, exit_code), Task(task))
    if as_json:
        print_json({"schema": 1, **cost._asdict()})
        return DONE
    click.echo(
        f"{counted(cost.requests, 'request')}, {counted(cost.chunks, 'passage')}, {cost.bytes:,} bytes; "
        "nothing was sent"
    )
    return DONE


@command.command("report", short_help=REPORT, epilog=_example("report --sessions ~/.claude/projects"))
@click.option("--sessions", metavar="DIR", help="Read recorded sessions below this folder, not the record.")
@click.option("--since", type=SINCE, default="14d", show_default=True, help="7d, 12h or a date.")
@json_option
def report(sessions: str | None, since: int, as_json: bool) -> int:
    """Compare outputs that a judge filtered with excerpts: recalls, kept size, requests, time, fallbacks.

    Offline: from the record, or from the session files of a coding agent.
    """
    from admit.report import outputs_report

    if sessions is not None:
        if not os.path.isdir(sessions):
            raise UsageError(f"--sessions {sessions}: there is no such folder")
        from admit.transcripts import read_sessions
        from admit.transcripts.find import find

        days = max(1, (door.now_ms() - since) // 86_400_000)
        rows = outputs_report.report_rows(sessions=read_sessions(find([sessions], days)))
    else:
        place = door.open_place(door.settings())
        rows = outputs_report.report_rows(decisions=place.ledger.query(door="outputs", since=since))
    if as_json:
        print_json({"schema": 1, "rows": outputs_report.as_json(rows)})
    else:
        click.echo(outputs_report.render(rows))
    return DONE


def _rows(place: door.Place, session: str | None) -> list[OutputRow]:
    """What is stored, as its files say, and what is gone, as the record says."""
    from admit.ledger.port import OutputRow

    place.store.newest()  # takes in what killed wrappers left
    place.ledger.flush(2_000)
    recorded = {row.output_id: row for row in place.ledger.outputs(session=session)}
    found = [
        OutputRow(
            ref.id, ref.sha256, ref.bytes, ref.lines, ref.stored_ms, ref.stored_ms, complete=ref.complete
        )
        for ref in (place.store.stored() if session is None else ())
    ]
    rows = {row.output_id: row for row in found} | recorded
    return sorted(rows.values(), key=lambda row: (-row.stored_ms, row.output_id))


def _time(ms: int) -> str:
    return f"{local(ms):%Y-%m-%d %H:%M}"
