"""`admit tools diff` and `admit tools approve`: what is not as it was approved."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from admit.cli.asking import must_ask, yes
from admit.cli.frame import DONE, FINDING, counted, json_option, print_json
from admit.config.check import visible
from admit.errors import UnknownTool, UsageError

if TYPE_CHECKING:
    from admit.tools.catalog import Catalog
    from admit.tools.drift import Drift

_TEXT = 300


@click.command(
    "diff", short_help="What is not as it was approved.", epilog="\b\nExample:\n  admit tools diff tracker"
)
@click.argument("source", metavar="[S]", required=False)
@json_option
def diff(source: str | None, as_json: bool) -> int:
    """Show field by field how tools differ from what was approved of them.

    Exit code 1: some do.
    """
    catalog = _catalog(source)
    found = drifted(catalog, [source] if source else catalog.snapshot().sources)
    if as_json:
        print_json({"schema": 1, "drift": [_json(catalog, one) for one in found]})
    elif found:
        click.echo("\n".join(line for one in found for line in _lines(catalog, one)))
        what = f"{counted(len(found), 'tool')} not as approved"
        click.echo(f"{what}. To take them as they are: {_command(source)}")
    else:
        click.echo("Every tool of a source that is pinned is as it was approved.")
    return FINDING if found else DONE


@click.command(
    "approve",
    short_help="Take tools as they are.",
    epilog="\b\nExamples:\n  admit tools approve tracker\n  admit tools approve tracker tracker/create_issue",
)
@click.argument("source", metavar="[S]", required=False)
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--yes", "without_asking", is_flag=True, help="Approve without asking.")
@json_option
def approve(source: str | None, ids: tuple[str, ...], without_asking: bool, as_json: bool) -> int:
    """Take tools as they are now into what is approved; the difference is shown first.

    Without an ID all of the source that differ, without a source all of every one.

    Exit code 1: the answer was no.
    """
    catalog = _catalog(source)
    found = drifted(catalog, [source] if source else catalog.snapshot().sources)
    if ids:
        there = {one.route_id for one in found}
        unknown = [one for one in ids if one not in there and one not in catalog.snapshot().routes]
        if unknown:
            raise UnknownTool(unknown[0])
        found = [one for one in found if one.route_id in ids]
    if found and not as_json:
        click.echo("\n".join(line for one in found for line in _lines(catalog, one)))
    if found and not without_asking:
        if as_json:
            raise UsageError("nothing was approved: with --json add --yes")
        must_ask("nothing was approved")
        if not yes(f"Approve {counted(len(found), 'tool')}?"):
            click.echo("Nothing was approved.", err=True)
            return FINDING
    catalog.approve([one.route_id for one in found], by="approve")
    _record(catalog, found)
    if as_json:
        print_json({"schema": 1, "approved": [one.route_id for one in found]})
    else:
        click.echo(f"Approved {counted(len(found), 'tool')}." if found else "There is nothing to approve.")
    return DONE


def drifted(catalog: Catalog, sources: Iterable[str]) -> list[Drift]:
    """What is not as approved, of sources that are held to it or were approved once."""
    kept = [(name, one) for name in sources if (one := catalog.snapshot().sources.get(name)) is not None]
    pinned = [name for name, one in kept if one.drift == "hold" or catalog.pins.baseline(name)]
    return [drift for name in pinned for drift in catalog.diff(name)]


def _catalog(source: str | None) -> Catalog:
    from admit.tools.catalog import Catalog
    from admit.tools.catalog_file import catalog_path

    catalog = Catalog.load(catalog_path())
    if source is not None and source not in catalog.snapshot().sources:
        known = ", ".join(catalog.snapshot().sources) or "none"
        raise UsageError(f"there is no source {source!r}; there are: {known}")
    if catalog.pins.finding is not None:
        raise UsageError(f"{catalog.pins.finding}; {catalog.pins.finding.fix}")
    return catalog


def _lines(catalog: Catalog, one: Drift) -> list[str]:
    held = "held back" if one.route_id in catalog.snapshot().held else "in use"
    where = f", {held}" if one.state != "gone" else ""
    said = [f"{visible(one.route_id)}: {one.state}{where}"]
    for change in one.fields:
        said.append(f"  {visible(change.path or '/', 200)}")
        if change.old is not None:
            said.append(f"    - {visible(change.old, _TEXT)}")
        if change.new is not None:
            said.append(f"    + {visible(change.new, _TEXT)}")
    if one.state == "changed" and not one.fields:
        said.append("  what was approved is too large to be kept, so where it differs is not known")
    route = catalog.snapshot().routes.get(one.route_id)
    if one.state == "new" and route is not None and route.description:
        said.append(f"    + {visible(route.description, _TEXT)}")
    return said


def _json(catalog: Catalog, one: Drift) -> dict[str, object]:
    held = one.route_id in catalog.snapshot().held
    return {**one._asdict(), "fields": [change._asdict() for change in one.fields], "held": held}


def _command(source: str | None) -> str:
    return f"admit tools approve {source}" if source else "admit tools approve"


def _record(catalog: Catalog, found: list[Drift]) -> None:
    """Say in the record which tools were approved."""
    if not found:
        return
    from admit.cli.selftest import write_events
    from admit.config.layers import load

    body = {
        "ids": [one.route_id for one in found],
        "fingerprints": [one.new for one in found],
        "by": "approve",
    }
    write_events(load(), "tools.approved", [body])
