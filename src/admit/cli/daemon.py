"""`admit daemon`: the resident process that answers the hooks of every host."""

from __future__ import annotations

from typing import Any

import click

from admit.cli.frame import DONE, FINDING, counted, json_option, print_json
from admit.errors import UsageError
from admit.hosts.daemon import control
from admit.hosts.daemon.places import log_path, socket_path

EXAMPLES = """\b
Examples:
  admit daemon status
  admit daemon restart"""


@click.group("daemon", epilog=EXAMPLES)
def command() -> None:
    """The resident process that answers hooks: start it, stop it, ask it.

    A hook starts it by itself, and half an hour without hooks ends it; these commands are for looking.
    """


@command.command("start", epilog="\b\nExample:\n  admit daemon start")
@json_option
def start(as_json: bool) -> int:
    """Start the daemon in the background, where none is running.

    Exit code 1: it did not start.
    """
    return _start(as_json)


@command.command("stop", epilog="\b\nExample:\n  admit daemon stop")
@json_option
def stop(as_json: bool) -> int:
    """Stop the daemon once what it is doing is done.

    Exit code 1: it was not running.
    """
    was_running = control.stop(socket_path())
    if as_json:
        print_json({"schema": 1, "running": False, "was_running": was_running})
    else:
        click.echo("The daemon is stopped." if was_running else "The daemon was not running.")
    return DONE if was_running else FINDING


@command.command("status", epilog="\b\nExample:\n  admit daemon status --json")
@json_option
def status(as_json: bool) -> int:
    """Say whether the daemon runs, and what it has done since it started.

    Exit code 1: it is not running.
    """
    return _tell(control.status(socket_path()), as_json)


@command.command("restart", epilog="\b\nExample:\n  admit daemon restart")
@json_option
def restart(as_json: bool) -> int:
    """Stop the daemon, where it is running, and start it.

    Exit code 1: it did not start.
    """
    control.stop(socket_path())
    return _start(as_json)


@command.command("run", epilog="\b\nExample:\n  admit daemon run")
@json_option
def run(as_json: bool) -> int:
    """Be the daemon, here and now, until it is stopped; its messages come out here.

    Where one is running already, nothing is done.
    """
    from admit.hosts.daemon.process import serve

    try:
        ended = serve(socket_path(), cause="run")
    except OSError as fault:
        raise _refused(fault) from fault
    if as_json:
        print_json({"schema": 1, "ended": ended})
    elif ended is None:
        click.echo("A daemon is running already.")
    return DONE


def _start(as_json: bool) -> int:
    path = socket_path()
    try:
        started = control.start(path)
    except OSError as fault:
        raise _refused(fault) from fault
    told = control.status(path) if started else None
    if told is None and not as_json and control.silent_holder(path) is None:
        click.echo(f"admit: the daemon did not start; {log_path()} says why.", err=True)
        return FINDING
    return _tell(told, as_json)


def _tell(told: dict[str, Any] | None, as_json: bool) -> int:
    silent = control.silent_holder(socket_path()) if told is None else None
    if as_json:
        extra = {"silent_pid": silent} if silent is not None else {}
        print_json({"schema": 1, "running": told is not None, **(told or extra)})
    elif silent is not None:
        click.echo(f"Process {silent} holds the socket and does not answer; `admit daemon restart` ends it.")
    elif told is None:
        click.echo("The daemon is not running. The next hook, or `admit daemon start`, starts it.")
    else:
        for name, fact in _facts(told):
            click.echo(f"{name:<9} {fact}")
    return DONE if told is not None else FINDING


def _facts(told: dict[str, Any]) -> list[tuple[str, str]]:
    memory = told["memory_bytes"]
    facts = [
        ("running", f"process {told['pid']}, version {told['version']}, for {_duration(told['uptime_s'])}"),
        ("socket", told["socket"]),
        ("memory", "unknown" if memory is None else f"{memory / 1e6:,.0f} MB"),
        ("now", f"{counted(told['working'], 'hook')} in work, {told['waiting']:,} waiting"),
        ("answered", _counts(told["answered"])),
    ]
    if told["odd"]:
        facts.append(("odd", _counts(told["odd"])))
    if told["other_clients"]:
        facts.append(("clients", f"of other versions: {', '.join(told['other_clients'])}"))
    if told["off"]:
        facts.append(("paused", "every hook passes as without Admit; `admit resume` ends it"))
    return facts


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{n:,} {name}" for name, n in counts.items()) or "nothing yet"


def _duration(seconds: int) -> str:
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours} h {minutes} min" if hours else f"{minutes} min" if minutes else f"{seconds} s"


def _refused(fault: OSError) -> UsageError:
    return UsageError(f"the daemon cannot use {socket_path()}: {fault.strerror or fault}")
