"""What the commands about judges say alike: a profile by name, times, costs, and why there is no answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from admit.config.layers import Config
from admit.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from admit.core.question import Call, Reply
    from admit.judges.profiles import Profile
    from admit.ledger.port import CallRow


def chosen(config: Config, name: str | None) -> Profile:
    """The profile of a name; None is the one that answers.

    Raises:
        ConfigError: The user's file cannot be used, there is no such profile, or it lacks something.
    """
    from admit.judges.profiles import profile

    if not config.authority:
        raise ConfigError("nothing may be asked while your settings file cannot be used: admit config check")
    return profile(name or config.values["judge.profile"], config.values)


def must_consent(profile: Profile, doors: Sequence[str]) -> str:
    """The first of these doors whose texts may go to the destination of a profile.

    Raises:
        UsageError: There is none; the message names the command that allows it, or what is wrong with the
            file of consents.
    """
    from admit.judges.consent import Consent, needs_consent

    if not needs_consent(profile):
        return doors[0]
    consent = Consent()
    for door in doors:
        if consent.allows(profile.address, door):
            return door
    if consent.finding is not None:
        raise UsageError(f"nothing was sent: {consent.finding}; {consent.finding.fix}")
    raise UsageError(
        f"nothing was sent: nobody allowed it to go to {profile.address}; "
        f"admit consent grant {profile.name} --door {doors[0]}"
    )


def usd(amount: float) -> str:
    """An amount in USD with two digits that count: `$0.42`, `$0.000011`."""
    if amount == 0:
        return "$0"
    from math import floor, log10

    digits = max(2, 1 - floor(log10(float(f"{amount:.1e}"))))
    return f"${amount:,.{min(digits, 10)}f}"


def cost(calls: Sequence[Call | CallRow]) -> str:
    """What calls cost: the known sum, and how many have an unknown one; never 0 for unknown."""
    unknown = sum(call.cost_usd is None and call.sent != "no" for call in calls)
    known = [call.cost_usd for call in calls if call.cost_usd is not None]
    parts = [usd(sum(known)) if sum(known) else "free"] if known else []
    if unknown:
        parts.append("cost unknown" if unknown == 1 else f"cost of {unknown} unknown")
    return " and ".join(parts) or "nothing was sent"


def refusal(reply: Reply, profile: Profile, door: str) -> list[str]:
    """Why there is no answer, and what to do: a sentence with the reason's word, and the fix."""
    from admit.judges.advice import advice

    said = advice(reply.reason or "internal", profile=profile.name, door=door, destination=profile.address)
    lines = [f"{said.sentence} ({reply.reason})"]
    return [*lines, f"    {said.fix}"] if said.fix else lines


def shadow(why: str, profile: Profile, door: str) -> list[str]:
    """Why answers would only be recorded, and what to do."""
    from admit.judges.advice import SHADOW, advice

    said = advice(SHADOW + why, profile=profile.name, door=door, destination=profile.address)
    return [said.sentence, f"    {said.fix}"] if said.fix else [said.sentence]


def as_json(reply: Reply, profile: Profile) -> dict[str, Any]:
    """The JSON object of one reply."""
    return {
        "schema": 1,
        "profile": profile.name,
        "status": reply.status,
        "reason": reply.reason,
        "answers": [answer._asdict() for answer in reply.answers],
        "calls": [call._asdict() for call in reply.calls],
    }
