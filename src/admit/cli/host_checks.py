"""What `admit doctor` looks at where a host is connected: settings, command lines, version and daemon.

Where no host is connected there is nothing to find, but for deadlines that could never hold.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

from admit import __version__
from admit.cli.checks import Check, Fault
from admit.cli.frame import counted
from admit.config.layers import Config
from admit.errors import SettingsError
from admit.ledger.moments import local

HOST = "claude-code"
AREA = "hosts"


class Wired(NamedTuple):
    """A settings file that holds entries of ours, or should.

    Attributes:
        found: The entries, by event; None where the file cannot be read.
        fault: Why it cannot.
        listed: An init wrote it.
        silent: It says that no hook shall run.
    """

    path: str
    scope: str
    found: Mapping[str, Any] | None
    fault: str = ""
    listed: bool = False
    silent: bool = False


def hosts(config: Config) -> Iterator[Fault]:
    """The entries in the settings: there, as written, and leading to files that are there."""
    files = wired()
    for one in files:
        again = f"admit init {HOST}" + (" --project" if one.scope == "project" else "")
        if one.found is None:
            yield Fault(AREA, f"{one.path} cannot be read, so no hook in it runs: {one.fault}.", "Mend it.")
        elif not one.found:
            text = f"{one.path} holds no entry of Admit any more: nothing is done in its sessions."
            yield Fault(AREA, text, f"{again}, or {again} --remove where that is meant")
        else:
            yield from _entries(one, config, again)
        if one.silent:
            text = f"disableAllHooks is true in {one.path}: no hook runs, so nothing is done in its sessions."
            yield Fault(AREA, text, "Take that line out.")
    if len([one for one in files if one.found]) > 1:
        text = "Your own settings and the project's both hold the hooks: each runs twice here."
        yield Fault(AREA, text, f"admit init {HOST} --project --remove")


def deadlines(config: Config) -> Iterator[Fault]:
    """The chain of time-outs: judge, door, client, host."""
    from admit.hosts.deadlines import chain_findings

    for text, fix in chain_findings(config.values):
        yield Fault("deadlines", text, fix)


def versions(config: Config) -> Iterator[Fault]:
    """The host's version, and what its last self-test showed."""
    if not connected():
        return
    client, version = _client()
    if version is None:
        return
    from admit.hosts.claude_code.selftest import findings_of_report, last_report

    report = last_report(version)
    again = f"admit selftest {HOST}"
    if report is None:
        text = f"Nobody has seen what {HOST} {version} ({client}) lets through: its routes are unproven."
        yield Fault(AREA, text, again)
    for text in findings_of_report(version, report) if report is not None else ():
        yield Fault(AREA, text, again)
    from admit.hosts import routes
    from admit.hosts.claude_code.adapter import ADAPTER

    able = routes.proven(ADAPTER.capabilities(version), HOST, version).rewrite_input
    if config.values["hosts.wrap"] == "list" and able == "no":
        text = (
            f"hosts.wrap is list, but {version} does not keep your permission rules then: nothing is wrapped."
        )
        yield Fault(AREA, text, "admit config set hosts.wrap off")


def daemon(config: Config) -> Iterator[Fault]:
    """The daemon, its version, what it had to leave out, and who can reach it."""
    from admit.hosts.daemon.places import log_path, socket_path

    path = socket_path()
    for place, mode in ((os.path.dirname(path), 0o700), (path, 0o600)):
        with suppress(FileNotFoundError):
            info = os.lstat(place)
            if info.st_uid != os.geteuid():
                yield Fault(
                    "daemon",
                    f"{place} belongs to user {info.st_uid}: no hook is served.",
                    f"sudo rm -r {place}",
                )
            elif stat.S_IMODE(info.st_mode) & 0o077:
                yield Fault("daemon", f"{place} is open to other users.", f"chmod {mode:o} {place}")
    told = status()
    if told is None:
        if (silent := silent_holder()) is not None:
            text = f"Process {silent} holds the socket and does not answer."
            yield Fault("daemon", text, "admit daemon restart")
        return
    if told.get("version") != __version__:
        text = f"The daemon is of version {told.get('version')}, the command of {__version__}."
        yield Fault("daemon", text, "admit daemon restart")
    if others := told.get("other_clients"):
        text = f"Hooks of other versions come to the daemon: {', '.join(others)}."
        yield Fault("daemon", text, f"admit init {HOST} from the installation that you use")
    counts = told.get("answered") or {}
    if shed := counts.get("shed", 0):
        text = f"{counted(shed, 'hook')} passed as without Admit since the daemon started: it had no time."
        yield Fault("daemon", text, "Look at what else the machine does, or raise hosts.daemon.workers.")
    odd = {cause: n for cause, n in (told.get("odd") or {}).items() if n}
    if odd:
        said = ", ".join(f"{n:,} {cause}" for cause, n in sorted(odd.items()))
        yield Fault("daemon", f"Odd hooks since the daemon started: {said}.", f"{log_path()} says more.")


