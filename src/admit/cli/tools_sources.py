"""`admit tools add`, `refresh` and `remove`: where tools come from."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from admit.cli.asking import must_ask, yes
from admit.cli.frame import DONE, FINDING, counted, json_option, print_json
from admit.cli.tools_drift import drifted
from admit.config.check import visible
from admit.errors import SourceError, UsageError

if TYPE_CHECKING:
    from admit.config.layers import Config
    from admit.tools.catalog import Catalog
    from admit.tools.configured import Definition
    from admit.tools.servers import Servers
    from admit.tools.snapshot import Changes, DriftRule

RUNNERS = frozenset(
    (
        "npx",
        "bunx",
        "uvx",
        "uv",
        "pipx",
        "node",
        "deno",
        "bun",
        "python",
        "python3",
        "docker",
        "podman",
        "run",
    )
)
KINDS = ("mcp", "openapi", "python", "json")

ADD_EXAMPLES = """\b
Examples:
  admit tools add mcp "npx -y @modelcontextprotocol/server-github" --name github
  admit tools add mcp https://mcp.example.org/mcp --name docs
  admit tools add openapi petstore.yaml
  admit tools add python billing.tools:invoice
  admit tools add json tools.json --name mine --yes"""


@click.command("add", short_help="Take a source of tools in.", epilog=ADD_EXAMPLES)
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("target", metavar="COMMAND|URL|FILE|MODULE:NAME")
@click.option("--name", metavar="N", help="What it is called; else a name is made of the target.")
@click.option("--yes", "without_asking", is_flag=True, help="Run or read it without asking.")
@json_option
def add(kind: str, target: str, name: str | None, without_asking: bool, as_json: bool) -> int:
    """Take a source in: what will be run or read is shown, then asked once, then its tools are stored.

    Its tools as they are now are approved by that. An MCP server is written to mcp.json beside your
    settings, with variables such as ${TOKEN} left as they stand; any other source to your settings.
    """
    from admit.tools.servers import Server

    config, catalog, servers = _opened()
    made = _definition(kind, target, name)
    if made.name in catalog.snapshot().sources or made.name in _known(config, servers):
        raise UsageError(
            f"there is a source {made.name} already: give another --name, or admit tools refresh {made.name}"
        )
    if not as_json:
        click.echo(f"{made.name} {made.told}", err=True)
    _agree(without_asking, "nothing was added", "Run or read it, and take its tools in as they are?")
    routes = _read(config, made)
    if not routes:
        raise SourceError(made.name, "gave no tool, so nothing was added")
    write_definition(made)
    if isinstance(made.target, Server):
        catalog.pins.consent(made.name, made.target.spec(), by="add")
    changes = catalog.add(routes, drift=drift_rule(config, made), by="add")
    save(catalog)
    record(config, catalog, {made.name: changes})
    _say_added(config, made, len(changes.added), len(routes.problems), catalog, as_json)
    return DONE


@click.command(
    "refresh", short_help="Read sources again.", epilog="\b\nExample:\n  admit tools refresh tracker"
)
@click.argument("names", metavar="[S]...", nargs=-1)
@click.option("--yes", "without_asking", is_flag=True, help="Run what was never run without asking.")
@json_option
def refresh(names: tuple[str, ...], without_asking: bool, as_json: bool) -> int:
    """Read sources again, every one where none is named. What fails keeps its tools, marked as down.

    A server of mcp.json that was never read is asked about, and taken in.

    Exit code 1: a source failed, or a tool is not as it was approved.
    """
    config, catalog, servers = _opened()
    known = _known(config, servers)
    wanted = names or tuple(dict.fromkeys((*catalog.snapshot().sources, *known)))
    missing = [one for one in wanted if one not in known]
    if names and missing:
        raise UsageError(f"there is no source {missing[0]!r}; there are: {', '.join(known) or 'none'}")
    rows: list[dict[str, Any]] = []
    changed: dict[str, Changes] = {}
    for name in wanted:
        rows.append(_refreshed(config, catalog, known.get(name), name, without_asking, changed))
    save(catalog)
    record(config, catalog, changed)
    drift = drifted(catalog, wanted)
    held = sum(1 for one in drift if one.route_id in catalog.snapshot().held)
    if as_json:
        print_json({"schema": 1, "sources": rows, "drift": len(drift), "held": held})
    else:
        for row in rows:
            click.echo(_row_words(row))
        if drift:
            kept = f", {held:,} of them held back" if held else ""
            click.echo(f"{counted(len(drift), 'tool')} not as approved{kept}: admit tools diff")
    return FINDING if drift or any(row["cause"] for row in rows) else DONE


@click.command(
    "remove", short_help="Take a source out.", epilog="\b\nExample:\n  admit tools remove tracker --yes"
)
@click.argument("name", metavar="S")
@click.option("--yes", "without_asking", is_flag=True, help="Remove it without asking.")
@json_option
def remove(name: str, without_asking: bool, as_json: bool) -> int:
    """Take a source out, with its tools, its approvals, and its entry in your files."""
    config, catalog, servers = _opened()
    known = _known(config, servers)
    if name not in catalog.snapshot().sources and name not in known:
        raise UsageError(f"there is no source {name!r}; there are: {', '.join(known) or 'none'}")
    if not as_json:
        count = len(catalog.snapshot().of(name))
        click.echo(f"{name} goes with {counted(count, 'tool')} and its approvals.", err=True)
    _agree(without_asking, "nothing was removed", "Remove it?")
    left = _unwrite(config, servers, name)
    gone = catalog.remove_source(name)
    save(catalog)
    if as_json:
        print_json({"schema": 1, "source": name, "tools": gone, "left": left or None})
    else:
        click.echo(f"Removed {name} with {counted(gone, 'tool')}.{f' {left}' if left else ''}")
    return DONE


def write_definition(made: Definition) -> None:
    """Write a source to the file where its kind stands, and the consent to run it where it is a server.

    Raises:
        ConfigError: The file cannot be edited.
        OSError: It cannot be written.
    """
    from admit.tools import servers
    from admit.tools.configured import is_url
    from admit.tools.importing import row_of

    if isinstance(made.target, servers.Server):
        path = servers.user_path()
        text = servers.read_text(path, servers.MOST_BYTES) or ""
        servers.save(path, servers.added(text, made.name, row_of(made.target)))
        return
    from admit.config import edit, layers

    key = "url" if is_url(made.target) else "path"
    for field, value in (("kind", made.kind), (key, made.target)):
        before = layers.load(project=False)
        file = next((file for file in before.files if file.layer == "user"), None)
        edit.write(file, layers.user_file()[0], f"tools.sources.{made.name}.{field}", value)


def drift_rule(config: Config, made: Definition) -> DriftRule:
    """What becomes of new and changed tools of a source; a project's file loosens nothing."""
    from admit.tools.servers import Server
    from admit.tools.snapshot import HOLD

    if isinstance(made.target, Server):
        return "trust" if made.target.own.get("pins") == "off" and not made.target.project else "hold"
    return config.values.get(f"tools.sources.{made.name}.drift") or HOLD[made.kind]


