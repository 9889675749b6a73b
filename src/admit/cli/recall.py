"""`admit recall`: a stored output again, word for word."""

from __future__ import annotations

import sys

import click

from admit.cli import door, naming
from admit.cli.frame import DONE, FINDING, json_option, print_json
from admit.cli.streams import print_bytes
from admit.errors import OutputNotFound, UsageError

MOST_CHARS = 100  # of a range or a cursor; no output has so many lines

EXAMPLES = """\b
Examples:
  admit recall o_3f9a1c2b7d10 --lines 120-531
  admit recall --last --search "connection refused"
  admit recall o_3f9a1c2b7d10 --whole --raw | git apply"""


@click.command("recall", epilog=EXAMPLES)
@click.argument("output_id", metavar="[ID]", required=False)
@click.option("--last", is_flag=True, help="The newest stored output, also after a crash.")
@click.option("--lines", metavar="A-B", help="Lines A to B, from 1.")
@click.option(
    "--search", metavar="TEXT", help="Lines that hold TEXT, upper or lower case, with two lines around."
)
@click.option("--regex", is_flag=True, help="TEXT is a pattern in RE2 syntax, taken as it is written.")
@click.option("--whole", is_flag=True, help="All of it at once.")
@click.option(
    "--cursor", metavar="CURSOR", help="The next page: the cursor from the first line of the one before."
)
@click.option(
    "--raw", is_flag=True, help="Only the stored bytes, without the first line that says what they are."
)
@json_option
def command(
    output_id: str | None,
    last: bool,
    lines: str | None,
    search: str | None,
    regex: bool,
    whole: bool,
    cursor: str | None,
    raw: bool,
    as_json: bool,
) -> int:
    """Print a stored output: its first page, or the part asked for.

    The first line says what follows it. Exit code 1: not found, or no hit.
    """
    naming.one_of(output_id, last)
    if regex and search is None:
        raise UsageError("--regex says how to read --search; give the pattern with --search")
    if raw and (as_json or search is not None):
        raise UsageError("--raw prints stored bytes alone; leave out --json and --search")
    from admit.outputs.recall import parse_lines, recall

    if any(len(one or "") > MOST_CHARS for one in (lines, cursor)):
        raise UsageError(f"--lines and --cursor take at most {MOST_CHARS} characters, as in 120-531")
    span = parse_lines(lines) if lines is not None else None
    config = door.settings()
    place = door.open_place(config)
    try:
        wanted = naming.stored_id(place, output_id)
        result = recall(
            place.store,
            place.key,
            wanted,
            lines=span,
            search=search,
            regex=regex,
            whole=whole,
            cursor=cursor,
            page_chars=config.values["outputs.recall_chars"],
            mask=config.values["outputs.mask"],
        )
    except OutputNotFound as fault:
        click.echo(f"admit: {naming.not_found(fault)}", err=True)
        return FINDING
    if as_json:
        print_json(
            {
                "schema": 1,
                "id": wanted,
                "class": result.cls,
                "lines_total": result.lines_total,
                "hits": result.hits if search is not None else None,
                "next_cursor": result.next_cursor,
                "notes": list(result.notes),
                "header": result.header,
                "text": result.text,
            }
        )
        sys.stdout.flush()
    else:
        print_bytes(result.data if raw else result.answer())
    from admit.ledger.port import Recall

    row = Recall(door.fresh_id(), wanted, door.now_ms(), result.cls, "cli", len(result.text))
    place.store.recalled(row)
    place.settle(config)
    return FINDING if search is not None and not result.hits else DONE
