"""The gate of `admit evidence review` with its judge, and why a pair has no verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from admit.cli.frame import counted
from admit.errors import LedgerError, NoteError, UsageError

if TYPE_CHECKING:
    from admit.config.layers import Config
    from admit.evidence.base import Base
    from admit.evidence.gate import EvidenceGate, Work
    from admit.evidence.model import Review
    from admit.judges.door import DoorJudge
    from admit.judges.profiles import Profile
    from admit.ledger.evidence import EvidenceStore
    from admit.ledger.port import Ledger

DOOR = "evidence"
LOCAL = {
    "request-too-large": "The note does not fit into one request; a judge that takes more may review it.",
    "nothing-read": "Nothing that the note links to could be read, so there was nothing to hold it against.",
    "malformed-output": "The output is not as it was asked for; it lies in the folder of its job.",
    "cites-unread": "The agent names an artifact that it never opened.",
    "agent-timeout": "The agent took longer than evidence.agent_timeout_s.",
    "agent-exit": "The agent ended with an error.",
}
"""Why there is no verdict, where no judge is to blame."""


class Asked(NamedTuple):
    """Who reviews, and where reviews are kept; `store` None keeps none."""

    gate: EvidenceGate
    profile: Profile
    found: DoorJudge
    store: EvidenceStore | None
    ledger: Ledger


def open_judge(base: Base, name: str) -> Asked:
    """The judge of a profile at this door, if it may be asked.

    Raises:
        ConfigError, UsageError: It may not, or there is none; names what to do.
    """
    from admit.cli import judge_words
    from admit.evidence.gate import EvidenceGate
    from admit.judges.door import DoorJudge, door_judge
    from admit.judges.load import load_judge
    from admit.ledger import open_ledger

    config = base.config
    profile = judge_words.chosen(config, name)
    if DOOR not in profile.doors:
        raise UsageError(
            f"the profile {name} has no {DOOR} door; it has: {', '.join(profile.doors)} (admit judge show)"
        )
    judge_words.must_consent(profile, [DOOR])
    found = door_judge(
        config, DOOR, lambda one, values: load_judge(one, config=values, variables=True), profile.name
    )
    if not isinstance(found, DoorJudge):
        from admit.cli.reasons import explained

        said = explained(config, found, profile.name, DOOR)
        raise UsageError(f"{said.sentence} {said.fix}".rstrip())
    ledger, store = open_ledger(config.values), open_kept(base)
    return Asked(EvidenceGate(base, found, ledger, store=store), profile, found, store, ledger)


def open_kept(base: Base) -> EvidenceStore | None:
    """Where reviews are kept; None where they cannot be, which is said."""
    from admit.ledger.evidence import open_store

    try:
        return open_store(base.config.values, base.root)
    except LedgerError as fault:
        click.echo(f"admit: no review is kept: {fault}", err=True)
        return None


def close(asked: Asked, config: Config) -> None:
    """Give up what the judge keeps open, and wait for the record."""
    from admit.judges import check
    from admit.judges.bounded import BoundedJudge

    if isinstance(asked.found.judge, BoundedJudge):
        check.close(asked.found.judge)
    asked.ledger.flush(config.values["ledger.close_wait_ms"])


def say_sent(asked: Asked, pairs: Sequence[Work]) -> None:
    """How much would leave this machine, before it does."""
    from admit.judges.consent import needs_consent

    if not pairs or not needs_consent(asked.profile):
        return
    size = 0
    for path, criterion in pairs:
        try:
            plan = asked.gate.plan(path, criterion)
            size += plan.note.bytes + sum(len(one.text.encode()) for one in asked.gate.pack(plan).items)
        except NoteError:
            continue
    requests = f"up to {counted(len(pairs), 'request')} to {asked.profile.address}"
    click.echo(f"admit: {requests}, {size:,} bytes of notes and artifacts", err=True)


def why(config: Config, profile: str, reviews: Sequence[Review]) -> list[str]:
    """Each reason for no verdict once, with what to do."""
    from admit.cli.reasons import explained

    reasons = Counter(one.reason for one in reviews if one.verdict == "UNJUDGED")
    lines = []
    for reason, count in sorted(reasons.items()):
        if reason in LOCAL:
            lines.append(f"{count:,} × {reason}: {LOCAL[reason]}")
            continue
        said = explained(config, reason, profile, DOOR)
        lines.append(f"{count:,} × {reason}: {said.sentence}")
        lines += [f"    {said.fix}"] if said.fix else []
    return lines
