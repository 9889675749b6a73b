"""`admit tools list`: the catalog with states, schema tokens and problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from admit.cli.frame import DONE, counted, json_option, print_json
from admit.cli.tools_gate import MEND
from admit.config.check import visible
from admit.errors import UsageError
from admit.text.table import table

if TYPE_CHECKING:
    from admit.tools.catalog import Catalog
    from admit.tools.model import Route
    from admit.tools.snapshot import Snapshot

EXAMPLES = """\b
Examples:
  admit tools list
  admit tools list --source tracker --tokens
  admit tools list --problems"""
_ID = 70


@click.command("list", short_help="The tools, their states and sizes.", epilog=EXAMPLES)
@click.option("--source", metavar="S", help="Only of this source.")
@click.option("--problems", is_flag=True, help="What is wrong with tools and sources, instead.")
@click.option("--tokens", "by_size", is_flag=True, help="The largest first, and the sum of each source.")
@json_option
def command(source: str | None, problems: bool, by_size: bool, as_json: bool) -> int:
    """List every tool with its state and the schema tokens of its definition; then the sum.

    \b
    ready     found by requests
    new       not there when its source was approved: held back
    changed   not as it was approved: held back
    off       denied by allow and deny, or its source is disabled
    down      its source could not be read; stale until it can
    """
    from admit.config.layers import load
    from admit.tools.opening import globs_of, own_catalog
    from admit.tools.servers import load as load_servers
    from admit.tools.tokens import counter, route_tokens, schema_tokens

    config = load()
    catalog = own_catalog(config)
    snapshot = catalog.snapshot()
    if source is not None and source not in snapshot.sources:
        known = ", ".join(snapshot.sources) or "none"
        raise UsageError(f"there is no source {source!r}; there are: {known}")
    chosen = [one for one in snapshot.routes.values() if source in (None, one.source)]
    if problems:
        return _problems(snapshot, source, as_json)
    by = counter(config.values["tools.counter"])
    globs = globs_of(config, load_servers())
    off = {one.id for one in chosen if one.source in globs and globs[one.source].denies(one)}
    sizes = {one.id: route_tokens(one, by) for one in chosen}
    states = {one.id: _state(snapshot, one, off) for one in chosen}
    whole = schema_tokens(chosen, by) if chosen else 0
    order = sorted(chosen, key=lambda one: (-sizes[one.id], one.id)) if by_size else chosen
    sums = {
        name: (sum(sizes[one.id] for one in chosen if one.source == name), len(snapshot.of(name)))
        for name in snapshot.sources
        if source in (None, name)
    }
    if as_json:
        rows = [{"id": one.id, "state": states[one.id], "tokens": sizes[one.id]} for one in order]
        sources = [
            {**_source_json(name, one), "tools": sums[name][1], "tokens": sums[name][0]}
            for name, one in snapshot.sources.items()
            if name in sums
        ]
        total = {"tools": len(chosen), "schema_tokens": {"n": whole, "counter": by.name}}
        print_json({"schema": 1, "tools": rows, "sources": sources, "total": total, **_revision(catalog)})
        return DONE
    if not chosen:
        click.echo(f"There are no tools here; {MEND}")
        return DONE
    rows = [(visible(one.id, _ID), states[one.id], by.shown(sizes[one.id])) for one in order]
    click.echo(table(rows, ("tool", "state", "tokens"), right=(2,)))
    if by_size:
        parts = [(name, f"{count:,}", by.shown(size)) for name, (size, count) in sums.items()]
        click.echo("\n" + table(parts, ("source", "tools", "tokens"), right=(1, 2)))
    _foot(snapshot, sums)
    total = f"{counted(len(chosen), 'tool')} of {counted(len(sums), 'source')}"
    click.echo(f"{total}, {by.shown(whole)} schema tokens ({by.name}) if all were shown")
    return DONE


def _foot(snapshot: Snapshot, sums: dict[str, tuple[int, int]]) -> None:
    """What is to be done, before the sum."""
    from admit.ledger.moments import local

    for name, one in snapshot.sources.items():
        if name in sums and one.stale_since_ms is not None:
            state = "down" if one.cause else "stale"
            why = one.cause or "it answered without a tool; those of before stay in use"
            since = f"{local(one.stale_since_ms):%Y-%m-%d %H:%M}"
            click.echo(f"{name} is {state} since {since}: {visible(why, 200)}")
    count = sum(len(one.problems) for name, one in snapshot.sources.items() if name in sums)
    if count:
        click.echo(f"{counted(count, 'problem')}: admit tools list --problems")
    held = sum(1 for id in snapshot.held if snapshot.routes[id].source in sums)
    if held:
        click.echo(f"{counted(held, 'tool')} held back until approved: admit tools diff")


def _problems(snapshot: Snapshot, source: str | None, as_json: bool) -> int:
    found = [
        one for name, held in snapshot.sources.items() if source in (None, name) for one in held.problems
    ]
    if as_json:
        print_json({"schema": 1, "problems": [one._asdict() for one in found]})
    elif found:
        rows = [(one.source, visible(one.tool, _ID), one.code, visible(one.text, 120)) for one in found]
        click.echo(table(rows, ("source", "tool", "code", "what it means")))
    else:
        click.echo("Nothing was wrong when the sources were last read.")
    return DONE


def _state(snapshot: Snapshot, route: Route, off: set[str]) -> str:
    if route.id in off:
        return "off"
    source = snapshot.sources[route.source]
    return snapshot.held.get(route.id) or ("down" if source.cause else "ready")


def _source_json(name: str, source: Any) -> dict[str, Any]:
    return {
        "name": name,
        "kind": source.kind,
        "drift": source.drift,
        "cause": source.cause or None,
        "stale_since_ms": source.stale_since_ms,
        "problems": len(source.problems),
    }


def _revision(catalog: Catalog) -> dict[str, str]:
    return {"catalog_revision": catalog.revision}
