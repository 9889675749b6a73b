"""The tools gate as the commands use it, and the options that say how much is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from admit.errors import UsageError

if TYPE_CHECKING:
    from admit.config.layers import Config
    from admit.core.question import Judge
    from admit.judges.bounded import BoundedJudge
    from admit.judges.profiles import Profile
    from admit.ledger.port import Ledger
    from admit.tools.catalog import Catalog
    from admit.tools.gate import ToolGate

MEND = "admit tools import shows those of your clients; admit tools add takes one source in"

_F = TypeVar("_F", bound=Callable[..., Any])


class Opened(NamedTuple):
    """A gate with what it was made from.

    Attributes:
        why_not: Why no judge is asked, as a fallback reason; empty where one is, or none was wanted.
    """

    gate: ToolGate
    config: Config
    ledger: Ledger | None
    judge: BoundedJudge | None = None
    why_not: str = ""

    def close(self) -> None:
        """Wait for the record, and give up what the judge keeps open; call it after the answer was given."""
        if self.judge is not None:
            from admit.judges.check import close

            close(self.judge)
        if self.ledger is not None:
            self.ledger.flush(self.config.values["ledger.close_wait_ms"])


def budget_options(command: _F) -> _F:
    """Give a command `--depth`, `--max-tools` and `--max-tokens`."""
    for option in (
        click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="Schema tokens at most."),
        click.option("--max-tools", type=click.IntRange(1), metavar="N", help="Tools at most."),
        click.option("--depth", metavar="D", help="What says how many: budget, judge, cover, fixed-K, …"),
    ):
        command = option(command)
    return command


def open_gate(
    *,
    catalog: Catalog | None = None,
    judge: str | None = None,
    ask: bool = False,
    record: bool = True,
    **policy: Any,
) -> Opened:
    """The gate of this user.

    Args:
        judge: The profile to ask, in place of `judge.profile`.
        ask: Whether a judge is asked; a key may then come from the variable that its profile names.
        record: Whether what is found is written down, and earlier uses count.
        **policy: Values of the policy in place of those of the settings; None leaves one.

    Raises:
        ConfigError: A setting or the catalog's file cannot be used.
        UsageError: There is no such depth.
    """
    from admit.cli.judge_words import chosen as chosen_profile
    from admit.config.layers import load, section
    from admit.judges.bounded import BoundedJudge
    from admit.judges.door import DoorJudge
    from admit.ledger import open_ledger
    from admit.tools import opening
    from admit.tools.policy import tool_policy

    config = load(overrides={"judge.profile": judge})
    if judge is not None:
        chosen_profile(config, judge)  # one that is named must be there, whatever the door makes of it
    ledger = open_ledger(config.values) if record else None
    given = {name: value for name, value in policy.items() if value is not None}
    chosen = tool_policy(section(config.values, "tools"))._replace(**given)
    found = opening.judge_of(config, _load) if ask else ""
    gate = opening.open_gate(config, catalog=catalog, ledger=ledger, judge=found, policy=chosen)
    held = found.judge if isinstance(found, DoorJudge) else None
    asked = held if isinstance(held, BoundedJudge) else None
    if asked is not None:
        asked.warm("tools")
    return Opened(gate, config, ledger, asked, found if isinstance(found, str) else "")


def needs_tools(gate: ToolGate) -> None:
    """Make sure that there is a tool to choose from.

    Raises:
        UsageError: The catalog is empty.
    """
    if not len(gate.catalog):
        raise UsageError(f"the catalog is empty; {MEND}")


def _load(profile: Profile, values: Mapping[str, Any]) -> Judge:
    from admit.judges.load import load_judge

    return load_judge(profile, config=values, variables=True)
