"""`admit tools import`: what your clients' servers cost now, and what a request would be shown of them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from admit.cli.asking import yes
from admit.cli.frame import DONE, FINDING, counted, json_option, print_json
from admit.config.check import visible
from admit.errors import SourceError
from admit.text.table import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from admit.config.layers import Config
    from admit.tools.importing import Imported, Merged
    from admit.tools.model import Shortlist
    from admit.tools.route import Routes
    from admit.tools.tokens import Counter

HOSTS = ("claude-code", "codex", "cursor", "vscode")
NOT_ASKED = "not asked"
NOW_HEAD = ("client", "tools", "all definitions", "with its own search")
GAINED = (
    "Gained over a client's own search of tools: a counted budget, a judge, an answer that nothing fits, "
    "reasons,\n  history, pins, one record, and clients that have no search."
)
NOT_GAINED = (
    "Not gained: few or no further tokens where the client leaves definitions out already; the client's "
    "built-in tools;\n  and through a gateway each call is one hop more, where permissions per tool see "
    "call_tool alone."
)
EXAMPLES = """\b
Examples:
  admit tools import "open an issue about the login test"
  admit tools import --from claude-code --save
  admit tools import --save --yes "open an issue" --json"""


class Asked(NamedTuple):
    """One server, and what it answered; `cause` says why there is nothing."""

    one: Merged
    routes: Routes | None = None
    cause: str = ""


@click.command("import", short_help="Look at the servers of your clients.", epilog=EXAMPLES)
@click.argument("request", metavar="[REQUEST]", required=False)
@click.option("--from", "host", type=click.Choice(HOSTS), help="Only this client's.")
@click.option("--save", is_flag=True, help="Take them in: mcp.json beside your settings, and the catalog.")
@click.option("--yes", "without_asking", is_flag=True, help="Start them without asking.")
@json_option
def command(request: str | None, host: str | None, save: bool, without_asking: bool, as_json: bool) -> int:
    """Show the MCP servers of your clients, the schema tokens of their tools, and the shortlist of a request.

    The files of Claude Code, Codex, Cursor and VS Code are read and never changed. Servers are started once,
    after a question, to be asked for their tools; no tool is called.

    Exit code 1: there is no server, or none answered.
    """
    from admit.config.layers import load
    from admit.tools import importing
    from admit.tools.tokens import counter

    config = load()
    places = importing.found((host,) if host else HOSTS)
    every = importing.merged(places)
    if not as_json:
        _say_found(places, every)
    asked = _asked(config, every, without_asking, as_json)
    by = counter(config.values["tools.counter"])
    found = _shortlist(config, asked, request)
    saved, left = _saved(config, asked) if save else ([], [])
    if as_json:
        print_json(_json(places, asked, by, found, saved, left))
    else:
        _say(asked, by, found, request)
        _say_saved(saved, left, save, bool(every))
    return DONE if any(one.routes is not None or one.cause == NOT_ASKED for one in asked) else FINDING


def _asked(config: Config, every: Sequence[Merged], without_asking: bool, quiet: bool) -> list[Asked]:
    """What each server answers, all at once; nothing is started without a yes."""
    enabled = [one for one in every if not one.server.disabled]
    if enabled and not without_asking:
        at_terminal = sys.stdin.isatty() and sys.stderr.isatty() and not quiet
        if not at_terminal and not quiet:
            click.echo("There is no terminal to ask at, so none was started; --yes starts them.", err=True)
        if not at_terminal or not yes(f"Start {counted(len(enabled), 'server')}, to ask for their tools?"):
            return [Asked(one, cause="disabled" if one.server.disabled else NOT_ASKED) for one in every]
    import asyncio

    from admit.tools.opening import bounds_of
    from admit.tools.sources.mcp import from_mcp

    async def one_of(one: Merged) -> Asked:
        if one.server.disabled:
            return Asked(one, cause="disabled")
        try:
            return Asked(one, await from_mcp(one.server.name, one.server, bounds=bounds_of(config)))
        except SourceError as fault:
            return Asked(one, cause=fault.cause)

    async def all_of() -> list[Asked]:
        return list(await asyncio.gather(*map(one_of, every)))

    return asyncio.run(all_of())


def _shortlist(config: Config, asked: Sequence[Asked], request: str | None) -> Shortlist | None:
    """What the request would be shown of everything that answered; nothing of it is recorded."""
    if request is None or not any(one.routes for one in asked):
        return None
    from admit.tools.catalog import Catalog
    from admit.tools.opening import open_gate
    from admit.tools.servers import Servers

    catalog = Catalog()
    for one in asked:
        catalog.add(one.routes or (), by="import")
    servers = Servers(tuple(one.one.server for one in asked))
    return open_gate(config, catalog=catalog, servers=servers).find(request)


def _saved(config: Config, asked: Sequence[Asked]) -> tuple[list[str], list[str]]:
    """Take what answered in, and give the names of what was and what was not, each with the reason."""
    from admit.cli import tools_sources
    from admit.tools.configured import Definition, definitions
    from admit.tools.opening import own_catalog
    from admit.tools.servers import load as load_servers

    catalog = own_catalog(config)
    servers = load_servers()
    known = definitions(config, servers)
    saved: list[str] = []
    left: list[str] = []
    changed = {}
    for one in asked:
        server = one.one.server
        held = servers.get(server.name)
        if one.routes is None or not len(one.routes):
            left.append(f"{server.name}: {one.cause or 'gave no tool'}")
            continue
        if server.name in known and (held is None or held.spec() != server.spec()):
            left.append(f"{server.name}: another source has this name")
            continue
        if held is None:
            tools_sources.write_definition(Definition(server.name, "mcp", server))
        catalog.pins.consent(server.name, server.spec(), by="import")
        there = server.name in catalog.snapshot().sources
        changed[server.name] = (
            catalog.refresh(server.name, one.routes) if there else catalog.add(one.routes, by="import")
        )
        saved.append(server.name)
    if saved:
        tools_sources.save(catalog)
        tools_sources.record(config, catalog, changed)
    return saved, left


def _say_found(places: Sequence[Imported], every: Sequence[Merged]) -> None:
    from admit.tools import masks

    if every:
        rows = [
            (
                visible(one.server.name),
                ", ".join(one.hosts),
                visible("  ".join([masks.shown(one.server), *masks.settings(one.server)]), 120),
            )
            for one in every
        ]
        click.echo(table(rows, ("server", "of", "runs or connects to")))
    else:
        click.echo("No MCP server stands in the files of Claude Code, Codex, Cursor or VS Code.")
    for place in places:
        for text in (*([f"{place.path}: {place.problem}"] if place.problem else []), *place.findings):
            click.echo(f"admit: {visible(text, 300)}", err=True)


def _say(asked: Sequence[Asked], by: Counter, found: Shortlist | None, request: str | None) -> None:
    if not any(one.routes is not None for one in asked):
        for one in asked:
            click.echo(f"{visible(one.one.server.name)}: {visible(one.cause, 300)}")
        return
    rows = []
    for one in asked:
        count = "" if one.routes is None else f"{len(one.routes):,}"
        size = "" if one.routes is None else by.shown(_tokens(one.routes, by))
        rows.append((visible(one.one.server.name), count, size, visible(one.cause, 200)))
    from admit.cli.tools_words import lines, without_empty

    click.echo("\n" + without_empty(rows, ("server", "tools", "schema tokens", ""), (1, 2)))
    click.echo("\nTokens now:")
    click.echo(table(_now_rows(asked, by), NOW_HEAD, right=(1, 2, 3)))
    click.echo(f"{GAINED}\n{NOT_GAINED}")
    if found is not None:
        click.echo(f"\nFor {visible(request or '', 200)!r} an agent would be shown:")
        click.echo("\n".join(lines(found, by, "by the settings in force")))


def _say_saved(saved: Sequence[str], left: Sequence[str], save: bool, any_found: bool) -> None:
    if not save:
        if any_found:
            click.echo("Nothing was saved; --save takes the servers in.")
        return
    from admit.tools.servers import user_path

    if saved:
        click.echo(f"Saved {', '.join(saved)} in {user_path()}.")
        click.echo('Next: admit tools find "what you want done"')
    for text in left:
        click.echo(f"Not saved: {visible(text, 300)}")


def _now(asked: Sequence[Asked], by: Counter) -> list[dict[str, Any]]:
    """For each client, then for all: tools, tokens of all definitions, and with the client's own search."""
    from admit.tools.importing import deferred_tokens

    rows = []
    for host in dict.fromkeys(host for one in asked for host in one.one.hosts):
        own = [one for one in asked if host in one.one.hosts and one.routes is not None]
        names = {one.one.server.name: [route.name for route in one.routes or ()] for one in own}
        about = [one.routes.instructions for one in own if one.routes is not None and one.routes.instructions]
        deferred = deferred_tokens(host, names, about, by)
        rows.append({**_sum(host, own, by), "deferred": deferred})
    return [*rows, {**_sum("in all", asked, by), "deferred": None}]


