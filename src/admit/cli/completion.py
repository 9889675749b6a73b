"""`admit completion`: the completion script of a shell."""

from __future__ import annotations

import click

from admit.cli.frame import COMPLETE_VARIABLE, DONE


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> int:
    """Print the completion script for a shell.

    \b
    bash: add to ~/.bashrc                eval "$(admit completion bash)"
    zsh:  add to ~/.zshrc                 eval "$(admit completion zsh)"
    fish: admit completion fish > ~/.config/fish/completions/admit.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"this version of click has no completion for {shell}")
    root = click.get_current_context().find_root().command
    click.echo(kind(root, {}, "admit", COMPLETE_VARIABLE).source())
    return DONE
