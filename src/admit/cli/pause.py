"""`admit pause`: everything passes as without Admit, for a while or until `admit resume`."""

from __future__ import annotations

import click

from admit.cli.frame import DONE, json_option, print_json
from admit.config import pause as state
from admit.config.places import state_dir
from admit.ledger.moments import local


@click.command("pause")
@click.option("--minutes", type=click.IntRange(1, 60 * 24 * 365), help="End by itself after so many minutes.")
@json_option
def command(minutes: int | None, as_json: bool) -> int:
    """Stop acting at every door: everything passes as without Admit.

    What was stored can still be recalled. ADMIT_OFF=1 in the environment does the same for one process.
    """
    try:
        pause = state.pause(minutes)
    except OSError as fault:
        fault.filename = fault.filename or state_dir()  # a full disk names no file
        raise
    if as_json:
        print_json({"schema": 1, "paused": True, "by": pause.by, "until_ms": pause.until_ms})
    else:
        click.echo(f"{sentence(pause)} `admit resume` ends it.")
    return DONE


def sentence(pause: state.Pause) -> str:
    """What a pause means, for people; times are local."""
    if pause.until_ms is None:
        return f"Paused by {pause.by}: everything passes as without Admit."
    end = local(pause.until_ms)
    return f"Paused by {pause.by} until {end:%Y-%m-%d %H:%M %Z}: everything passes as without Admit."
