"""Which output or decision a command means: an id, or the newest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from admit.errors import OutputNotFound, UsageError

if TYPE_CHECKING:
    from admit.cli.door import Place
    from admit.ledger.port import DecisionRow, DecisionView

LIST = "`admit outputs list` shows what is stored"


def one_of(name: str | None, last: bool, what: str = "an id such as o_3f9a1c2b7d10") -> None:
    """Check that exactly one is given.

    Raises:
        UsageError: None, or both.
    """
    if name is None and not last:
        raise UsageError(f"give {what}, or --last for the newest")
    if name is not None and last:
        raise UsageError(f"give {what} or --last, not both")


def stored_id(place: Place, name: str | None) -> str:
    """The id of the output that is meant; None is the newest, also one that a killed wrapper left.

    Raises:
        OutputNotFound: Nothing is stored.
    """
    if name is not None:
        return name
    newest = place.store.newest()
    if newest is None:
        raise OutputNotFound("", "nothing is stored yet")
    return newest.id


def decided(place: Place, name: str | None, door: str | None = None) -> DecisionView | None:
    """The newest decision under a decision id or an output id; None is the newest of all."""
    wanted: dict[str, str] = {"door": door} if door else {}
    if name is not None:
        if not name.isascii():
            return None  # every id is ASCII, and bytes that are no text cannot be asked for
        wanted["output_id" if name.startswith("o_") else "decision_id"] = name
    return next(iter(place.ledger.query(limit=1, **wanted)), None)  # type: ignore[arg-type]


def not_found(fault: OutputNotFound) -> str:
    """The message for an output that cannot be given, with what to do."""
    if not fault.output_id:
        return f"{fault.why}: `admit output` and `admit run` store what is over 2,000 characters"
    advice = {
        "expired": "outputs are kept for outputs.retain_days",
        "altered": "its file was changed, so it is not given; run the command again",
        "deleted": "run the command again",
    }
    return f"{fault}; {advice.get(fault.why, LIST)}"


def status_words(row: DecisionRow) -> str:
    """The status in words: a door that works without a judge is not off."""
    return "no judge asked" if row.status == "off" and row.mode != "off" else row.status


def unused(row: DecisionRow) -> str:
    """Why a judge's word was not used: a fallback's reason, ``shadow:<why>``, or empty where it was."""
    if row.status == "fallback":
        return row.reason or "internal"
    shadow = row.extra.get("shadow") if row.status in ("judged", "partial") else None
    return f"shadow:{shadow}" if shadow else ""
