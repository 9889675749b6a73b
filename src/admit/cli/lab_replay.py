"""`admit lab replay` and `admit lab calibrate`: what the record says of another number; the local judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from admit.cli.frame import DONE, FINDING, counted, json_option, print_json
from admit.cli.since import SINCE
from admit.config.layers import load
from admit.text.table import table

DOORS = ("guidance", "outputs", "tools")


@click.command(
    "replay",
    short_help="Decide the record again, otherwise.",
    epilog="\b\nExamples:\n  admit lab replay --door guidance --set max_candidates=12 --since 7d\n"
    "  admit lab replay --door outputs --set threshold=1.2 --json",
)
@click.option("--door", type=click.Choice(DOORS), required=True, help="Whose decisions.")
@click.option(
    "--set",
    "settings",
    default="",
    metavar="NAME=VALUE,…",
    help="max_candidates, threshold, fill, overflow, max_tools, max_tokens; without it only reproduce.",
)
@click.option("--since", type=SINCE, metavar="T", help="Only from this time on: 7d, 12h or a date.")
@json_option
def replay(door: str, settings: str, since: int | None, as_json: bool) -> int:
    """Decide the decisions of the record again under another policy. Nobody is asked.

    What was never judged is unknown, and counted: the result is given with all of it blocked and all passed.
    """
    from admit.lab.replay import SIZES, settings_of
    from admit.lab.replay import replay as decide_again
    from admit.ledger import open_ledger

    wanted = settings_of(settings)
    ledger = open_ledger(load().values, readonly=True)
    views = list(ledger.query(door=door, since=since))
    found = decide_again(reversed(views), door, wanted)
    totals = found.totals()
    if as_json:
        rows = [one._asdict() for one in found.decisions]
        head = {"schema": 1, "door": door, "settings": wanted, "totals": totals}
        print_json({**head, "notes": list(found.notes), "decisions": rows})
        return DONE
    unit = SIZES[door]
    click.echo(f"{counted(totals['decisions'], 'decision')} of {door}, {totals['reproduced']:,} reproduced.")
    rows = [
        ("as recorded", f"{totals['was']:,}", f"{totals['was_size']:,}"),
        ("now, unknown blocked", f"{totals['low']:,}", f"{totals['low_size']:,}"),
        ("now, unknown passed", f"{totals['high']:,}", f"{totals['high_size']:,}"),
    ]
    click.echo(table(rows if wanted else rows[:1], ("", "shown", unit), right=(1, 2)))
    click.echo(f"{totals['changed']:,} changed, {totals['unknown']:,} unknown.")
    for note in found.notes:
        click.echo(f"Note: {note}.")
    return DONE


@click.command(
    "calibrate",
    short_help="Fit the local judge.",
    epilog="\b\nExample:\n  admit lab calibrate --door outputs --mode lexical --cases c.jsonl --out fit.json",
)
@click.option("--door", type=click.Choice(DOORS[:2]), required=True, help="What it will judge.")
@click.option("--judge", type=click.Choice(("local",)), default="local", show_default=True)
@click.option("--mode", type=click.Choice(("embed", "lexical")), default="lexical", show_default=True)
@click.option(
    "--cases", required=True, metavar="FILE", type=click.Path(exists=True, dir_okay=False), help="JSON lines."
)
@click.option("--out", required=True, metavar="FILE", type=click.Path(dir_okay=False), help="The artefact.")
@click.option("--seed", type=int, default=1, show_default=True)
@json_option
def calibrate(door: str, judge: str, mode: Any, cases: str, out: str, seed: int, as_json: bool) -> int:
    """Fit the local judge on labelled cases and write the artefact where it passes its gates.

    Its figures are cross-validated with whole cases left out. A refused artefact ends with 1.
    """
    from admit.judges.artifact import dump
    from admit.lab.calibrate import measure
    from admit.lab.cases import read_cases
    from admit.lab.journal import Journal
    from admit.ledger import open_ledger

    rows, data = read_cases(Path(cases))
    artifact = measure(rows, door, mode, seed, data_name=Path(cases).name, data_sha256=data)
    failed = artifact.failed_gate()
    if failed is None:
        Path(out).write_bytes(dump(artifact))
    result = "refused" if failed is not None else "written"
    Journal(open_ledger(load().values)).write(
        "calibrate", data={"cases": data}, door=door, mode=mode, result=result
    )
    if as_json:
        said = {"result": result, "failed": failed, "threshold": artifact.threshold}
        print_json({"schema": 1, **said, "quality": dict(artifact.quality)})
    else:
        shown = [(name, str(value)) for name, value in artifact.quality.items()]
        click.echo(table([*shown, ("threshold", str(artifact.threshold))], ("", "")))
        click.echo(f"Written to {out}." if failed is None else f"Not written: {failed}.")
    return DONE if failed is None else FINDING
