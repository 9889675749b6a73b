"""Put a judge together: its backend, and the walls around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from admit.config.keys import shipped
from admit.core.question import Judge

from .bounded import BoundedJudge
from .clock import Clock, SystemClock
from .profiles import Profile, profile
from .wire import Dialect, Transport


def load_judge(
    profile_or_name: str | Profile,
    *,
    config: Mapping[str, Any] | None = None,
    clock: Clock | None = None,
    variables: bool = False,
    speak: Callable[[Dialect], Dialect] | None = None,
) -> BoundedJudge:
    """The judge of a profile, with its deadline kept from outside. Loads no model and no HTTP client.

    Args:
        profile_or_name: A profile, or the name of one.
        config: Settings by full key; None is what ships.
        clock: What deadlines are counted on; None is the machine's.
        variables: Whether a key may come from the variable that the profile names: in commands, never in
            hooks or the daemon.
        speak: Put around the dialect of a judge that is asked by messages: what a check changes of requests.

    Raises:
        ConfigError: There is no such profile or backend, or it lacks what it needs.
    """
    values = shipped() if config is None else config
    chosen = profile(profile_or_name, values) if isinstance(profile_or_name, str) else profile_or_name
    own_clock = clock or SystemClock()
    judge = _backend(chosen, values, own_clock, variables=variables, speak=speak)
    shadow = "mode" if values.get("judge.mode") == "shadow" else None
    return BoundedJudge(judge, own_clock, min_call_ms=values.get("judge.min_call_ms", 150), shadow=shadow)


def _backend(
    chosen: Profile,
    values: Mapping[str, Any],
    clock: Clock,
    *,
    variables: bool,
    speak: Callable[[Dialect], Dialect] | None,
) -> Judge:
    if chosen.backend == "local":
        from .local import LocalJudge, local_config

        return LocalJudge(local_config(values))
    from .call import Caller
    from .consent import Consent, needs_consent
    from .keyfile import Keys, needs_key
    from .limits import limits_of
    from .redact import Redactor
    from .remote import Access, RemoteJudge

    dialect, transport = _spoken(chosen, values)
    if speak is not None:
        dialect = speak(dialect)
    redactor = Redactor(values.get("judge.redact_patterns", ()), clock=clock)
    consent, keys = Consent(), Keys()
    access = Access(
        consents=lambda door: not needs_consent(chosen) or consent.allows(chosen.address, door),
        key=lambda: keys.read(chosen, variables=variables),
        key_needed=needs_key(chosen),
    )
    caller = Caller(
        chosen,
        dialect,
        transport,
        redactor=redactor,
        limits=limits_of(values),
        clock=clock,
        min_valid_share=values.get("judge.min_valid_share", 0.5),
        min_call_ms=values.get("judge.min_call_ms", 150),
    )
    return RemoteJudge(
        chosen,
        dialect,
        transport,
        access=access,
        redactor=redactor,
        caller=caller,
        clock=clock,
    )


def _spoken(chosen: Profile, values: Mapping[str, Any]) -> tuple[Dialect, Transport]:
    """The form of a profile's requests, and who carries them."""
    if chosen.backend == "command":
        from .command import CommandDialect, CommandTransport

        return CommandDialect(chosen), CommandTransport(chosen)
    from .http import HttpTransport

    transport = HttpTransport(
        chosen.url,
        proxy=values.get("judge.proxy"),
        allow_plain_http=values.get("judge.allow_plain_http", False),
    )
    if chosen.backend == "systemone":
        from .systemone import SystemOneDialect

        return SystemOneDialect(chosen), transport
    from .chat import ChatDialect

    return ChatDialect(chosen), transport
