"""What agents' configurations say of MCP servers. They are read, never changed, and nothing is started.

| host | files |
|---|---|
| Claude Code | `~/.claude.json` (`mcpServers`, then under `projects`), the project's `.mcp.json` |
| Codex | `~/.codex/config.toml`, the project's `.codex/config.toml` (`[mcp_servers.NAME]`) |
| Cursor | `~/.cursor/mcp.json`, the project's `.cursor/mcp.json` |
| VS Code | `mcp.json` of the user and of each profile, the project's `.vscode/mcp.json` (`servers`) |
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from admit.errors import ConfigError

from . import jsonc
from .servers import LONGEST_KEY, TABLES, Server, Servers, of_tables, parsed, read_text
from .tokens import ESTIMATE, Counter

MOST_BYTES = 64 << 20
HOSTS = ("claude-code", "codex", "cursor", "vscode")
Scope = Literal["user", "project"]
SEARCHING = frozenset(("claude-code",))
"""Hosts that can leave definitions out and search them, of which it is known what they send instead."""


class Imported(NamedTuple):
    """The servers of one place of one host.

    Attributes:
        problem: Why the file cannot be read, as a sentence; empty where it can.
    """

    host: str
    path: str
    scope: Scope
    servers: tuple[Server, ...] = ()
    findings: tuple[str, ...] = ()
    problem: str = ""


class Merged(NamedTuple):
    """One server, however many hosts have it, and which."""

    server: Server
    hosts: tuple[str, ...]


def found(
    hosts: Iterable[str] = HOSTS,
    *,
    home: str | None = None,
    project: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> list[Imported]:
    """What hosts hold, host by host, a user's file before a project's; places without a file are left out.

    Args:
        home: The user's folder; None is this user's.
        project: The folder that the agent works in; None is the process's own.
    """
    environ = os.environ if environ is None else environ
    base = Path(home if home is not None else os.path.expanduser("~"))
    folder = Path(os.path.abspath(project if project is not None else os.getcwd()))
    places = [place for host in hosts for place in _PLACES[host](base, folder, environ)]
    return [one for host, path, scope, read in places if (one := _read(host, path, scope, read)) is not None]


def merged(places: Iterable[Imported]) -> list[Merged]:
    """Each server once, in the order found: the same of several hosts as one.

    Another server of a name that is taken gets the host's name after its own, and a number where that is
    taken too.
    """
    kept: dict[str, Merged] = {}
    names: dict[tuple[str, str], str] = {}
    for place in places:
        for server in place.servers:
            known = names.get((server.name, server.spec()))
            if known is not None:
                hosts = dict.fromkeys((*kept[known].hosts, place.host))
                kept[known] = kept[known]._replace(hosts=tuple(hosts))
                continue
            name, number = server.name, 1
            while name in kept:
                mark = place.host if number == 1 else f"{place.host}{number}"
                name, number = f"{server.name[: LONGEST_KEY - 1 - len(mark)]}-{mark}", number + 1
            kept[name] = Merged(server._replace(name=name), (place.host,))
            names[server.name, server.spec()] = name
    return list(kept.values())


def row_of(server: Server) -> dict[str, Any]:
    """A server as an entry of our own file, variables not put in."""
    row: dict[str, Any] = {}
    if server.transport == "stdio":
        row["command"] = server.command
        if server.args:
            row["args"] = list(server.args)
    else:
        row.update(type=server.transport, url=server.url)
    for key, held in (("env", server.env), ("headers", server.headers)):
        if held:
            row[key] = dict(held)
    if server.cwd:
        row["cwd"] = server.cwd
    if server.disabled:
        row["disabled"] = True
    if server.timeout_s is not None:
        row["timeout"] = round(server.timeout_s * 1000) if server.timeout_s > 1 else server.timeout_s
    if server.own:
        row["admit"] = dict(server.own)
    return row


def deferred_tokens(
    host: str, tools: Mapping[str, Iterable[str]], instructions: Iterable[str], by: Counter = ESTIMATE
) -> int | None:
    """Tokens of what a host sends with its own search of tools: names, and what servers say of themselves.

    Args:
        tools: Names by server.

    None where it is not known what the host sends.
    """
    if host not in SEARCHING:
        return None
    names = [f"mcp__{server}__{name}" for server, own in tools.items() for name in own]
    return by.tokens("\n".join(names)) + sum(by.tokens(text) for text in instructions)


Reader = Callable[[str, str], Servers]
_Place = tuple[str, Path, Scope, Reader]


def _read(host: str, path: Path, scope: Scope, read: Reader) -> Imported | None:
    """One file; None where there is none."""
    try:
        text = read_text(str(path), MOST_BYTES, own=False)
        if text is None:
            return None
        held = read(text, str(path))
    except ConfigError as fault:
        return Imported(host, str(path), scope, problem=str(fault))
    servers = tuple(one._replace(project=scope == "project") for one in held.servers)
    # An unknown key is another host's own, and nothing to tell.
    findings = tuple(one for one in held.findings if " has the unknown key " not in one)
    return Imported(host, str(path), scope, servers, findings)


def _claude(home: Path, project: Path, environ: Mapping[str, str]) -> Iterator[_Place]:
    folder = environ.get("CLAUDE_CONFIG_DIR")
    own = Path(folder) if folder else home

    def read(text: str, path: str) -> Servers:
        value = _object(text, path)
        tables = [value.get("mcpServers")]
        projects = value.get("projects")
        for above in (project, *project.parents):
            entry = projects.get(str(above)) if isinstance(projects, dict) else None
            tables.append(entry.get("mcpServers") if isinstance(entry, dict) else None)
        return _joined([table for table in tables if isinstance(table, dict)], path)

    yield "claude-code", own / ".claude.json", "user", read
    yield from _in_project("claude-code", project, ".mcp.json", _json)


def _codex(home: Path, project: Path, environ: Mapping[str, str]) -> Iterator[_Place]:
    folder = environ.get("CODEX_HOME")
    own = Path(folder) if folder else home / ".codex"
    yield "codex", own / "config.toml", "user", _toml
    yield from _in_project("codex", project, ".codex/config.toml", _toml)


def _cursor(home: Path, project: Path, environ: Mapping[str, str]) -> Iterator[_Place]:
    yield "cursor", home / ".cursor/mcp.json", "user", _json
    yield from _in_project("cursor", project, ".cursor/mcp.json", _json)


def _vscode(home: Path, project: Path, environ: Mapping[str, str]) -> Iterator[_Place]:
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    for base in (config / "Code/User", home / "Library/Application Support/Code/User"):
        for path in (base / "mcp.json", *sorted(base.glob("profiles/*/mcp.json"))):
            yield "vscode", path, "user", _json
    yield from _in_project("vscode", project, ".vscode/mcp.json", _json)


_PLACES: Mapping[str, Callable[[Path, Path, Mapping[str, str]], Iterator[_Place]]] = {
    "claude-code": _claude,
    "codex": _codex,
    "cursor": _cursor,
    "vscode": _vscode,
}


def _in_project(host: str, project: Path, name: str, read: Reader) -> Iterator[_Place]:
    """The file of the nearest folder above that has it; a folder with `.git` is the last one looked at."""
    for folder in (project, *project.parents):
        path = folder / name
        if path.is_file():
            yield host, path, "project", read
            return
        if (folder / ".git").exists():
            return


def _json(text: str, path: str) -> Servers:
    return parsed(text, path)


def _toml(text: str, path: str) -> Servers:
    import tomllib

    try:
        value = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise ConfigError(f"{path}: is not TOML: {fault}") from None
    table = value.get("mcp_servers")
    if not isinstance(table, dict):
        return Servers()
    return of_tables([{name: _of_codex(row) for name, row in table.items()}], path)


def _of_codex(row: Any) -> Any:
    """A server of Codex in the form of the others."""
    if not isinstance(row, dict):
        return row
    kept = {key: row[key] for key in ("command", "args", "env", "cwd", "url") if key in row}
    passed, named = row.get("env_vars"), row.get("env_http_headers")
    env = (
        {name: f"${{{name}}}" for name in passed if isinstance(name, str)} if isinstance(passed, list) else {}
    )
    headers = dict(row["http_headers"]) if isinstance(row.get("http_headers"), dict) else {}
    if isinstance(named, dict):
        headers |= {name: f"${{{variable}}}" for name, variable in named.items()}
    if isinstance(row.get("bearer_token_env_var"), str):
        headers["Authorization"] = f"Bearer ${{{row['bearer_token_env_var']}}}"
    if env and isinstance(kept.get("env", {}), dict):
        kept["env"] = {**env, **kept.get("env", {})}
    if headers:
        kept["headers"] = headers
    if row.get("enabled") is False:
        kept["disabled"] = True
    seconds = row.get("tool_timeout_sec")
    if isinstance(seconds, (int, float)) and not isinstance(seconds, bool):
        kept["timeout"] = seconds * 1000
    return kept


def _joined(tables: list[dict[str, Any]], path: str) -> Servers:
    """Tables of one host, where a later entry of a name takes the place of an earlier one."""
    rows: dict[str, Any] = {}
    for table in tables:
        rows.update(table)
    return of_tables([rows], path)


def _object(text: str, path: str) -> dict[str, Any]:
    try:
        value = jsonc.read(text)
    except ValueError as fault:
        raise ConfigError(f"{path}: is not JSON: {fault}") from None
    return value if isinstance(value, dict) else dict.fromkeys(TABLES)
