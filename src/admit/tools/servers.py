"""The file of MCP servers, in the form that clients use; the only place where a server is written.

`mcp.json` in the configuration folder, then the project's `.mcp.json`: ``{"mcpServers": {NAME: {...}}}``, or
``servers`` as VS Code names it. Comments and trailing commas are taken; a key twice is an error. Our own keys
of a server stand in its ``admit`` object, so that the file still serves other clients.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from admit.config.places import config_dir
from admit.config.private import write_private
from admit.core.events import canonical, sha256
from admit.errors import ConfigError, SourceError

from . import jsonc
from .names import clean

MOST_BYTES = 4 << 20
LONGEST_KEY = 32
TABLES = ("mcpServers", "servers")
Transport = Literal["stdio", "http", "sse"]
_TYPES: Mapping[str, Transport] = MappingProxyType(
    {"stdio": "stdio", "http": "http", "streamable-http": "http", "streamableHttp": "http", "sse": "sse"}
)
_KNOWN = frozenset(
    ("command", "args", "env", "cwd", "url", "headers", "type", "disabled", "timeout", "admit")
)
_NONE: Mapping[str, Any] = MappingProxyType({})


class Server(NamedTuple):
    """One configured server, as written: variables are not put in yet.

    Attributes:
        env, headers: Text by name.
        timeout_s: Of a call; a figure above 1000 is read as milliseconds, as some clients write it.
        own: Its ``admit`` object.
        unknown: Keys that are kept and not used.
        path: The file it stands in.
        project: Whether that file came with a project: then it starts with the user's consent alone.
    """

    name: str
    transport: Transport = "stdio"
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = _NONE
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = _NONE
    disabled: bool = False
    timeout_s: float | None = None
    own: Mapping[str, Any] = _NONE
    unknown: tuple[str, ...] = ()
    path: str = ""
    project: bool = False

    def spec(self) -> str:
        """What a consent to run it is for: a hash of command, arguments, folder, names of variables, URL."""
        told = {
            "command": self.command,
            "args": self.args,
            "cwd": self.cwd,
            "env": sorted(self.env),
            "url": self.url,
        }
        return sha256(canonical(told))


class Servers(NamedTuple):
    """The servers of one or several files, in their order, and what is wrong with the rest as sentences."""

    servers: tuple[Server, ...] = ()
    findings: tuple[str, ...] = ()

    def get(self, name: str) -> Server | None:
        """The server of a name."""
        return next((one for one in self.servers if one.name == name), None)


def user_path() -> str:
    """`mcp.json` in the configuration folder."""
    return os.path.join(config_dir(), "mcp.json")


def project_path(cwd: str | None = None) -> str | None:
    """The project's `.mcp.json`: of the nearest folder above that holds it or `.git`; None where none is."""
    folder = os.path.abspath(cwd if cwd is not None else os.getcwd())
    while True:
        path = os.path.join(folder, ".mcp.json")
        if os.path.isfile(path):
            inside = os.path.dirname(os.path.realpath(path)) == os.path.realpath(folder)
            return path if inside else None
        above = os.path.dirname(folder)
        if above == folder or os.path.lexists(os.path.join(folder, ".git")):
            return None
        folder = above


def load(cwd: str | None = None, files: Iterable[str] | None = None) -> Servers:
    """Every configured server; a file that cannot be used is a finding, and the others count.

    A project's server does not take the place of the user's own of the same name.

    Args:
        files: These in place of the user's and the project's.
    """
    project = project_path(cwd) if files is None else None
    places = [user_path(), *([project] if project else [])] if files is None else list(files)
    found: dict[str, Server] = {}
    findings: list[str] = []
    for path in places:
        try:
            held = read(path, project=path == project)
        except ConfigError as fault:
            findings.append(str(fault))
            continue
        findings += held.findings
        for one in held.servers:
            if one.name in found:
                findings.append(
                    f"{path}: {one.name} stands in {found[one.name].path} too, and that one counts"
                )
            else:
                found[one.name] = one
    return Servers(tuple(found.values()), tuple(findings))


def read(path: str, *, project: bool = False) -> Servers:
    """The servers of one file; none where there is no file.

    Raises:
        ConfigError: The file cannot be used, or two of its names become equal.
    """
    text = read_text(path, MOST_BYTES, own=not project)
    return Servers() if text is None else parsed(text, path, project=project)


def parsed(text: str, path: str = "", *, project: bool = False) -> Servers:
    """The servers that a text of this form holds.

    Raises:
        ConfigError: It is not JSON, has a key twice, or two of its names become equal.
    """
    try:
        value = jsonc.read(text)
    except ValueError as fault:
        raise ConfigError(f"{path}: is not JSON: {fault}") from None
    if value is None:
        return Servers()
    if not isinstance(value, dict):
        raise ConfigError(f'{path}: holds no object; write {{"mcpServers": {{}}}}')
    tables = [value[table] for table in TABLES if table in value]
    if any(not isinstance(table, dict) for table in tables):
        raise ConfigError(f"{path}: mcpServers is no object")
    return of_tables(tables, path, project=project)


def of_tables(tables: Iterable[Mapping[str, Any]], path: str = "", *, project: bool = False) -> Servers:
    """The servers of tables by name, however they were written.

    Raises:
        ConfigError: Two of the names become equal.
    """
    found: dict[str, Server] = {}
    findings: list[str] = []
    for table in tables:
        for key, row in table.items():
            name = clean(key)[:LONGEST_KEY] or "_"
            if name in found:
                raise ConfigError(f"{path}: two servers become {name}; give one of them another name")
            try:
                found[name] = one = _server(name, row, path, project)
            except ValueError as fault:
                findings.append(f"{path}: {name} {fault}")
                continue
            findings += [f"{path}: {name} has the unknown key {word}" for word in one.unknown]
    return Servers(tuple(found.values()), tuple(findings))


