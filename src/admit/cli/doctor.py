"""`admit doctor`: find what is wrong, and say how to fix it."""

from __future__ import annotations

import click

from admit.cli.frame import DONE, FINDING, json_option, print_json
from admit.config.layers import load


@click.command("doctor")
@json_option
def command(as_json: bool) -> int:
    """Find what is wrong, and say how to fix it.

    Looks at the settings, the folders, the record, the stored outputs, the judge, the guidance of this
    folder, and the hosts that are connected, and changes nothing.
    Ends with 1 where something is wrong.
    """
    from admit.cli.checks import CHECKS, faults_of, notes
    from admit.cli.guidance_standing import guidance
    from admit.cli.host_checks import HOST_CHECKS, host_notes

    config = load()
    looked_at = (*CHECKS, guidance, *HOST_CHECKS)
    faults = [fault for check in looked_at for fault in faults_of(check, config)]
    said = [*notes(config), *host_notes(config)]
    if as_json:
        print_json({"schema": 1, "findings": [fault._asdict() for fault in faults], "notes": said})
        return FINDING if faults else DONE
    for fault in faults:
        click.echo(f"{fault.area}: {fault.text}")
        if fault.fix:
            click.echo(f"    {fault.fix}")
    if not faults:
        click.echo(f"Nothing is wrong. Looked at: {', '.join(check.__name__ for check in looked_at)}.")
    for note in said:
        click.echo(f"Note: {note}")
    return FINDING if faults else DONE
