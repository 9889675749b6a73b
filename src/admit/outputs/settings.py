"""The settings of this door, as its gate takes them: sizes and shares, and the judge of the profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from admit.config.layers import Config, section

from .model import FilterConfig, JudgeProfile, OutputConfig

if TYPE_CHECKING:
    from admit.core.question import Judge
    from admit.judges.door import Load


def output_config(config: Config) -> OutputConfig:
    """The `[outputs]` settings."""
    values = section(config.values, "outputs")
    flat = {name.replace(".", "_"): value for name, value in values.items()}
    chosen = section(config.values, "outputs.filter")
    return OutputConfig(
        **{name: flat[name] for name in OutputConfig._fields if name != "filter"},
        filter=FilterConfig(**{name: chosen[name] for name in FilterConfig._fields}),
    )


def output_judge(config: Config, load: Load) -> tuple[Judge | None, JudgeProfile | None]:
    """The judge of this door; none where it may not be asked or its profile cannot be used."""
    from admit.judges.door import door_judge

    found = door_judge(config, "outputs", load)
    if isinstance(found, str) or found.cell.max_candidates is None:
        return None, None
    return found.judge, JudgeProfile(
        found.cell.max_candidates,
        JudgeProfile().threshold if found.threshold is None else found.threshold,
        found.cell.timeout_ms,
        found.profile.name,
        found.profile_hash,
        tuple(config.values["judge.redact_patterns"]),
    )
