"""`admit guide probe`: how guidance does on prompts of known need, with bars and a comparison."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from admit.cli.frame import DONE, FINDING, counted, json_option, print_json
from admit.cli.guide_gate import CWD, HOST, close_gate, host_of, open_gate, warm
from admit.config.check import visible
from admit.errors import UsageError
from admit.text.table import table

if TYPE_CHECKING:
    from admit.guidance.probe import ProbeReport, Scored

MOST_MISSES = 20


@click.command(
    "probe",
    short_help="Score prompts of known need.",
    epilog="\b\nExamples:\n  admit guide probe probes.tsv --min top1=0.8 --min none_quiet=0.9\n"
    "  admit guide probe probes.jsonl --json > old.json\n  admit guide probe probes.jsonl --compare old.json",
)
@click.argument("file", metavar="FILE", type=click.Path())
@click.option("--judge", "ask", is_flag=True, help="Ask the judge: one request a row.")
@click.option("--min", "bars", multiple=True, metavar="KEY=VALUE", help="A bar for a figure; repeat.")
@click.option("--compare", "old", metavar="OLD", type=click.Path(), help="The --json of an earlier run.")
@CWD
@HOST
@json_option
def command(
    file: str,
    ask: bool,
    bars: Sequence[str],
    old: str | None,
    cwd: str | None,
    host: str | None,
    as_json: bool,
) -> int:
    """Run the prompts of FILE through the live path, and hold the ranking against what they expect.

    A row is prompt, expected, and where you like kind and must_not, with tabs between: expected is an id,
    a|b for any, a&b for all, or none. Or JSON lines with prompt, expected (id, list of all, null), category.

    \b
    top1        the first in the ranking is expected
    recall@3    what is needed is among the first 3; also @5, @8
    mrr         mean of 1 / best rank
    shown       what is needed was shown
    none_auc    the best p of a row that expects something is above that of one that expects nothing
    none_quiet  a row that expects nothing was shown nothing

    Exit code 1: a bar is missed, or, compared, the mean rank falls or a none row begins to fire.
    """
    from admit.config.layers import load
    from admit.guidance.probe import probe, read_rows

    wanted = _bars(bars)
    before = _read_old(old) if old is not None else None
    rows = read_rows(file)
    if not rows:
        raise UsageError(f"{file} holds no row")
    folder = os.path.abspath(cwd or os.getcwd())
    gate = open_gate(load(folder), folder, host_of(host), ask=ask)
    warm(gate)
    try:
        report = probe(gate, rows, cwd=folder, ask=ask)
    finally:
        close_gate(gate)
    missed = [(name, least) for name, least in wanted if (report.figures[name] or 0.0) < least]
    change = _change(before, report) if before is not None else None
    if as_json:
        value = report_json(report) | {"missed": [list(one) for one in missed]}
        print_json(value | ({"change": change} if change is not None else {}))
    else:
        _say(report)
        for name, least in missed:
            click.echo(f"Bar missed: {name} is {_figure(report.figures[name])}, wanted {least:g}.")
        if change is not None:
            _say_change(change)
    return FINDING if missed or (change is not None and change["worse"]) else DONE


def report_json(report: ProbeReport) -> dict[str, Any]:
    """The JSON object of a report, which a later run can be compared with."""
    return {
        "schema": 1,
        "matcher": report.matcher,
        "figures": dict(report.figures),
        "kinds": {kind: dict(figures) for kind, figures in report.kinds.items()},
        "lost": dict(report.lost),
        "fires": report.fires,
        "wrong": report.wrong,
        "rows": [_row_json(one) for one in report.rows],
    }


def _row_json(one: Scored) -> dict[str, Any]:
    return {
        "prompt": one.row.prompt,
        "expected": list(one.row.expected),
        "kind": one.row.kind,
        "rank": one.first,
        "shown": one.shown,
        "stage": one.stage or None,
        "best": one.best,
        "wrong": list(one.wrong),
    }


def _bars(given: Sequence[str]) -> list[tuple[str, float]]:
    """Figures with the least that will do.

    Raises:
        UsageError: There is no such figure, or its bar is no number from 0 to 1.
    """
    from admit.guidance.probe import METRICS

    bars = []
    for one in given:
        name, _, value = one.partition("=")
        if name not in METRICS:
            raise UsageError(f"--min knows no {name!r}; it knows: {', '.join(METRICS)}")
        try:
            least = float(value)
        except ValueError:
            least = -1.0
        if not 0 <= least <= 1:
            raise UsageError(f"--min {name} takes a number from 0 to 1, not {value!r}")
        bars.append((name, least))
    return bars


def _read_old(path: str) -> Mapping[str, tuple[float, bool]]:
    """By prompt the reciprocal of its rank, and whether something was shown.

    Raises:
        UsageError: The file cannot be read, or is none that this command printed.
    """
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
        return {str(row["prompt"]): (_reciprocal(row["rank"]), bool(row["shown"])) for row in value["rows"]}
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, RecursionError):
        raise UsageError(f"{path} is not what admit guide probe --json prints") from None


def _change(old: Mapping[str, tuple[float, bool]], report: ProbeReport) -> dict[str, Any]:
    """What differs between an earlier run and this, over the rows that both have."""
    both = [(*old[one.row.prompt], one) for one in report.rows if one.row.prompt in old]
    gains = {one.row.prompt: _reciprocal(one.first) - before for before, _, one in both if one.row.expected}
    fires = [one.row.prompt for _, shown, one in both if not one.row.expected and one.shown and not shown]
    gain = sum(gains.values())
    return {
        "rows": len(both),
        "mrr": gain / len(gains) if gains else None,
        "gained": [prompt for prompt, by in gains.items() if by > 0],
        "lost": [prompt for prompt, by in gains.items() if by < 0],
        "begins_to_fire": fires,
        "adopt": gain > 0 and not fires,
        "worse": gain < 0 or bool(fires),
    }


def _reciprocal(rank: int | None) -> float:
    return 1 / rank if rank else 0.0


def _say(report: ProbeReport) -> None:
    from admit.guidance.probe import METRICS

    counts = {"": len(report.rows)} | {
        kind: sum(one.row.kind == kind for one in report.rows) for kind in report.kinds
    }
    figures = {"": report.figures, **report.kinds}
    rows = [
        (visible(kind) or "all", f"{counts[kind]:,}", *(_figure(some[name]) for name in METRICS))
        for kind, some in figures.items()
    ]
    click.echo(table(rows, ("kind", "rows", *METRICS), right=range(1, len(METRICS) + 2)))
    click.echo(
        f"Matcher {report.matcher}. {counted(report.fires, 'row')} that expect nothing were shown something."
    )
    if report.wrong:
        click.echo(f"{counted(report.wrong, 'snippet')} shown that must not be.")
    misses = [one for one in report.rows if one.row.expected and not one.shown]
    if misses:
        said = ", ".join(f"{n:,} {stage}" for stage, n in report.lost.items())
        click.echo(f"Not shown what they need, by the stage that lost it: {said}.")
        cells = [
            (
                one.stage,
                f"{one.first or ''}",
                visible(" ".join(one.row.expected), 40),
                visible(one.row.prompt, 60),
            )
            for one in misses[:MOST_MISSES]
        ]
        click.echo(table(cells, ("stage", "rank", "expected", "prompt"), right=(1,)))
        if len(misses) > MOST_MISSES:
            click.echo(f"and {len(misses) - MOST_MISSES:,} more; --json lists them all")


def _say_change(change: Mapping[str, Any]) -> None:
    mrr = change["mrr"]
    moved = "" if mrr is None else f", mrr {mrr:+.4f}"
    click.echo(
        f"Compared over {counted(change['rows'], 'row')}: {len(change['gained']):,} better, "
        f"{len(change['lost']):,} worse{moved}, {len(change['begins_to_fire']):,} begin to fire."
    )
    for name, what in (("lost", "worse"), ("begins_to_fire", "begins to fire")):
        for prompt in change[name][:MOST_MISSES]:
            click.echo(f"  {what}: {visible(prompt, 80)}")
    click.echo(
        "Adopt it."
        if change["adopt"]
        else "Not to be adopted: it must gain, and no none row may begin to fire."
    )


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
