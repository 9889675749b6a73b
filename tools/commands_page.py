"""The page of commands, made from the commands: `python tools/commands_page.py > docs/commands.md`."""

from __future__ import annotations

import importlib

import click

from admit.cli.frame import COMMANDS

HEAD = """# Commands

Every command has `--help` with examples and `--json`. Exit codes: 0 done, 1 a finding or nothing found,
2 usage or configuration, 3 a bug, 130 interrupted; `admit run` exits as its command does. Nothing is coloured
in a pipe.

This page is generated: `python tools/commands_page.py > docs/commands.md`.
"""


def page() -> str:
    """The whole page: one section a command, with the help as a terminal of 100 columns shows it."""
    parts = [HEAD]
    for name, (module, *_) in COMMANDS.items():
        command = importlib.import_module(module).command
        parts.append(f"\n## admit {name}\n")
        parts += _helps(command, f"admit {name}", None)
    return "".join(parts)


def _helps(command: click.Command, path: str, parent: click.Context | None) -> list[str]:
    context = click.Context(command, info_name=path, parent=parent, max_content_width=100, terminal_width=100)
    parts = [f"```\n{command.get_help(context).rstrip()}\n```\n"]
    for name, inner in getattr(command, "commands", {}).items():
        inner_context = click.Context(
            inner, info_name=f"{path} {name}", max_content_width=100, terminal_width=100
        )
        parts.append(f"\n### {path} {name}\n```\n{inner.get_help(inner_context).rstrip()}\n```\n")
    return parts


if __name__ == "__main__":
    print(page(), end="")
