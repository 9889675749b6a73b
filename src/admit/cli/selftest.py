"""`admit selftest`: what a host really lets reach the model, seen with the host's own client."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from admit.cli.frame import DONE, FINDING, json_option, print_json
from admit.errors import UsageError

if TYPE_CHECKING:
    from admit.config.layers import Config
    from admit.hosts.claude_code.selftest import Finding, ProbeResult

HOST = "claude-code"

EXAMPLES = """\b
Examples:
  admit selftest claude-code
  admit selftest claude-code --probe replace-bash --probe large-60000
  admit selftest claude-code --client ~/.local/bin/claude"""


@click.command("selftest", epilog=EXAMPLES)
@click.argument("host", metavar="HOST")
@click.option("--probe", "names", multiple=True, metavar="P", help="This probe alone; may be given again.")
@click.option(
    "--client",
    metavar="PATH",
    type=click.Path(exists=True, dir_okay=False),
    help="The host's executable; else the one on PATH.",
)
@json_option
def command(host: str, names: tuple[str, ...], client: str | None, as_json: bool) -> int:
    """Run a host's client against a fake model, and see what reaches it.

    The client runs headless in a home of its own, with the same hook lines, and can reach nothing but this
    machine. Without a client a recording is replayed, and no result is `pass`. A route that fails is switched
    off for that version. Ends with 1 where a route fails that Admit acts on by default.
    """
    from admit.config.layers import load

    if host != HOST:
        raise UsageError(f"there is no self-test of {host!r}; there is one of {HOST}")
    config = load()
    version, results = run(config, names, client, quiet=as_json or not sys.stderr.isatty())
    from admit.hosts.claude_code.selftest import as_json as row
    from admit.hosts.claude_code.selftest import findings

    found = findings(version, results)
    if as_json:
        probes = [row(one) for one in results]
        said = {"probes": probes, "findings": [finding._asdict() for finding in found]}
        print_json({"schema": 1, "host": host, "version": version, **said})
    else:
        click.echo("\n".join(lines(version, results, found)))
    return FINDING if any(finding.level == "fault" for finding in found) else DONE


def run(
    config: Config, names: Sequence[str], client: str | None, *, quiet: bool
) -> tuple[str | None, tuple[ProbeResult, ...]]:
    """Run the probes of these names, keep and record what they show, and give version and results.

    Args:
        client: The host's executable; None is the one on PATH, and a replay where there is none.
        quiet: Show no progress.

    Raises:
        UsageError: There is no such probe, or the client does not say its version.
    """
    from admit.cli.door import now_ms
    from admit.hosts.claude_code import selftest
    from admit.hosts.claude_code.init import host_client, host_version

    probes = selftest.chosen(names)
    path = client or host_client()
    if path is None:
        return selftest.replay_selftest(probes)
    version = host_version(path)
    if version is None:
        raise UsageError(f"{path} does not say which version it is, so it is not Claude Code")

    def progress(name: str, *_: object) -> None:
        if not quiet:
            click.echo(f"session {name} is over", err=True)

    results = selftest.run_selftest(
        os.path.abspath(path), version, probes, values=config.values, on_session=progress
    )
    selftest.keep(version, results, now_ms())
    write_events(config, "host.selftest", [event_of(version, one) for one in results])
    return version, results


def event_of(version: str, one: ProbeResult) -> dict[str, Any]:
    """The body of the event of one result."""
    return {"host": HOST, "version": version, "probe": one.name, "result": one.result}


def write_events(config: Config, type: str, bodies: Sequence[dict[str, Any]]) -> None:
    """Write events of one type to the record, and wait for them as long as commands do."""
    from admit.core.events import Event
    from admit.ledger import open_ledger
    from admit.ledger.port import Record
    from admit.ledger.record import new_id, now_ms

    ledger = open_ledger(config.values)
    ledger.append(Record(events=tuple(Event(new_id(), type, now_ms(), body) for body in bodies)))
    ledger.flush(config.values["ledger.close_wait_ms"])
    ledger.close()


def lines(version: str | None, results: Sequence[ProbeResult], found: Sequence[Finding]) -> list[str]:
    """The results for people, one probe a line with its evidence below it."""
    replayed = any(one.result == "recorded" for one in results)
    where = "without a client, from what was recorded with" if replayed else "with"
    said = [f"{HOST} {where} {version or 'an unknown version'}"]
    width = max(len(one.name) for one in results)
    for one in results:
        usual = " (as expected)" if one.result == "fail" and one.is_usual else ""
        said.append(f"{one.result:<9} {one.name:<{width}}  {one.detail}{usual}")
        if one.evidence is not None:
            said.append(f"{'':<9} {'':<{width}}  {one.evidence.file}:{one.evidence.line}")
    counts = {
        word: sum(one.result == word for one in results) for word in ("pass", "fail", "recorded", "unproven")
    }
    said.append(", ".join(f"{count} {word}" for word, count in counts.items() if count))
    for finding in found:
        said.append(f"{finding.level}: {finding.text}")
        if finding.fix:
            said.append(f"    {finding.fix}")
    return said
