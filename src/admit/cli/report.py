"""`admit report`: the record as one page."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import click

from admit.cli.frame import DONE, json_option, print_json
from admit.cli.since import SINCE
from admit.config.layers import Config, load
from admit.errors import UsageError

if TYPE_CHECKING:
    from admit.report.ledger_report import LedgerReport


@click.command("report", epilog="\b\nExamples:\n  admit report\n  admit report --since 7d --out week.html")
@click.option(
    "--out",
    metavar="FILE",
    default="admit-report.html",
    show_default=True,
    help="Where the page goes; - is standard output.",
)
@click.option(
    "--since", type=SINCE, default="30d", show_default=True, help="7d, 12h, 30m or a date (2026-01-31)."
)
@json_option
def command(out: str, since: int, as_json: bool) -> int:
    """Write the record of large outputs as one HTML page, for a browser without a network.

    It shows decisions over time, sizes before and after, what was fetched again, filtered beside excerpted
    outputs, fallbacks by reason, what was saved, the largest outputs, and what is missing from the record.
    """
    report = _gather(load(), since)
    if as_json:
        print_json({"schema": 1, **_plain(report)})
        return DONE
    from admit.report.html import page

    text = page(report)
    if out == "-":
        click.echo(text, nl=False)
        return DONE
    _write(out, text)
    click.echo(f"{out}: {report.decisions:,} decision{'' if report.decisions == 1 else 's'} about outputs")
    return DONE


def _gather(config: Config, since: int) -> LedgerReport:
    from admit.ledger import open_ledger
    from admit.report.ledger_report import gather

    dropped = _dropped(config, since)
    ledger = open_ledger(config.values, readonly=True)
    try:
        return gather(ledger.query(since=since), since, dropped=dropped, counters=ledger.counters())
    finally:
        ledger.close()


def _dropped(config: Config, since: int) -> Counter[str]:
    """Records that were not written since then, by cause, as the events tell."""
    from admit.ledger.places import places
    from admit.ledger.queries import dropped_since
    from admit.ledger.reading import reading

    with reading(places(config.values).database, config.values["ledger.busy_ms"]) as connection:
        return Counter() if connection is None else dropped_since(connection, since)


def _write(path: str, text: str) -> None:
    """Write the page beside its place and move it there, for this user's eyes alone.

    Raises:
        UsageError: It cannot be written.
    """
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(beside, path)
    except OSError as fault:
        raise UsageError(f"{path} cannot be written: {fault.strerror or fault}") from fault
    finally:
        if os.path.lexists(beside):
            os.unlink(beside)


def _plain(report: LedgerReport) -> dict[str, object]:
    """The report without its drawing data, as JSON has it."""
    from admit.report.outputs_report import as_json

    value = report._asdict()
    value.pop("points")
    return value | {
        "rows": as_json(report.rows),
        "bars": [bar._asdict() for bar in report.bars],
        "largest": [one._asdict() for one in report.largest],
        "doors": [door._asdict() for door in report.doors],
        "counters": {
            name: dict(one) if hasattr(one, "items") else one
            for name, one in report.counters._asdict().items()
        },
    }
