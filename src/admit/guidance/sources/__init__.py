"""Where guidance comes from: one file a source, each with the same few names.

``PLACES`` (kind of root, base folder, path below it), ``DEPTH`` (folders below the root that are looked
into), ``claims(parts)`` (is this file one of mine?) and ``read(page)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from admit.guidance.model import Source
from admit.guidance.sources import agent_ways, claude, copilot, cursor, skill
from admit.guidance.sources.page import Page, Read


class SourceModule(Protocol):
    """What each module of this package offers."""

    @property
    def PLACES(self) -> tuple[tuple[str, str, str], ...]: ...
    @property
    def DEPTH(self) -> int: ...
    def claims(self, parts: tuple[str, ...]) -> bool: ...
    def read(self, page: Page) -> Read: ...


BY_NAME: Mapping[Source, SourceModule] = MappingProxyType(
    {"agent-ways": agent_ways, "skill": skill, "cursor": cursor, "claude": claude, "copilot": copilot}
)