def host_notes(config: Config) -> Iterator[str]:
    """How things stand, where a host is connected."""
    if not connected():
        return
    from admit.hosts.claude_code.selftest import last_report
    from admit.hosts.deadlines import CLASSES, chain

    client, version = _client()
    report = last_report(version) if version else None
    if version is None:
        yield "There is no claude on PATH, so its version is not known."
    elif report is not None:
        when = local(report["at_ms"])
        yield f"{HOST} {version} ({client}), self-tested {when:%Y-%m-%d %H:%M}."
    told = status()
    if told is None and silent_holder() is None:
        yield "The daemon is not running; the next hook starts it."
    elif told is not None:
        yield f"The daemon is process {told.get('pid')}, version {told.get('version')}."
    for name in CLASSES:
        steps = chain(config.values, name)._asdict()
        said = " < ".join(f"{stage} {ms:,}" for stage, ms in steps.items() if ms is not None)
        yield f"Deadlines in ms, {name.replace('_', ' ')}: {said}."


HOST_CHECKS: tuple[Check, ...] = (hosts, deadlines, versions, daemon)


def connected() -> bool:
    """Whether any settings file holds entries of ours."""
    return any(one.found for one in wired())


def wired() -> list[Wired]:
    """The settings files of the host that hold entries of ours, or that an init wrote."""
    from admit.hosts.claude_code.entries import is_ours
    from admit.hosts.claude_code.init import settings_path
    from admit.hosts.settings import record
    from admit.hosts.settings.file import read
    from admit.hosts.settings.hooks import find
    from admit.hosts.settings.spans import parse

    listed = {one.path: one.scope for one in record.edited() if one.host == HOST}
    paths = dict(listed)
    for scope in ("user", "project"):
        with suppress(SettingsError, OSError):
            paths.setdefault(settings_path(scope), scope)
    here = {path for path, scope in paths.items() if scope == "user"}
    with suppress(SettingsError, OSError):
        here.add(settings_path("project"))
    files = []
    for path in paths:
        if path not in here:
            continue  # another project's
        try:
            text = read(path).text or ""
            found, root = {one.event: one for one in find(text, is_ours)}, parse(text)
        except SettingsError as error:
            text = str(error).removeprefix(f"{path}:").strip()
            if path in listed:
                files.append(Wired(path, paths[path], None, text, True))
            continue
        if found or path in listed:
            value = root.value if root is not None else None
            silent = isinstance(value, dict) and value.get("disableAllHooks") is True
            files.append(Wired(path, paths[path], found, "", path in listed, silent))
    return files


def _client() -> tuple[str | None, str | None]:
    """The host's executable on PATH, and its version."""
    from admit.hosts.claude_code.init import host_client

    client = host_client()
    return client, _version(client) if client else None


@lru_cache(maxsize=1)
def _version(client: str) -> str | None:
    from admit.hosts.claude_code.init import host_version

    return host_version(client)  # a process of its own, so not twice


def status() -> dict[str, Any] | None:
    """What the daemon says of itself; None where none answers."""
    from admit.hosts.daemon import control
    from admit.hosts.daemon.places import socket_path

    return control.status(socket_path())


def silent_holder() -> int | None:
    """The process that holds the daemon's socket; asked where none answers."""
    from admit.hosts.daemon import control
    from admit.hosts.daemon.places import socket_path

    return control.silent_holder(socket_path())


def _entries(one: Wired, config: Config, again: str) -> Iterator[Fault]:
    from admit.hosts.claude_code.entries import entries, form_for, here, place_of

    found = one.found or {}
    dead: dict[str, None] = {}
    for entry in found.values():
        for handler in entry.value["hooks"] if entry.is_group else (entry.value,):
            place = place_of(handler)
            if place is None:
                continue
            if not os.access(place.python, os.X_OK):
                dead[place.python] = None
            if not os.path.isfile(place.client):
                dead[place.client] = None
    for path in dead:
        text = f"{one.path} names {path}, which is not there: the host reports a failed hook at every event."
        yield Fault(AREA, text, again)
    if dead:
        return
    wanted = [entries(config.values, here(), form_for(one.scope, version)) for version in (None, "0")]
    if not any({event: entry.value for event, entry in found.items()} == groups for groups in wanted):
        text = f"The entries in {one.path} are not those that this installation writes."
        yield Fault(AREA, text, again)