def name_of(kind: str, target: str) -> str:
    """A name for a source, of what it is read from: at most 32 characters of ``[A-Za-z0-9_-]``."""
    from admit.tools.names import clean
    from admit.tools.servers import LONGEST_KEY

    if target.startswith(("http://", "https://")):
        word = re.sub(r"^(www|api|mcp)\.", "", target.split("//", 1)[1].split("/")[0].split(":")[0])
        word = word.split(".")[0]
    elif kind == "python":
        word = target.partition(":")[0].rpartition(".")[2]
    elif kind == "mcp":
        words = (os.path.basename(one) for one in target.split() if not one.startswith("-"))
        word = next((one for one in words if one not in RUNNERS), "")
        word = os.path.splitext(word.partition("@")[0])[0]
        word = re.sub(r"^(mcp-)?server-|[-_]mcp([-_]server)?$", "", word)
    else:
        word = os.path.splitext(os.path.basename(target))[0]
    return clean(word)[:LONGEST_KEY].strip("_") or kind


def _definition(kind: str, target: str, name: str | None) -> Definition:
    import shlex

    from admit.config.keys import find
    from admit.tools.configured import Definition, is_url
    from admit.tools.servers import LONGEST_KEY, Server

    chosen = name if name is not None else name_of(kind, target)
    if find(f"tools.sources.{chosen}.kind") is None or len(chosen) > LONGEST_KEY:
        takes = f"--name takes letters, digits, - and _, at most {LONGEST_KEY}"
        raise UsageError(f"{takes}, not {visible(chosen)!r}")
    if kind == "mcp":
        if is_url(target):
            return Definition(chosen, "mcp", Server(chosen, "http", url=target))
        try:
            words = shlex.split(target)
        except ValueError as fault:
            raise UsageError(f"the command cannot be read ({fault}); quote it as for a shell") from None
        if not words:
            raise UsageError('the command is empty; for example: admit tools add mcp "npx -y some-server"')
        return Definition(chosen, "mcp", Server(chosen, "stdio", words[0], tuple(words[1:])))
    where = target if kind == "python" or is_url(target) else os.path.abspath(os.path.expanduser(target))
    return Definition(chosen, kind, where)  # type: ignore[arg-type]


def _opened() -> tuple[Config, Catalog, Servers]:
    from admit.config.layers import load
    from admit.tools.opening import own_catalog
    from admit.tools.servers import load as load_servers

    config = load()
    return config, own_catalog(config), load_servers()


def _known(config: Config, servers: Servers) -> dict[str, Definition]:
    from admit.tools.configured import definitions

    return definitions(config, servers)


def _read(config: Config, made: Definition) -> Any:
    from admit.tools import configured
    from admit.tools.opening import bounds_of

    if made.kind == "python":
        sys.path.insert(0, os.getcwd())  # as `python -m` has it
    return configured.read(made, bounds_of(config))


