"""`admit init`: wire Admit into a host, and take it out again; the change is shown first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from admit.cli.asking import must_ask, yes
from admit.cli.frame import DONE, json_option, print_json
from admit.errors import UsageError

if TYPE_CHECKING:
    from admit.config.layers import Config
    from admit.hosts.claude_code.init import Change

HOST = "claude-code"
LATER = {"mcp": "the MCP gateway is not there yet; what there is: admit init claude-code"}

EXAMPLES = """\b
Examples:
  admit init claude-code --print
  admit init claude-code
  admit init claude-code --project --yes
  admit init claude-code --remove"""


class Wanted(NamedTuple):
    """What was asked for on the command line."""

    scope: str
    remove: bool
    only_print: bool
    yes: bool
    wrap: bool
    selftest: bool
    client: str | None
    as_json: bool


@click.command("init", epilog=EXAMPLES)
@click.argument("host", metavar="HOST")
@click.option("--project", is_flag=True, help="In the project's settings, not in your own.")
@click.option("--remove", is_flag=True, help="Take every entry of Admit out again.")
@click.option("--print", "only_print", is_flag=True, help="Show the change, and write nothing.")
@click.option("--yes", "without_asking", is_flag=True, help="Write without asking.")
@click.option("--wrap", is_flag=True, help="Run listed commands in `admit run`, where the host allows it.")
@click.option("--no-selftest", is_flag=True, help="Do not run the self-test afterwards.")
@click.option(
    "--client",
    metavar="PATH",
    type=click.Path(exists=True, dir_okay=False),
    help="The host's executable; else the one on PATH.",
)
@json_option
def command(
    host: str,
    project: bool,
    remove: bool,
    only_print: bool,
    without_asking: bool,
    wrap: bool,
    no_selftest: bool,
    client: str | None,
    as_json: bool,
) -> int:
    """Wire Admit into a host: claude-code.

    Shows a diff of the settings and every command line, asks, keeps a backup, and writes. A second time
    changes nothing. Afterwards come the doctor, the self-test, and the question whether listed commands
    shall run in `admit run`.
    """
    from admit.config.layers import load

    if host != HOST:
        raise UsageError(LATER.get(host) or f"there is no host {host!r}; there is: {HOST}")
    scope = "project" if project else "user"
    wanted = Wanted(scope, remove, only_print, without_asking, wrap, not no_selftest, client, as_json)
    return _take_out(wanted, load()) if remove else _put_in(wanted, load())


def _put_in(wanted: Wanted, config: Config) -> int:
    from admit.hosts.claude_code.init import host_client, host_version, plan_init

    client = wanted.client or host_client()
    version = host_version(client) if client else None
    change = plan_init(wanted.scope, values=config.values, version=version)
    applied = _settle(wanted, change, config, "init")
    if wanted.as_json:
        print_json(_as_json(wanted, change, applied, version))
    if applied is None or wanted.as_json:
        return DONE
    if not change.is_empty:
        click.echo("The doctor:")
        _doctor()
    tested = _selftest(wanted, config, client, version, changed=not change.is_empty)
    _wrap(wanted, config, version, tested)
    return DONE


def _take_out(wanted: Wanted, config: Config) -> int:
    from admit.hosts.claude_code.init import plan_remove

    change = plan_remove(wanted.scope)
    applied = _settle(wanted, change, config, "remove")
    if wanted.as_json:
        print_json(_as_json(wanted, change, applied, None))
    return DONE


class Applied(NamedTuple):
    """A change that holds now; `backup` is None where there was no file before."""

    backup: str | None


def _settle(wanted: Wanted, change: Change, config: Config, action: str) -> Applied | None:
    """Show a change, ask, and write it; None where it was shown alone, or refused.

    Raises:
        UsageError: There is nobody to ask.
    """
    if not wanted.as_json:
        show(change)
    if wanted.only_print:
        return None
    if not change.is_empty and not wanted.yes:
        if wanted.as_json:
            raise UsageError("nothing was written: with --json add --yes or --print")
        must_ask("nothing was written")
        if not yes(f"Write {change.file.target}?"):
            click.echo("Nothing was written.", err=True)
            return None
    backup = change.apply()
    if not change.is_empty:
        from admit.cli.selftest import write_events

        write_events(config, "host.init", [{"host": HOST, "files": [change.file.path], "action": action}])
        if not wanted.as_json:
            kept = f" What stood there is in {backup}." if backup else ""
            gone = " is gone again." if change.text is None else " is written."
            click.echo(f"{change.file.target}{gone}{kept}")
    return Applied(backup)


def show(change: Change) -> None:
    """Print a change: its diff, its command lines, and what to know of it."""
    if change.file.is_link:
        click.echo(f"{change.file.path} is a link to {change.file.target}.")
    if change.is_empty:
        click.echo(f"{change.file.target} stays as it is.")
    else:
        click.echo(change.diff())
        if change.lines:
            click.echo("\nThe command lines in full:")
            for line in change.lines:
                click.echo(f"  {line}")
    for note in change.notes:
        click.echo(f"Note: {note}")


def _doctor() -> None:
    from admit.cli.doctor import command as doctor

    doctor.main(args=[], standalone_mode=False)


def _selftest(
    wanted: Wanted, config: Config, client: str | None, version: str | None, *, changed: bool
) -> bool:
    """Run the self-test where there is a reason to; whether one was run."""
    from admit.cli.selftest import lines, run
    from admit.hosts.claude_code.selftest import findings, last_report

    if not wanted.selftest:
        return False
    if client is None or version is None:
        click.echo(
            "The self-test was left out: there is no claude on PATH. Later: admit selftest claude-code"
        )
        return False
    if not changed and last_report(version) is not None:
        return False
    click.echo("The self-test (--no-selftest leaves it out):")
    try:
        _, results = run(config, (), client, quiet=wanted.yes)
    except OSError as fault:
        click.echo(f"It could not be run: {fault}")
        return False
    click.echo("\n".join(lines(version, results, findings(version, results))))
    return True


def _wrap(wanted: Wanted, config: Config, version: str | None, tested: bool) -> None:
    """Ask whether listed commands shall run in `admit run`; only where the host was seen to allow it."""
    from admit.hosts import routes
    from admit.hosts.claude_code.adapter import ADAPTER

    if config.values["hosts.wrap"] == "list" or not (wanted.wrap or tested):
        return
    able = routes.proven(ADAPTER.capabilities(version), HOST, version).rewrite_input
    if able != "yes":
        if wanted.wrap:
            why = "has not been seen to allow it" if able == "unproven" else "does not keep your rules then"
            click.echo(f"hosts.wrap stays off: {version or 'this version'} {why} (admit selftest {HOST}).")
        return
    question = (
        "Failing commands never reach a hook. Run make, pytest, npm test and their like in `admit run`, so "
        "that their output is cut too?"
    )
    if wanted.wrap or (not wanted.yes and yes(question)):
        from admit.config import edit, layers

        path, _ = layers.user_file()
        file = next((one for one in layers.load(project=False).files if one.layer == "user"), None)
        edit.write(file, path, "hosts.wrap", "list")
        click.echo(f"hosts.wrap = list in {path}; hosts.wrap_commands says which commands.")


def _as_json(wanted: Wanted, change: Change, applied: Applied | None, version: str | None) -> dict[str, Any]:
    return {
        "schema": 1,
        "host": HOST,
        "version": version,
        "scope": wanted.scope,
        "file": change.file.path,
        "target": change.file.target,
        "changed": not change.is_empty,
        "written": applied is not None and not change.is_empty,
        "backup": applied.backup if applied is not None else None,
        "diff": change.diff(),
        "lines": list(change.lines),
        "notes": list(change.notes),
    }
