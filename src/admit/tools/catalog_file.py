"""The catalog on the disk: `catalog.json` in the configuration folder, each tool as its source gave it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from admit.config.places import config_dir
from admit.config.private import Unsafe, read_private, write_private
from admit.core.events import parse
from admit.errors import ConfigError

from .model import Problem, Route
from .route import routes_of
from .schema import BOUNDS, Bounds
from .snapshot import Snapshot, Source

SCHEMA = 1
MOST_BYTES = 256 << 20


def catalog_path() -> Path:
    """`catalog.json` in the configuration folder."""
    return Path(os.path.join(config_dir(), "catalog.json"))


def write(path: Path, snapshot: Snapshot) -> None:
    """Write a catalog, whole or not at all, mode 0600.

    Raises:
        OSError: It cannot be written; what stood there stays.
    """
    sources = {
        name: {
            **source._asdict(),
            "problems": [[one.tool, one.code, one.text] for one in source.problems],
            "tools": [[one.id, one.fingerprint, one.tool] for one in snapshot.of(name)],
        }
        for name, source in snapshot.sources.items()
    }
    value = {"schema": SCHEMA, "sources": sources}
    write_private(str(path), f"{json.dumps(value, separators=(',', ':'), default=dict)}\n".encode())


def read(path: Path, bounds: Bounds = BOUNDS) -> tuple[dict[str, Source], list[Route]]:
    """The sources and the routes of a file; nothing where there is none.

    Args:
        bounds: How large a tool may be; the file holds each as it came.

    Raises:
        ConfigError: It cannot be used; it is left as it is.
    """
    try:
        data = read_private(str(path), MOST_BYTES)
        return _parsed(data, bounds) if data is not None else ({}, [])
    except Unsafe as unsafe:
        raise ConfigError(f"{unsafe}; {unsafe.finding.fix}") from None
    except ValueError as fault:
        raise ConfigError(f"{path} {fault}; move it away and run admit tools refresh") from None


def _parsed(data: bytes, bounds: Bounds) -> tuple[dict[str, Source], list[Route]]:
    try:
        value: Any = parse(data)
        if value["schema"] != SCHEMA:
            newer = isinstance(value["schema"], int) and value["schema"] > SCHEMA
            raise ValueError(f"was written by {'a newer' if newer else 'another'} version of Admit")
        sources: dict[str, Source] = {}
        routes: list[Route] = []
        for name, row in value["sources"].items():
            problems = tuple(Problem(name, *one) for one in row.pop("problems"))
            rows = row.pop("tools")
            sources[name] = source = Source(**row)._replace(problems=problems)
            tools, prints = [one[2] for one in rows], [one[1] for one in rows]
            given = routes_of(name, source.kind, tools, bounds=bounds, fingerprints=prints)
            # The number of a duplicate comes from the order of its source, so ids stay as they were.
            routes += [one._replace(id=row[0]) for one, row in zip(given, rows, strict=True)]
        return sources, routes
    except (KeyError, TypeError, AttributeError, IndexError, UnicodeDecodeError, json.JSONDecodeError):
        raise ValueError("does not hold a catalog as Admit writes it") from None
