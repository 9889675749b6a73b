"""`admit audit`: what the outputs door would have done with the sessions that agents already recorded."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from admit.cli.frame import DONE, FINDING, counted, json_option, print_json
from admit.errors import UsageError

if TYPE_CHECKING:
    from admit.report.audit_model import Audit

EXAMPLES = """\b
Examples:
  admit audit
  admit audit ~/.claude/projects/-home-me-project --days 30
  admit audit show 1"""


@click.command("audit", epilog=EXAMPLES)
@click.argument("words", nargs=-1, metavar="[show N] [DIR]")
@click.option(
    "--days",
    type=click.IntRange(min=1),
    default=14,
    show_default=True,
    help="Days before the newest tool use that is found.",
)
@json_option
def command(words: tuple[str, ...], days: int, as_json: bool) -> int:
    """Show what Admit would have done with the outputs that agents have already seen.

    Reads the sessions of Claude Code and Codex in their usual places, or under DIR: a folder of theirs, or
    one session. It is a what-if: nothing is changed or recorded, and no judge is asked. `show N` prints
    example N: the output, what Admit would show of it, and what the agent used next, marked with `>`.
    """
    number, place = _meant(words)
    found = _audit(place, days)
    from admit.report import audit_text

    if number is None:
        print_json(audit_text.as_json(found)) if as_json else click.echo(audit_text.render(found))
        if not found.sessions and not as_json:
            click.echo("`admit audit DIR` reads the sessions under another folder.")
        return DONE
    if not 1 <= number <= len(found.examples):
        there = counted(len(found.examples), "example")
        click.echo(f"admit: there is no example {number}: {there} in these sessions", err=True)
        return FINDING
    if as_json:
        print_json(audit_text.example_json(found, number))
    else:
        click.echo(audit_text.render_example(found, number))
    return DONE


def _meant(words: tuple[str, ...]) -> tuple[int | None, str | None]:
    """The number of the example, or None, and the folder, or None for the usual places.

    Raises:
        UsageError: Words that mean neither, or a place that does not exist.
    """
    number: int | None = None
    if words[:1] == ("show",):
        given, words = words[1:2], words[2:]
        if not given or not given[0].isascii() or not given[0].isdigit() or len(given[0]) > 9:
            raise UsageError(
                "`admit audit show N` takes the number of an example, such as `admit audit show 1`"
            )
        number = int(given[0])
    if len(words) > 1:
        raise UsageError(f"give one folder, not {len(words)}: {' '.join(words)}")
    if words and not os.path.exists(words[0]):
        raise UsageError(f"there is no folder or session {words[0]}")
    return number, words[0] if words else None


def _audit(place: str | None, days: int) -> Audit:
    from admit.cli import door
    from admit.report.audit import audit
    from admit.transcripts import read_sessions
    from admit.transcripts.find import default_places, find

    found = find([place] if place is not None else default_places(), days)
    progress = _Progress(len(found.transcripts))
    try:
        return audit(
            read_sessions(found), found, door.output_config(door.settings()), on_session=progress.step
        )
    finally:
        progress.end()


class _Progress:
    """One line on a terminal that is written over; nothing in a pipe."""

    def __init__(self, sessions: int) -> None:
        self._of = sessions
        self._shown = sys.stderr.isatty()

    def step(self, sessions: int, large: int) -> None:
        """Show how far it is."""
        if self._shown:
            click.echo(
                f"\r{sessions:,} of {counted(self._of, 'session')}, {large:,} large outputs",
                nl=False,
                err=True,
            )

    def end(self) -> None:
        """Clear the line."""
        if self._shown:
            click.echo("\r\x1b[K", nl=False, err=True)
