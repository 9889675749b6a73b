"""Sources as they are written down, and how each is read: files and URLs, Python names, MCP servers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from admit.config.layers import Config, section
from admit.errors import SourceError

from . import masks
from .model import SourceKind
from .opening import source_names
from .route import Routes
from .schema import BOUNDS, Bounds
from .servers import Server, Servers

if TYPE_CHECKING:
    from http.client import HTTPResponse

MOST_BYTES = 64 << 20
FETCH_S = 10.0
"""How long one step of fetching a document may take, in s."""


class Definition(NamedTuple):
    """One source.

    Attributes:
        target: The server of an ``mcp`` source; else a path, a URL, or ``module:name``.
    """

    name: str
    kind: SourceKind
    target: Server | str

    @property
    def told(self) -> str:
        """What reading it does, as a sentence without credentials."""
        if isinstance(self.target, Server):
            verb = "runs" if self.target.transport == "stdio" else "connects to"
            parts = [f"{verb}: {masks.shown(self.target)}", *masks.settings(self.target)]
            return "  ".join(parts)
        if self.kind == "python":
            return f"imports, and so runs: {self.target}"
        return f"fetches: {masks.address(self.target)}" if is_url(self.target) else f"reads: {self.target}"


def definitions(config: Config, servers: Servers) -> dict[str, Definition]:
    """Every source of the settings and every server, by name; a server takes the name of a source of both."""
    found: dict[str, Definition] = {}
    for name in source_names(config):
        own = section(config.values, f"tools.sources.{name}")
        target = own.get("path") or own.get("url")
        if own.get("kind") and target:
            found[name] = Definition(name, own["kind"], target)
    for server in servers.servers:
        found[server.name] = Definition(server.name, "mcp", server)
    return found


def read(definition: Definition, bounds: Bounds = BOUNDS) -> Routes:
    """The tools of a source, read anew. An MCP server is started, or connected to, and left again.

    Raises:
        SourceError: It cannot be read.
        UsageError: A Python function has arguments that no schema can say.
    """
    name, kind, target = definition
    if isinstance(target, Server):
        import asyncio

        from .sources.mcp import from_mcp

        return asyncio.run(from_mcp(name, target, bounds=bounds))
    if kind == "python":
        from .sources.python import find, from_python

        return from_python(name, *find(name, target), bounds=bounds)
    data = _fetched(name, target) if is_url(target) else _file(name, target)
    if kind == "openapi":
        from .sources.openapi import from_openapi

        return from_openapi(name, data, bounds=bounds)
    from .sources.json_list import from_json

    return from_json(name, data, bounds=bounds)


def is_url(target: str) -> bool:
    """Whether a target is fetched over HTTP."""
    return target.startswith(("http://", "https://"))


def _file(name: str, path: str) -> bytes:
    try:
        with open(os.path.expanduser(path), "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as fault:
        raise SourceError(name, f"{path} cannot be read: {fault.strerror}") from None
    return _within(name, data)


def _fetched(name: str, url: str) -> bytes:
    from urllib.request import urlopen

    try:
        response: HTTPResponse
        with urlopen(url, timeout=FETCH_S) as response:
            data = response.read(MOST_BYTES + 1)
    except (OSError, ValueError) as fault:  # URLError is an OSError
        cause = getattr(fault, "reason", None) or fault
        raise SourceError(name, f"{masks.address(url)} cannot be fetched: {cause}") from None
    return _within(name, data)


def _within(name: str, data: bytes) -> bytes:
    if len(data) > MOST_BYTES:
        raise SourceError(name, f"is larger than {MOST_BYTES:,} bytes")
    return data
