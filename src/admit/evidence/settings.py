"""The settings of the evidence door as one value."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from admit.config.evidence_keys import RULES
from admit.core.policy import Mode
from admit.evidence.model import Severity


class Settings(NamedTuple):
    """What the keys of ``[evidence]`` say; docs/configuration.md has their units and ranges.

    Attributes:
        severity: By rule; None is off.
    """

    mode: Mode = "enforce"
    judge: str | None = None
    agent_timeout_s: int = 900
    workers: int = 4
    wikilinks: str = "auto"
    max_artifact_bytes: int = 1_048_576
    head_max_chars: int = 4000
    source_globs: tuple[str, ...] = ("**/*.ingest.md",)
    snapshot_dir: str = ".snapshots"
    max_unquoted_sources: int = 5
    quote_min_words: int = 8
    fail_on: str = "fail"
    linked_freshness: str = "stale"
    criteria_dir: str = ".admit/criteria"
    severity: Mapping[str, Severity | None] = MappingProxyType(
        {name: severity for name, severity, _ in RULES}  # type: ignore[misc]
    )


def settings(values: Mapping[str, Any]) -> Settings:
    """From values by full key, as a `Config` holds them."""
    own = {name: values[f"evidence.{name}"] for name in Settings._fields if name != "severity"}
    grave = {name: values[f"evidence.severity.{name}"] for name, _, _ in RULES}
    severity = {name: None if word == "off" else word for name, word in grave.items()}
    return Settings(**own, severity=MappingProxyType(severity))
