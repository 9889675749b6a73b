"""The places that are searched for guidance, in order of precedence: project, user, bundled, extra."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from admit.config.places import PROJECT_FILE
from admit.guidance.model import SOURCES, Root, RootKind, Source
from admit.guidance.sources import BY_NAME

LOADED_BY: Mapping[str, frozenset[Source]] = MappingProxyType(
    {"claude-code": frozenset(("skill", "claude")), "codex": frozenset(("skill",))}
)
"""What a host loads itself; shown here too it would stand in the context twice."""

_KINDS: tuple[RootKind, ...] = ("project", "user", "bundled")


def roots_of(cwd: str, host: str | None, values: Mapping[str, Any]) -> tuple[Root, ...]:
    """Every root of a working folder, in order of precedence, also those that do not exist.

    Args:
        cwd: The working folder; its project is the nearest folder above that holds `.git` or `.admit.toml`,
            else the folder itself.
        host: The host that asks, such as ``claude-code``; with the source ``auto`` what it loads itself is
            left to it.
        values: Settings by full key: `guidance.sources`, `guidance.extra_roots`, `guidance.project`.
    """
    home = os.path.expanduser("~")
    bases = {"project": project_folder(cwd), "home": home, "config": _config_home(home)}
    wanted = values["guidance.sources"]
    auto = "auto" in wanted
    found: list[Root] = []
    for kind in _KINDS:
        if kind == "project" and not values["guidance.project"]:
            continue
        for source in SOURCES:
            if not auto and source not in wanted:
                continue
            left_to = host if auto and host and source in LOADED_BY.get(host, ()) else ""
            for place, base, below in BY_NAME[source].PLACES:
                if place == kind:
                    folder = os.path.join(bases[base], below)
                    inside = bases["project"] if kind == "project" else folder
                    found.append(Root(source, kind, folder, os.path.realpath(inside), left_to))
    for extra in values["guidance.extra_roots"] if auto or "agent-ways" in wanted else ():
        folder = os.path.join(home, os.path.expanduser(extra))
        found.append(Root("agent-ways", "extra", folder, os.path.realpath(folder)))
    # In the home folder a project's places are the user's own.
    owned = {os.path.realpath(root.folder) for root in found if root.kind != "project"}
    return tuple(
        root for root in found if root.kind != "project" or os.path.realpath(root.folder) not in owned
    )


def project_folder(cwd: str) -> str:
    """The nearest folder at or above the working folder that holds `.git` or `.admit.toml`, else itself."""
    folder = start = os.path.abspath(cwd)
    while True:
        if any(os.path.lexists(os.path.join(folder, name)) for name in (".git", PROJECT_FILE)):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return start
        folder = parent


def user_ways() -> str:
    """The folder of the user's own ways, which may not exist."""
    return os.path.join(_config_home(os.path.expanduser("~")), "agent-ways", "ways")


def _config_home(home: str) -> str:
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return base if os.path.isabs(base) else os.path.join(home, ".config")
