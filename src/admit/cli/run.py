"""`admit run`: around a command; its exit code, streams and signals stay its own."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import click

from admit.cli.frame import DONE, FINDING, crash_message, json_option, print_json
from admit.cli.running import Ran, run
from admit.cli.spawn import NOT_EXECUTABLE, CannotStart, become
from admit.cli.streams import HELD_BYTES, STDERR, Spool

if TYPE_CHECKING:
    from admit.cli.door import Place
    from admit.config.layers import Config
    from admit.outputs.model import OutputConfig, OutputResult

TOOL = "run"

EXAMPLES = """\b
Examples:
  admit run --task "make the tests pass" -- make test
  admit run --shell -- 'make 2>&1 | tee build.log'
  admit run --tty-filter -- npm test"""


@click.command(
    "run",
    epilog=EXAMPLES,
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
)
@click.option(
    "--task", default="", metavar="TEXT", help="What the agent is doing; lines that help it weigh more."
)
@click.option("--shell", is_flag=True, help="Give the words, as one line, to your shell ($SHELL -c).")
@click.option(
    "--tty-filter", is_flag=True, help="On a terminal, hold the output and show at the end what is kept."
)
@click.option(
    "--hook",
    default="",
    metavar="TICKET",
    help="Written by a host's hook: whose command it is, for what task.",
)
@json_option
@click.argument("words", nargs=-1, required=True, metavar="-- CMD [ARG]…", type=click.UNPROCESSED)
def command(
    task: str, shell: bool, tty_filter: bool, hook: str, as_json: bool, words: tuple[str, ...]
) -> int:
    """Run a command and keep what matters of its output.

    The exit code is the command's: 128 + n after signal n, 127 not found, 126 not executable. On a terminal
    everything is passed through as it comes and nothing is cut.
    """
    from admit.cli import door

    argv = [os.environ.get("SHELL") or "/bin/sh", "-c", " ".join(words)] if shell else list(words)
    config = door.settings()
    chosen = door.output_config(config)
    caller = Caller(task)
    if hook:
        chosen, caller = _hosted(config, task, hook)
    place, fault = _place(config)
    try:
        if chosen.mode == "off" and not as_json:
            become(argv)
        ran = run(argv, live=not (tty_filter or as_json), spool=lambda name: _spool(place))
    except CannotStart as unable:
        click.echo(f"admit run: {unable}", err=True)
        return unable.code
    except OSError as refused:
        click.echo(f"admit run: the command could not be run: {refused.strerror}", err=True)
        return NOT_EXECUTABLE
    try:
        results: dict[str, OutputResult] = {}
        if place is not None:
            try:
                results = _results(ran, argv, caller, config, chosen, place)
            except (Exception, KeyboardInterrupt) as error:
                fault = error
        if as_json and fault is None:
            _print_json(ran, results)
        else:
            _write(ran, results)
    finally:
        for stream in ran.streams:
            stream.release()
    if place is not None:
        place.settle(config)
    if isinstance(fault, Exception):
        _say(crash_message(fault))
    elif os.isatty(STDERR) and not as_json:
        _say(_summary(ran, results, chosen))
    lost = [stream for stream in ran.streams if stream.fault is not None]
    for stream in lost:
        _say(f"{stream.name} could not be written: {stream.fault}; admit recall --last has what was stored")
    return ran.code or (FINDING if lost else DONE)


class Caller(NamedTuple):
    """Who runs the command: the task, and below a host's hook the session and the way to recall."""

    task: str
    session: str | None = None
    recall_way: str = "admit recall {id}"
    words: str = ""


def _hosted(config: Config, task: str, hook: str) -> tuple[OutputConfig, Caller]:
    """The settings within the host's caps, and what the ticket says; one that is gone says nothing."""
    from admit.hosts.deps import admit_path, recall_way
    from admit.hosts.projects import hosted
    from admit.hosts.tickets import Ticket, take

    ticket = take(hook) or Ticket()
    way = recall_way(admit_path()) or Caller(task).recall_way
    return hosted(config), Caller(task or ticket.task, ticket.session or None, way, ticket.words)


def _place(config: Config) -> tuple[Place | None, BaseException | None]:
    """The store and the record; without them the command runs all the same."""
    from admit.cli import door

    try:
        return door.open_place(config), None
    except Exception as fault:
        return None, fault


def _spool(place: Place | None) -> Spool | None:
    """A file in the store for a stream, if one can be made."""
    if place is None:
        return None
    from admit.errors import StoreFailed
    from admit.ledger.port import OutputMeta

    try:
        return place.store.capture(OutputMeta(TOOL))
    except StoreFailed:
        return None


def _write(ran: Ran, results: dict[str, OutputResult]) -> None:
    """Write to each held stream what is kept of it, or everything where something is wrong here."""
    for stream in ran.streams:
        if stream.whole and not stream.live:
            stream.write(results[stream.name].data if stream.name in results else stream.data)


def _results(
    ran: Ran,
    argv: list[str],
    caller: Caller,
    config: Config,
    chosen: OutputConfig,
    place: Place,
) -> dict[str, OutputResult]:
    """What the gate makes of each stream that is held to its end."""
    from admit.cli import door
    from admit.outputs.model import RawOutput, Task

    line = " ".join(argv)
    wanted = Task(caller.task, command=caller.words or line[:500])
    session = caller.session
    held = [stream for stream in ran.streams if stream.whole]
    outputs = {
        stream.name: RawOutput(stream.data, ran.code, TOOL, line, stream=stream.name)  # type: ignore[arg-type]
        for stream in held
    }
    # Shown whole already: what an agent would see is computed and recorded, nothing is cut.
    shadow = door.open_gate(config, place, outputs=chosen._replace(mode="shadow"))
    live = {
        stream.name: shadow.admit(outputs[stream.name], wanted, session=session)
        for stream in held
        if stream.live
    }
    rest = {name: output for name, output in outputs.items() if name not in live}
    gate = door.open_gate(config, place, outputs=chosen, recall_way=caller.recall_way)
    if len(rest) == 2:
        stdout, stderr = rest.values()
        return dict(zip(rest, gate.admit_streams(stdout, stderr, wanted, session=session), strict=True))
    return live | {name: gate.admit(output, wanted, session=session) for name, output in rest.items()}


def _summary(ran: Ran, results: dict[str, OutputResult], chosen: OutputConfig) -> str:
    """One line: what became of the stream of which most was left out, else of the longest."""
    from admit.cli.results import line, original_chars

    if not results:
        return f"shown whole: over {HELD_BYTES:,} bytes, or binary"
    name = max(results, key=lambda one: (bool(results[one].kept), original_chars(results[one])))
    live = next(stream.live for stream in ran.streams if stream.name == name)
    return line(results[name], chosen, cut=not live, tool=TOOL)


def _print_json(ran: Ran, results: dict[str, OutputResult]) -> None:
    from admit.cli.results import SCHEMA
    from admit.cli.results import as_json as shape

    streams = {stream.name: None for stream in ran.streams} | {
        name: shape(result) for name, result in results.items()
    }
    print_json({"schema": SCHEMA, "exit_code": ran.code, "streams": streams})


def _say(message: str) -> None:
    with suppress(OSError):
        click.echo(f"admit: {message}", err=True)
