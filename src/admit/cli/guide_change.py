"""`admit guide starter` and `admit guide split`: shown first, written only with `--apply`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from admit.cli.frame import DONE, counted, json_option, print_json
from admit.config.check import visible
from admit.text.table import table


@click.command(
    "starter",
    short_help="A pack of ways to begin with.",
    epilog="\b\nExamples:\n  admit guide starter\n  admit guide starter --apply",
)
@click.option("--apply", "write", is_flag=True, help="Copy what is not there yet; no file is overwritten.")
@json_option
def starter_command(write: bool, as_json: bool) -> int:
    """List the starter pack, and where each way of it would be copied to."""
    from admit.guidance.starter_pack import copy_starter, starter

    pack = starter()
    written = copy_starter() if write else ()
    if as_json:
        ways = [
            {
                "id": one.snippet.id,
                "description": one.snippet.description,
                "target": one.target,
                "there": one.there,
            }
            for one in pack
        ]
        print_json({"schema": 1, "pack": ways, "written": list(written)})
        return DONE
    if write:
        kept = len(pack) - len(written)
        skipped = f"; {counted(kept, 'file')} that stood there already stayed as they were" if kept else ""
        click.echo(f"{counted(len(written), 'file')} written{skipped}.")
        for path in written:
            click.echo(f"  {visible(path, 400)}")
        return DONE
    rows = [(one.snippet.id, "there already" if one.there else "", one.snippet.description) for one in pack]
    click.echo(table(rows, ("way", "", "when")))
    missing = sum(not one.there for one in pack)
    if missing:
        click.echo(
            f"\n{counted(missing, 'file')} would be copied to your own ways: admit guide starter --apply"
        )
    return DONE


@click.command(
    "split",
    short_help="Turn sections of a long file into ways.",
    epilog="\b\nExamples:\n  admit guide split CLAUDE.md\n"
    '  admit guide split CLAUDE.md --section "Database" --apply',
)
@click.argument("file", metavar="FILE", type=click.Path())
@click.option(
    "--section", "named", multiple=True, metavar="S", help="Move this section too, whatever it says; repeat."
)
@click.option("--apply", "write", is_flag=True, help="Write it: all of it, or nothing.")
@json_option
def split_command(file: str, named: Sequence[str], write: bool, as_json: bool) -> int:
    """Propose the sections of FILE as ways that are shown when they are needed, as one diff.

    A section is a level-2 heading with its text. What is shorter than 300 characters stays, and what says
    always, never or must. Bodies move byte for byte; only their front matter is new.
    """
    from admit.guidance.split_files import apply, propose

    proposal = propose(file, named=named)
    written = apply(proposal) if write else ()
    if as_json:
        print_json(
            {
                "schema": 1,
                "file": proposal.path,
                "sections": [
                    {
                        "heading": one.heading,
                        "target": path,
                        "description": one.description,
                        "chars": len(one.body),
                    }
                    for one, (path, _) in zip(proposal.split.sections, proposal.targets, strict=True)
                ],
                "stays": [{"heading": heading, "because": why} for heading, why in proposal.split.stays],
                "diff": proposal.diff(),
                "written": list(written),
            }
        )
        return DONE
    moved = len(proposal.targets)
    if not write:
        click.echo(proposal.diff(), nl=False)
    for path in written:
        click.echo(visible(path, 400))
    for heading, why in proposal.split.stays:
        click.echo(f"stays: {visible(heading)} ({why})", err=True)
    chars = sum(len(one.body) for one in proposal.split.sections)
    if not moved:
        click.echo(f"Nothing to move in {visible(file)}; --section names one to move all the same.", err=True)
    elif write:
        click.echo(f"{counted(moved, 'section')} moved, {chars:,} characters fewer at every turn.", err=True)
    else:
        click.echo(
            f"{counted(moved, 'section')}, {chars:,} characters, would move; --apply writes it.", err=True
        )
    return DONE
