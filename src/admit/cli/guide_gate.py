"""The guidance gate as the commands use it, and the options that say for whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from admit.config.layers import Config
    from admit.guidance.gate import GuidanceGate

WARM_S = 60.0
"""How long a command waits for embeddings; past it the matcher goes by words, as it then says."""

CWD = click.option(
    "--cwd", metavar="DIR", type=click.Path(exists=True, file_okay=False), help="As if in there."
)
HOST = click.option(
    "--host",
    type=click.Choice(("claude-code", "codex", "none")),
    help="Leave out what this host loads itself.",
)


def host_of(name: str | None) -> str | None:
    """The host whose files are left to it: the one named, or the one that Admit is connected to."""
    if name is not None:
        return None if name == "none" else name
    from admit.cli.host_checks import HOST, connected

    return HOST if connected() else None


def open_gate(config: Config, folder: str, host: str | None, *, ask: bool = False) -> GuidanceGate:
    """The gate of a folder; in a command a judge's key may come from the variable its profile names."""
    from admit.guidance.gate import GuidanceGate

    gate = GuidanceGate.open(folder, host=host, config=config)
    if ask and gate.judge.judge is not None:
        from admit.judges.load import load_judge

        judge = load_judge(gate.judge.name, config=config.values, variables=True)
        judge.warm("guidance")
        gate.judge = gate.judge._replace(judge=judge)
    return gate


def warm(gate: GuidanceGate) -> None:
    """Wait for the embeddings of the matcher, as a daemon has them that is up for a while."""
    from admit.guidance.fused import FusedMatcher

    matcher = gate.library.matcher
    if isinstance(matcher, FusedMatcher):
        matcher.wait(WARM_S)


def close_gate(gate: GuidanceGate) -> None:
    """Give up what its judge keeps open."""
    from admit.judges.bounded import BoundedJudge
    from admit.judges.check import close

    if isinstance(gate.judge.judge, BoundedJudge):
        close(gate.judge.judge)
