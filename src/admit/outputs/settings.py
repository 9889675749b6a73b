"""The settings of this door, as its gate takes them: sizes and shares, and the judge of the profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from admit.config.layers import Config, section
from admit.errors import ConfigError

from .model import FilterConfig, JudgeProfile, OutputConfig

if TYPE_CHECKING:
    from admit.core.question import Judge


def output_config(config: Config) -> OutputConfig:
    """The `[outputs]` settings."""
    values = section(config.values, "outputs")
    flat = {name.replace(".", "_"): value for name, value in values.items()}
    chosen = section(config.values, "outputs.filter")
    return OutputConfig(
        **{name: flat[name] for name in OutputConfig._fields if name != "filter"},
        filter=FilterConfig(**{name: chosen[name] for name in FilterConfig._fields}),
    )


def output_judge(config: Config) -> tuple[Judge | None, JudgeProfile | None]:
    """The judge of this door; none where it may not be asked or its profile cannot be used."""
    from admit.judges.load import load_judge
    from admit.judges.profiles import profile, threshold

    if not config.may_ask("outputs") or config.values["judge.mode"] == "off":
        return None, None
    try:
        chosen = profile(config.values["judge.profile"], config.values)
        door = chosen.doors.get("outputs")
        if door is None or door.max_candidates is None:
            return None, None
        judge = load_judge(chosen, config=config.values)
        least = threshold(chosen, "outputs", judge)
        admits = JudgeProfile().threshold if least is None else least
        return judge, JudgeProfile(door.max_candidates, admits, door.timeout_ms, chosen.name)
    except ConfigError:
        return None, None  # `admit doctor` and `admit config check` say what is wrong with it
