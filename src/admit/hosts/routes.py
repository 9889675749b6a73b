"""What a version of a host was proven to do, kept in the state folder; a route that failed is off."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from admit.config.places import private_folder, state_dir

from .model import Capability

FILE = "hosts.json"
MOST_BYTES = 1 << 20
ABILITIES = frozenset(("yes", "mcp_only", "refusal_channel", "no", "unproven"))


def proven(known: Capability, host: str, version: str | None) -> Capability:
    """What is known of a version, with what was proven on this machine over it.

    Args:
        known: What the adapter knows.
        host: The adapter's name.
        version: None is unknown: nothing proven is taken for it.
    """
    results = _read().get(host) if version else None
    mine = results.get(version) if isinstance(results, dict) else None
    if not isinstance(mine, dict):
        return known
    found = {name: mine.get(name) for name in Capability._fields}
    return known._replace(**{name: word for name, word in found.items() if word in ABILITIES})


def keep(host: str, version: str, found: Mapping[str, str]) -> None:
    """Keep what a version was proven to do: a word of `ABILITIES` for each field of `Capability` found out.

    Raises:
        OSError: It cannot be written.
    """
    everything = _read()
    of_host = everything.get(host)
    of_host = of_host if isinstance(of_host, dict) else {}
    before = of_host.get(version)
    merged = {**(before if isinstance(before, dict) else {}), **found}
    everything[host] = {**of_host, version: merged}
    path = _path()
    private_folder(os.path.dirname(path))
    fresh = f"{path}.{os.urandom(8).hex()}"
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        json.dump(everything, file, indent=1, sort_keys=True)
    os.replace(fresh, path)


def _path() -> str:
    return os.path.join(state_dir(), FILE)


def _read() -> dict[str, Any]:
    with suppress(OSError, ValueError, RecursionError), open(_path(), "rb") as file:
        value = json.loads(file.read(MOST_BYTES))
        if isinstance(value, dict):
            return value
    return {}