def _server(name: str, row: Any, path: str, project: bool) -> Server:
    """One entry.

    Raises:
        ValueError: It says neither what to run nor where to connect, or a value is of a wrong kind.
    """
    if not isinstance(row, Mapping):
        raise ValueError("is no object")
    command, url = row.get("command") or "", row.get("url") or row.get("serverUrl") or ""
    if not isinstance(command, str) or not isinstance(url, str) or not (command or url):
        raise ValueError("has neither a command nor a url")
    kind = row.get("type", "http" if url else "stdio")
    transport = _TYPES.get(kind) if isinstance(kind, str) else None
    if transport is None:
        raise ValueError(f"has a type that is none of {', '.join(_TYPES)}")
    if (transport == "stdio") != bool(command):
        raise ValueError(f"has the type {kind} and no {'command' if transport == 'stdio' else 'url'}")
    args = row.get("args", [])
    if not isinstance(args, list) or not all(isinstance(one, str) for one in args):
        raise ValueError("has args that are no list of texts")
    own = row.get("admit", {})
    if not isinstance(own, Mapping):
        raise ValueError("has an admit that is no object")
    cwd = row.get("cwd") or ""
    if not isinstance(cwd, str):
        raise ValueError("has a cwd that is no text")
    return Server(
        name,
        transport,
        command if transport == "stdio" else "",
        tuple(args),
        _words(row, "env"),
        cwd,
        url if transport != "stdio" else "",
        _words(row, "headers"),
        row.get("disabled") is True,
        _seconds(row.get("timeout")),
        own,
        tuple(sorted(str(key) for key in row if key not in _KNOWN)),
        path,
        project,
    )


def _words(row: Mapping[str, Any], key: str) -> dict[str, str]:
    held = row.get(key) or {}
    if not isinstance(held, Mapping):
        raise ValueError(f"has {key} that is no object")
    plain = {name: one for name, one in held.items() if isinstance(one, (str, int, float))}
    if len(plain) != len(held):
        raise ValueError(f"has {key} with a value that is no text")
    return {str(name): one if isinstance(one, str) else str(one) for name, one in plain.items()}


def _seconds(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 10**9:
        return None
    return value / 1000 if value > 1000 else float(value)


def expanded(server: Server, environ: Mapping[str, str] | None = None) -> Server:
    """The server with ``${VAR}``, ``${VAR:-default}`` and ``${env:VAR}`` put in.

    Raises:
        SourceError: A variable is not set; the cause names it.
    """
    environ = os.environ if environ is None else environ
    missing: list[str] = []

    def value(found: re.Match[str]) -> str:
        name, default = found["name"], found["default"]
        held = environ.get(name, "")
        if held or (name in environ and default is None):
            return held
        if default is None:
            missing.append(name)
        return default or ""

    def put(text: str) -> str:
        return _variable().sub(value, text)

    full = server._replace(
        command=put(server.command),
        args=tuple(map(put, server.args)),
        env={name: put(one) for name, one in server.env.items()},
        cwd=os.path.expanduser(put(server.cwd)),
        url=put(server.url),
        headers={name: put(one) for name, one in server.headers.items()},
    )
    if missing:
        names = ", ".join(dict.fromkeys(missing))
        raise SourceError(server.name, f"needs the variable {names}, which is not set")
    return full


@lru_cache(maxsize=1)
def _variable() -> re.Pattern[str]:
    return re.compile(r"\$\{(?:env:)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")


def added(text: str, name: str, spec: Mapping[str, Any]) -> str:
    """The text of a file with a server in it; all else stays byte for byte.

    Raises:
        ConfigError: The text cannot be edited.
    """
    try:
        return jsonc.put(text, (_table(text), name), dict(spec))
    except ValueError as fault:
        raise ConfigError(f"the file of servers {fault}; mend it first") from None


def removed(text: str, name: str) -> str:
    """The text of a file without a server.

    Raises:
        ConfigError: The text cannot be edited, or has no such server.
    """
    try:
        return jsonc.take(text, (_table(text), name))
    except KeyError:
        raise ConfigError(f"there is no server {name} in the file") from None
    except ValueError as fault:
        raise ConfigError(f"the file of servers {fault}; mend it first") from None


def save(path: str, text: str) -> None:
    """Write the user's file, whole or not at all, mode 0600.

    Raises:
        OSError: It cannot be written; what stood there stays.
    """
    write_private(path, text.encode("utf-8", "surrogatepass"))


def _table(text: str) -> str:
    held = dict(jsonc.pairs(text))
    return next((table for table in TABLES if table in held), TABLES[0])


def read_text(path: str, most_bytes: int, *, own: bool = True) -> str | None:
    """The text of a file of this form; None where there is none.

    Args:
        own: It is the user's: nobody else may be able to write it.

    Raises:
        ConfigError: It is no regular file, belongs to somebody else, is too large, or is not UTF-8.
    """
    try:
        # O_NONBLOCK: a named pipe must not hold us up.
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as fault:
        raise ConfigError(f"{path}: cannot be read: {fault.strerror}") from None
    with os.fdopen(fd, "rb") as file:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise ConfigError(f"{path}: is not a regular file")
        if own and info.st_uid not in (os.geteuid(), 0):
            raise ConfigError(f"{path}: belongs to another user; chown {os.geteuid()} {path}")
        if own and info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise ConfigError(f"{path}: can be written by other users; chmod 600 {path}")
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise ConfigError(f"{path}: is larger than {most_bytes:,} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8; save it as UTF-8") from None
