"""`admit uninstall`: every host as it was before, the daemon stopped, and what is kept deleted on request."""

from __future__ import annotations

import os

import click

from admit.cli.asking import must_ask, yes
from admit.cli.frame import DONE, FINDING, USAGE, json_option, print_json
from admit.errors import LedgerError, SettingsError, UsageError


@click.command("uninstall")
@click.option("--yes", "without_asking", is_flag=True, help="Yes to everything, deleting included.")
@json_option
def command(without_asking: bool, as_json: bool) -> int:
    """Take Admit off this machine.

    Takes the entries of Admit out of every settings file that an init wrote, stops the daemon, and asks of
    each thing that Admit keeps whether to delete it. Nothing else is touched. Ends with 1 where a file could
    not be edited, with 2 where something could not be written or deleted; the rest is done all the same.
    """
    from admit.cli.init import show
    from admit.cli.selftest import write_events
    from admit.config.layers import load
    from admit.hosts import uninstall
    from admit.hosts.daemon import control
    from admit.hosts.daemon.places import socket_path

    config = load()
    changes, broken = uninstall.changes()
    files = [change.file.path for change in changes]
    asked = uninstall.deletions(config.values, files)
    if not as_json:
        for change in changes:
            show(change)
        for one in broken:
            click.echo(
                f"{one.path} cannot be edited: {one.why}. Take the lines with hook_client.py out yourself."
            )
        for deletion in asked:
            click.echo(
                f"Kept so far: {deletion.what} ({deletion.size_bytes:,} bytes): {', '.join(deletion.paths)}"
            )
        for path in uninstall.left_alone(config.values):
            click.echo(f"Not in Admit's own folders, so left alone: {path}")
    if not without_asking:
        if as_json:
            raise UsageError("nothing was done: with --json add --yes")
        must_ask("nothing was done")
        if changes and not yes("Take the entries out?", default=True):
            click.echo("Nothing was done.", err=True)
            return DONE
    refused = []
    for change in changes:
        try:
            change.apply()
        except SettingsError as error:
            refused.append(str(error))
            files.remove(change.file.path)
    if files:
        body = {"host": "claude-code", "files": files, "action": "uninstall"}
        try:
            write_events(config, "host.init", [body])
        except (OSError, LedgerError) as error:
            refused.append(f"the record cannot be written: {error}")
    stopped = control.stop(socket_path())
    deleted = []
    for deletion in uninstall.deletions(config.values, files, keep_list=bool(refused or broken)):
        question = f"Delete {deletion.what} ({deletion.size_bytes:,} bytes)?"
        if without_asking or yes(question):
            try:
                uninstall.delete(deletion)
            except OSError as error:
                name = os.fsdecode(error.filename or deletion.paths[0])
                fix = f"make {os.path.dirname(name)} writable for yourself, and run the command again"
                refused.append(f"{name}: cannot be deleted ({error.strerror}); {fix}")
                continue
            deleted.append(deletion)
    if as_json:
        print_json(
            {
                "schema": 1,
                "files": files,
                "broken": [one._asdict() for one in broken],
                "refused": refused,
                "daemon_stopped": stopped,
                "deleted": [one._asdict() for one in deleted],
                "left_alone": list(uninstall.left_alone(config.values)),
            }
        )
    else:
        done = [f"{len(files)} settings file{'' if len(files) == 1 else 's'} as before"]
        done += ["the daemon stopped"] if stopped else []
        done += [f"deleted: {one.what}" for one in deleted]
        click.echo(f"Done: {'; '.join(done)}. The package itself goes with pip uninstall admit.")
    for sentence in refused:
        click.echo(f"admit: {sentence}", err=True)
    return USAGE if refused else FINDING if broken else DONE
