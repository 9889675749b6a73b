"""Limits in a folder of their own, with a wall clock that moves when told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from admit.judges.limits import Caps, Estimate, Limits, Note, Refusal, Ticket

NOON = 20_000 * 86_400 + 43_200.0  # the middle of a UTC day
A, B = "https://a.example:443", "https://b.example:443"
WIDE = Caps(8, 500, 5000, 5_000_000, 1.0, 3, 60)


class Wall:
    """Epoch seconds."""

    def __init__(self, now: float = NOON) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def limits(folder: Path, wall: Wall | None = None, connect: Any = None, **caps: Any) -> Limits:
    more = {} if connect is None else {"connect": connect}
    return Limits(WIDE._replace(**caps), str(folder / "limits.db"), now=wall or Wall(), **more)


def reserve(
    of: Limits,
    destination: str = A,
    *,
    session: str | None = "s",
    tokens: int = 100,
    usd: float | None = 0.001,
) -> Ticket | Refusal:
    return of.reserve(destination, session, Estimate(tokens, usd))


def ticket(of: Limits, destination: str = A, **given: Any) -> Ticket:
    """A reservation that is made."""
    found = reserve(of, destination, **given)
    assert isinstance(found, Ticket), found
    return found


def settle(of: Limits, of_ticket: Ticket, **given: Any) -> tuple[Note, ...]:
    """Settle as an answered call, unless told otherwise."""
    usual = {
        "reason": None,
        "sent": "yes",
        "status": 200,
        "input_tokens": None,
        "usd": None,
        "retry_after_s": None,
    }
    return of.settle(of_ticket, **(usual | given))


def fail(
    of: Limits, destination: str = A, reason: str = "deadline", *, usd: float | None = 0.0, **given: Any
) -> tuple[Note, ...]:
    """One call that fails."""
    return settle(
        of, ticket(of, destination, usd=usd), reason=reason, **({"status": None, "sent": "unknown"} | given)
    )


def refused(of: Limits, destination: str = A, **given: Any) -> str | None:
    """Why a reservation is refused; None where it is made."""
    found = reserve(of, destination, **given)
    return found.reason if isinstance(found, Refusal) else None
