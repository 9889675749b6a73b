"""A gate put together from this user's settings: who reviews, and where it is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from admit.config.layers import Config
from admit.errors import EvidenceError, LedgerError
from admit.evidence.gate import NO_JUDGE, EvidenceGate
from admit.judges.door import DoorJudge, Load, door_judge, own_judge
from admit.judges.profiles import profile

if TYPE_CHECKING:
    from admit.core.question import Judge
    from admit.evidence.base import Base
    from admit.judges.clock import Clock
    from admit.ledger.port import Ledger

_WHY = {
    "config": "its profile or a pattern cannot be used; admit config check says which",
    "off": "judge.mode is off",
    "unsupported": "its backend answers no review; name another with --judge",
}


def judge_of(config: Config, name: str | None = None, load: Load = own_judge) -> DoorJudge:
    """The judge that reviews: the one named, else ``evidence.judge``. ``judge.profile`` never counts here.

    Raises:
        EvidenceError: None is named, or it may not be asked.
        ConfigError: There is no such profile, or it lacks something.
    """
    chosen = name or config.values["evidence.judge"]
    if not chosen:
        raise EvidenceError(NO_JUDGE)
    if not config.may_ask("evidence"):
        raise EvidenceError("nobody may be asked: a setting is wrong; admit config check says which")
    profile(chosen, config.values)  # says what is wrong with it
    found = door_judge(config, "evidence", load, chosen)
    if isinstance(found, DoorJudge):
        return found
    raise EvidenceError(f"{chosen} cannot review: {_WHY[found]}")


def open_gate(
    base: Base,
    judge: Judge | DoorJudge | None = None,
    ledger: Ledger | None = None,
    clock: Clock | None = None,
    *,
    partition: str | None = None,
) -> EvidenceGate:
    """The gate of a base with the store of this user; without a store where the ledger cannot be used."""
    from admit.ledger.evidence import open_store

    try:
        store = open_store(base.config.values, base.root)
    except LedgerError:
        store = None
    return EvidenceGate(base, judge, ledger, clock, store=store, partition=partition)
