"""`admit resume`: end a pause."""

from __future__ import annotations

import click

from admit.cli.frame import DONE, json_option, print_json
from admit.cli.pause import sentence
from admit.config import pause as state


@click.command("resume")
@json_option
def command(as_json: bool) -> int:
    """End a pause; the doors act again at the next decision."""
    was = state.resume()
    still = state.paused()
    if as_json:
        print_json({"schema": 1, "paused": still is not None, "was_paused": was})
    elif still is not None:
        click.echo(f"{sentence(still)} Take ADMIT_OFF out of the environment to end it.")
    else:
        click.echo("Every door acts again." if was else "Nothing was paused.")
    return DONE
