"""`admit tools`: the catalog of callable tools, and the few of them that a request is shown."""

from __future__ import annotations

import click

from admit.cli.tools_drift import approve, diff
from admit.cli.tools_eval import command as eval_command
from admit.cli.tools_find import explain, find
from admit.cli.tools_import import command as import_command
from admit.cli.tools_list import command as list_command
from admit.cli.tools_sources import add, refresh, remove

EXAMPLES = """\b
Examples:
  admit tools import --save "open an issue about the login test"
  admit tools find "open an issue about the login test"
  admit tools explain "open an issue about the login test" tracker/create_issue
  admit tools find "open an issue about the login test" --max-tools 5"""


@click.group("tools", epilog=EXAMPLES)
def command() -> None:
    """Which of your tools a request is shown, at how many schema tokens, and why.

    What is shown is no permission: no tool gains or loses the right to be called by it.
    """


for one in (import_command, find, explain, list_command, add, refresh, remove, diff, approve, eval_command):
    command.add_command(one)
