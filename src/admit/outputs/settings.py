"""The settings of this door, as its gate takes them: sizes and shares, and the judge of the profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from admit.config.layers import Config, section
from admit.core.events import canonical, sha256
from admit.errors import ConfigError

from .model import FilterConfig, JudgeProfile, OutputConfig

if TYPE_CHECKING:
    from admit.core.question import Judge
    from admit.judges.profiles import Profile


def output_config(config: Config) -> OutputConfig:
    """The `[outputs]` settings."""
    values = section(config.values, "outputs")
    flat = {name.replace(".", "_"): value for name, value in values.items()}
    chosen = section(config.values, "outputs.filter")
    return OutputConfig(
        **{name: flat[name] for name in OutputConfig._fields if name != "filter"},
        filter=FilterConfig(**{name: chosen[name] for name in FilterConfig._fields}),
    )


def output_judge(
    config: Config, load: Callable[[Profile, Mapping[str, Any]], Judge]
) -> tuple[Judge | None, JudgeProfile | None]:
    """The judge of this door; none where it may not be asked or its profile cannot be used.

    Args:
        load: Gives the judge of a profile under settings by full key; raises ConfigError.
    """
    from admit.judges.profiles import profile, threshold
    from admit.judges.redact import Redactor

    if not config.may_ask("outputs") or config.values["judge.mode"] == "off":
        return None, None
    try:
        chosen = profile(config.values["judge.profile"], config.values)
        door = chosen.doors.get("outputs")
        if door is None or door.max_candidates is None:
            return None, None
        patterns = tuple(config.values["judge.redact_patterns"])
        Redactor(patterns)  # what cannot be masked for one of them must not be asked about
        judge = load(chosen, config.values)
        least = threshold(chosen, "outputs", judge)
    except ConfigError:
        return None, None  # `admit doctor` and `admit config check` say what is wrong with it
    admits = JudgeProfile().threshold if least is None else least
    return judge, JudgeProfile(
        door.max_candidates, admits, door.timeout_ms, chosen.name, sha256(canonical(chosen)), patterns
    )
