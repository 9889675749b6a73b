"""`admit redact`: a text as it would leave this machine, without its credentials."""

from __future__ import annotations

import os
import sys

import click

from admit.cli.frame import DONE, FINDING, json_option, print_json
from admit.cli.reading import BLOCK, STDIN
from admit.cli.streams import print_bytes
from admit.errors import UsageError

EXAMPLES = """\b
Examples:
  admit redact < deploy.log
  admit redact --masks < .env
  env | admit redact --json"""


@click.command("redact", epilog=EXAMPLES)
@click.option("--masks", is_flag=True, help="Print where something was masked, and its class, not the text.")
@json_option
def command(masks: bool, as_json: bool) -> int:
    """Print standard input as it would be sent to a judge elsewhere: without its credentials.

    Nothing is sent or stored. A mask reads [redacted:CLASS]; judge.redact_patterns adds patterns of your own.
    Bytes that are no UTF-8 show as U+FFFD. Exit code 1: something was masked.
    """
    from admit.cli.door import settings
    from admit.judges.redact import MOST_BYTES, Redactor, is_too_large

    redactor = Redactor(settings().values["judge.redact_patterns"])
    text = _read(MOST_BYTES).decode("utf-8", "replace")
    if is_too_large(text):
        raise UsageError(
            f"over {MOST_BYTES:,} bytes of text: a text this large is never sent, whatever it holds; "
            "to see what would be masked in a part: head -c 10000000 FILE | admit redact"
        )
    redacted = redactor.redact(text)
    if as_json:
        shown = {} if masks else {"text": redacted.text}
        print_json({"schema": 1, "masked": list(redacted.pointers("/text")), **shown})
        sys.stdout.flush()
    elif masks:
        from admit.text.table import table

        rows = [[f"{mask.start:,}", f"{mask.end - mask.start:,}", mask.kind] for mask in redacted.masks]
        click.echo(table(rows, ("character", "length", "class"), right=(0, 1)) if rows else "nothing masked")
    else:
        print_bytes(redacted.text.encode())
    return FINDING if redacted.masks else DONE


def _read(most: int) -> bytes:
    """Standard input, up to a block more than may be sent."""
    if os.isatty(STDIN):
        click.echo("admit: reading the terminal until ^D; a file: admit redact < FILE", err=True)
    blocks: list[bytes] = []
    try:
        while most >= 0 and (block := os.read(STDIN, BLOCK)):
            blocks.append(block)
            most -= len(block)
    except OSError as fault:
        raise UsageError(f"standard input cannot be read: {fault.strerror}") from None
    return b"".join(blocks)
