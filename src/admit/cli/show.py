"""`admit show`: the text an agent saw, or would see, of an output."""

from __future__ import annotations

import sys

import click

from admit.cli import door, naming
from admit.cli.frame import DONE, FINDING, json_option, print_json
from admit.cli.streams import print_bytes
from admit.errors import OutputNotFound

EXAMPLES = """\b
Examples:
  admit show --last
  admit show o_3f9a1c2b7d10"""


@click.command("show", epilog=EXAMPLES)
@click.argument("name", metavar="[ID]", required=False)
@click.option("--last", is_flag=True, help="The newest decision about an output.")
@json_option
def command(name: str | None, last: bool, as_json: bool) -> int:
    """Print the text an agent saw, or would see, of an output.

    It is rebuilt from the stored copy and the recorded decision. ID is an output's or a decision's.
    """
    naming.one_of(name, last)
    config = door.settings()
    place = door.open_place(config)
    view = naming.decided(place, name, "outputs")
    if view is None or view.decision.output_id is None:
        rest = "`admit recall` gives the stored text" if name else "nothing is recorded yet"
        click.echo(f"admit: no decision {f'about {name}' if name else 'about an output'}; {rest}", err=True)
        return FINDING
    from admit.outputs.again import shown_again

    output_id = view.decision.output_id
    try:
        with place.store.open(output_id) as file:
            stored = file.read()
        ref = place.store.find(output_id)
        if ref is None:
            raise OutputNotFound(output_id, "deleted")
    except OutputNotFound as fault:
        click.echo(f"admit: {naming.not_found(fault)}", err=True)
        return FINDING
    text = shown_again(
        stored,
        view.decision.extra,
        bytes.fromhex(ref.sha256),
        place.key,
        total=ref.bytes,
        recall=f"admit recall {output_id}",
        mask=config.values["outputs.mask"],
    )
    if as_json:
        decision = view.decision
        print_json(
            {
                "schema": 1,
                "id": output_id,
                "decision_id": decision.decision_id,
                "how": decision.extra.get("how"),
                "reason": decision.reason,
                "text": text.decode("utf-8", "replace"),
            }
        )
        sys.stdout.flush()
    else:
        print_bytes(text)
    return DONE
