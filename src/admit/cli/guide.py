"""`admit guide`: which guidance a prompt, a command, a file or a subagent's task would get, and why."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from admit.cli.frame import DONE, json_option, print_json
from admit.cli.guide_change import split_command, starter_command
from admit.cli.guide_gate import CWD, HOST, close_gate, host_of, open_gate, warm
from admit.cli.guide_lint import command as lint
from admit.cli.guide_list import list_command, show_command
from admit.cli.guide_probe import command as probe
from admit.errors import UsageError

if TYPE_CHECKING:
    from admit.config.layers import Config
    from admit.guidance.gate import GuidanceGate
    from admit.guidance.model import Surface

EXAMPLES = """\b
Examples:
  admit guide --prompt "fix the auth bug and add tests"
  admit guide --command "git commit -m x" --why commits
  admit guide --file src/api/users.py
  admit guide - < prompt.txt
  admit guide starter
  admit guide split CLAUDE.md"""

PIPED = "admit.piped"
VALUED = ("--prompt", "--command", "--file", "--task", "--cwd", "--session", "--why", "--host")


class _Guide(click.Group):
    """A group that takes ``-`` for a prompt on standard input."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for place, word in enumerate(args):
            valued = place > 0 and args[place - 1] in VALUED
            if word == "-" and not valued:
                ctx.meta[PIPED] = True
                args = [*args[:place], *args[place + 1 :]]
                break
            if not valued and not word.startswith("-"):
                break  # a command of the group, and what is its own
        return super().parse_args(ctx, args)


@click.group("guide", cls=_Guide, invoke_without_command=True, epilog=EXAMPLES)
@click.option("--prompt", metavar="P", help="A message of yours; - reads it from standard input.")
@click.option("--command", "shell", metavar="C", help="A shell command that the agent is about to run.")
@click.option("--file", metavar="F", help="A file that it is about to write.")
@click.option("--task", metavar="T", help="What a subagent is asked to do.")
@CWD
@click.option("--session", metavar="S", help="What this session was shown counts as shown.")
@HOST
@click.option("--judge", "ask", is_flag=True, help="Ask the judge; without it nothing is sent.")
@click.option("--why", metavar="ID", help="Explain one, with the smallest change that alters it.")
@click.option("--all", "every", is_flag=True, help="List what was not set off, too.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    prompt: str | None,
    shell: str | None,
    file: str | None,
    task: str | None,
    cwd: str | None,
    session: str | None,
    host: str | None,
    ask: bool,
    why: str | None,
    every: bool,
    as_json: bool,
) -> int | None:
    """Show which guidance would be shown, in order, and where each other piece stopped.

    A dry run through the code that serves hooks: nothing is shown, counted or recorded. Without --host it
    stands for claude-code where Admit is connected to it, else for no host, and everything is read.
    """
    if ctx.invoked_subcommand is not None:
        return None
    from admit.config.layers import load

    folder = os.path.abspath(cwd or os.getcwd())
    surface = _surface((prompt, "-" if ctx.meta.get(PIPED) else None, shell, file, task), folder, session)
    config = load(folder)
    gate = open_gate(config, folder, host_of(host), ask=ask)
    if session is not None:
        surface = _restored(gate, config, surface)
    if surface.lane in ("prompt", "task"):
        warm(gate)
    try:
        result = gate.scan(surface, dry_run=True, ask=ask)
    finally:
        close_gate(gate)
    from admit.cli import guide_words

    told = guide_words.Told(gate, config, surface, result, host_of(host))
    if as_json:
        print_json(guide_words.as_json(told, why))
    elif why is not None:
        click.echo("\n".join(guide_words.explained(told, why)))
    else:
        click.echo("\n".join(guide_words.lines(told, asked=ask, every=every)))
    return DONE


for one in (list_command, show_command, lint, probe, starter_command, split_command):
    command.add_command(one)


def _surface(words: tuple[str | None, ...], cwd: str, session: str | None) -> Surface:
    """What is matched, from the prompt twice (the option, standard input), the command, file and task.

    Raises:
        UsageError: None is given, or more than one.
    """
    from admit.guidance.model import Surface

    given = [one for one in words if one is not None]
    if len(given) != 1:
        many = "give one of them" if given else 'for example: admit guide --prompt "fix the login test"'
        raise UsageError(f"what should be matched? --prompt, --command, --file, --task or -; {many}")
    _, _, shell, file, task = words
    if file is not None:
        return Surface("file", paths=(os.path.join(cwd, file),), cwd=cwd, session=session)
    text = given[0]
    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    if shell is not None:
        return Surface("command", text, cwd=cwd, session=session)
    if task is not None:
        return Surface("task", text, cwd=cwd, session=session, agent_kind="subagent")
    return Surface("prompt", text, cwd=cwd, session=session)


def _restored(gate: GuidanceGate, config: Config, surface: Surface) -> Surface:
    """The surface where the record left the session, and the gate's memory of what it was shown."""
    from admit.guidance.before import take_up
    from admit.ledger import open_ledger

    left = take_up(gate.memory, open_ledger(config.values, readonly=True), surface.session or "")
    return surface._replace(tokens_used=left.tokens, window=left.window)