def _agree(without_asking: bool, what: str, question: str) -> None:
    """Ask once.

    Raises:
        UsageError: There is nobody to ask.
        click.exceptions.Exit: The answer was no.
    """
    if without_asking:
        return
    must_ask(what)
    if not yes(question):
        click.echo(f"{what[:1].upper()}{what[1:]}.", err=True)
        raise click.exceptions.Exit(FINDING)


def save(catalog: Catalog) -> None:
    """Write the user's catalog."""
    from admit.tools.catalog_file import catalog_path

    catalog.save(catalog_path())


def record(config: Config, catalog: Catalog, changed: Mapping[str, Changes]) -> None:
    """Say in the record what became of sources, by name."""
    from admit.cli.selftest import write_events

    snapshot = catalog.snapshot()
    bodies = [
        {
            "source": name,
            "added": list(one.added),
            "removed": list(one.removed),
            "changed": list(one.replaced),
            "new": [id for id in one.added if snapshot.held.get(id) == "new"],
            "problems": [problem.code for problem in one.problems],
            "stale_since": snapshot.sources[name].stale_since_ms if name in snapshot.sources else None,
        }
        for name, one in changed.items()
    ]
    if bodies:
        write_events(config, "tools.catalog", bodies)


def _refreshed(
    config: Config,
    catalog: Catalog,
    made: Definition | None,
    name: str,
    without_asking: bool,
    changed: dict[str, Changes],
) -> dict[str, Any]:
    """Read one source again, and give what became of it."""
    from admit.tools.servers import Server

    row: dict[str, Any] = {"name": name, "tools": 0, "added": 0, "changed": 0, "removed": 0, "cause": None}
    there = name in catalog.snapshot().sources
    if made is None:
        row["cause"] = f"is in no file any more; admit tools remove {name} takes its tools out"
        if there:
            catalog.failed(name, row["cause"])
        return row
    server = made.target if isinstance(made.target, Server) else None
    unasked = server is not None and server.project and not catalog.pins.consented(name, server.spec())
    if not there or unasked:
        click.echo(f"{name} {made.told}", err=True)
        _agree(without_asking, f"{name} was not read", "Run or read it, and take its tools in as they are?")
        if server is not None:
            catalog.pins.consent(name, server.spec(), by="refresh")
    try:
        routes = _read(config, made)
    except SourceError as fault:
        row["cause"] = fault.cause
        if there:
            catalog.failed(name, fault.cause)
        return row
    changed[name] = changes = catalog.refresh(name, routes) if there else catalog.add(routes, by="refresh")
    if routes and (rule := drift_rule(config, made)) != catalog.snapshot().sources[name].drift:
        catalog.add(routes, drift=rule)
    empty = [one.text for one in changes.problems if one.code == "source_empty"]
    row["cause"] = empty[0] if empty else None
    counts = {"added": len(changes.added), "changed": len(changes.replaced), "removed": len(changes.removed)}
    return row | counts | {"tools": len(catalog.snapshot().of(name))}


def _row_words(row: dict[str, Any]) -> str:
    if row["cause"]:
        return f"{row['name']}: {visible(row['cause'], 300)}"
    said = [f"{row[word]:,} {word}" for word in ("added", "changed", "removed") if row[word]]
    return f"{row['name']}: {counted(row['tools'], 'tool')}, {', '.join(said) or 'nothing changed'}"


def _unwrite(config: Config, servers: Servers, name: str) -> str:
    """Take a source out of the file where it stands; a sentence where that is left to the user."""
    from admit.config import edit
    from admit.tools import servers as files

    server = servers.get(name)
    if server is not None and server.path != files.user_path():
        return f"{server.path} still names it; that file is the project's."
    if server is not None:
        text = files.read_text(server.path, files.MOST_BYTES) or ""
        files.save(server.path, files.removed(text, name))
    elif any(key.startswith(f"tools.sources.{name}.") for key in config.values):
        file = next((file for file in config.files if file.layer == "user"), None)
        if file is not None:
            edit.remove(file, f"tools.sources.{name}")
    return ""


def _say_added(
    config: Config, made: Definition, count: int, problems: int, catalog: Catalog, as_json: bool
) -> None:
    from admit.tools.tokens import counter, schema_tokens

    by = counter(config.values["tools.counter"])
    size = schema_tokens(catalog.snapshot().of(made.name), by)
    if as_json:
        tokens = {"n": size, "counter": by.name}
        value = {"source": made.name, "kind": made.kind, "tools": count, "problems": problems}
        print_json({"schema": 1, **value, "schema_tokens": tokens})
        return
    click.echo(f"Added {made.name}: {counted(count, 'tool')}, {by.shown(size)} schema tokens ({by.name}).")
    if problems:
        click.echo(f"{counted(problems, 'problem')}: admit tools list --problems")
    click.echo('Next: admit tools find "what you want done"')
