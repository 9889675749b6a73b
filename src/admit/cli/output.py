"""`admit output`: what an agent should see of the output on standard input."""

from __future__ import annotations

import os
import stat
import sys

import click

from admit.cli.frame import DONE, json_option, print_json
from admit.cli.reading import STDIN, read_all
from admit.cli.streams import print_bytes

SIGNALLED = 128  # and the number of the signal, as shells count

EXAMPLES = """\b
Examples:
  admit output --task "why does the build fail" --exit-code 2 < build.log
  git log --stat | admit output --task "when did the retry limit change"
  admit output --explain --json < build.log"""


@click.command("output", epilog=EXAMPLES)
@click.option(
    "--task", default="", metavar="TEXT", help="What the agent is doing; lines that help it weigh more."
)
@click.option(
    "--exit-code", type=int, metavar="N", help="The command's exit code; without it, it is unknown."
)
@click.option("--max-chars", type=int, metavar="N", help="Most characters to keep, 2,000 to 20,000 (6,000).")
@click.option("--tool", default="", metavar="NAME", help="The tool the output came from.")
@click.option("--session", metavar="ID", help="The session it belongs to, for the record.")
@click.option("--no-filter", is_flag=True, help="Ask no judge, also where the filter is on.")
@click.option(
    "--explain", is_flag=True, help="Name, on stderr, the rule of each kept range and what did not fit."
)
@json_option
def command(
    task: str,
    exit_code: int | None,
    max_chars: int | None,
    tool: str,
    session: str | None,
    no_filter: bool,
    explain: bool,
    as_json: bool,
) -> int:
    """Keep what matters of one large output, word for word.

    Reads standard input and writes what an agent should see: the whole when it is short, else the lines that
    matter, in order, with every gap marked. The whole stays one call away (`admit recall`).
    """
    from admit.cli import door

    config = door.settings(
        {
            "outputs.max_kept_chars": max_chars,
            "outputs.filter.max_kept_chars": max_chars,
            "outputs.filter.enabled": False if no_filter else None,
        }
    )
    if os.isatty(STDIN):
        click.echo("admit: reading the terminal until ^D; a file: admit output < FILE", err=True)
    data, number = read_all()
    code = SIGNALLED + number if number else DONE
    if data is None or (number and not data):
        return code
    try:
        from admit.outputs.model import RawOutput, Task

        place = door.open_place(config)
        chosen = door.output_config(config)
        gate = door.open_gate(config, place, outputs=chosen)
        result = gate.admit(RawOutput(data, exit_code, tool), Task(task), session=session)
    except (Exception, KeyboardInterrupt):
        print_bytes(data)
        raise
    if as_json:
        from admit.cli.results import as_json as shape

        print_json(shape(result, explain=explain))
        sys.stdout.flush()
    else:
        print_bytes(result.data)
    place.settle(config)
    if explain and not as_json:
        from admit.cli.results import explanation

        click.echo(explanation(result), err=True)
    if number:
        click.echo("admit: interrupted: the above is of what had come until then", err=True)
    if os.isatty(2):
        from admit.cli.results import line

        lost = exit_code is None and stat.S_ISFIFO(os.fstat(STDIN).st_mode)
        advice = "; exit code unknown through a pipe: admit run -- CMD keeps it" if lost else ""
        click.echo(f"admit: {line(result, chosen, cut=True, tool=tool)}{advice}", err=True)
    return code