def _sum(name: str, asked: Sequence[Asked], by: Counter) -> dict[str, Any]:
    routes = [route for one in asked for route in one.routes or ()]
    return {"client": name, "tools": len(routes), "schema_tokens": _tokens(routes, by)}


def _now_rows(asked: Sequence[Asked], by: Counter) -> list[list[str]]:
    rows = []
    for one in _now(asked, by):
        deferred = "unknown" if one["deferred"] is None else by.shown(one["deferred"])
        shown = "" if one["client"] == "in all" else deferred
        rows.append([one["client"], f"{one['tools']:,}", by.shown(one["schema_tokens"]), shown])
    return rows


def _tokens(routes: Any, by: Counter) -> int:
    from admit.tools.tokens import schema_tokens

    return schema_tokens(routes, by) if routes else 0


def _json(
    places: Sequence[Imported],
    asked: Sequence[Asked],
    by: Counter,
    found: Shortlist | None,
    saved: Sequence[str],
    left: Sequence[str],
) -> dict[str, Any]:
    from admit.cli.tools_words import as_json
    from admit.tools import masks

    return {
        "schema": 1,
        "places": [
            {
                "client": one.host,
                "path": one.path,
                "scope": one.scope,
                "servers": [server.name for server in one.servers],
                "problem": one.problem or None,
                "findings": list(one.findings),
            }
            for one in places
        ],
        "servers": [
            {
                "name": one.one.server.name,
                "clients": list(one.one.hosts),
                "runs": masks.shown(one.one.server),
                "settings": masks.settings(one.one.server),
                "tools": None if one.routes is None else len(one.routes),
                "schema_tokens": None if one.routes is None else _tokens(one.routes, by),
                "cause": one.cause or None,
            }
            for one in asked
        ],
        "now": _now(asked, by),
        "counter": by.name,
        "shortlist": as_json(found) if found is not None else None,
        "saved": list(saved),
        "left": list(left),
    }
