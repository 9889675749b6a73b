"""Why a judge's word was not used, as a person reads it: the sentence, what is known of it, and the fix."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from admit.config.layers import Config
from admit.errors import ConfigError

if TYPE_CHECKING:
    from admit.core.events import Event
    from admit.judges.advice import Advice


def explained(config: Config, reason: str, profile: str | None, door: str) -> Advice:
    """A reason with the names of this machine's settings filled in."""
    from admit.judges.advice import advice

    name = profile or config.values["judge.profile"]
    return advice(reason, profile=name, door=door, destination=address(config, name))


def details(config: Config, reason: str, profile: str | None, events: Iterable[Event] = ()) -> list[str]:
    """What the record and the limits know beside the reason: which cap, and until when a pause lasts."""
    found = []
    for event in events:
        if event.type == "judge.budget":
            body = event.body
            found.append(f"The cap is limits.{body['cap']}: {body['used']:,} of {body['limit']:,} are used.")
        elif event.type == "judge.cooldown":
            until = _clock_time(event.body["until_s"])
            found.append(f"{event.body['destination']} is left alone until {until}: {event.body['cause']}.")
    if reason == "cooldown" and not found:
        from admit.judges.standing import cooling

        where = address(config, profile or config.values["judge.profile"])
        until_ms = cooling(time.time()).get(where or "")
        found.append(f"It lasts until {_clock_time(until_ms / 1000)}." if until_ms else "It is over by now.")
    return list(dict.fromkeys(found))


def address(config: Config, profile: str) -> str | None:
    """``scheme://host:port`` of a profile; None where it has none, or cannot be used."""
    from admit.judges import profiles

    try:
        found = profiles.profile(profile, config.values)
    except ConfigError:
        return None
    return found.address if found.destination else None


def _clock_time(seconds: float) -> str:
    from admit.ledger.moments import local

    return f"{local(seconds * 1000):%Y-%m-%d %H:%M:%S %Z}"
