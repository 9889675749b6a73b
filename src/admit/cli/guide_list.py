"""`admit guide list` and `admit guide show`: the snippets in force, and one in full."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from admit.cli.frame import DONE, counted, json_option, print_json
from admit.cli.guide_gate import CWD, HOST, host_of, open_gate
from admit.config.check import visible
from admit.errors import UnknownSnippet
from admit.text.plain import plain
from admit.text.table import table

if TYPE_CHECKING:
    from admit.guidance.gate import GuidanceGate
    from admit.guidance.model import Snippet, Trigger


@click.command("list", short_help="The snippets in force.", epilog="\b\nExample:\n  admit guide list --json")
@CWD
@HOST
@json_option
def list_command(cwd: str | None, host: str | None, as_json: bool) -> int:
    """List every snippet with its root and triggers, what is turned off, and what is shadowed."""
    gate = _opened(cwd, host)
    index = gate.library.guidance
    if as_json:
        from admit.cli.guide_words import searched_json

        print_json(
            {
                "schema": 1,
                "snippets": [snippet_json(one) for one in index.snippets],
                "disabled": [snippet_json(one) for one in index.disabled],
                "shadowed": [{"id": id, "path": path} for id, path in index.shadowed],
                "searched": [searched_json(one) for one in index.searched],
                "findings": [one._asdict() for one in gate.findings],
            }
        )
        return DONE
    rows = [(*_row(one), "") for one in index.snippets] + [(*_row(one), "off") for one in index.disabled]
    if rows:
        click.echo(table(rows, ("id", "root", "source", "set off by", "when", "")))
    else:
        click.echo("No guidance is loaded. admit guide starter lists a pack to begin with.")
    for id, path in index.shadowed:
        click.echo(f"Shadowed: {visible(id)} of {visible(path, 400)}")
    if gate.findings:
        click.echo(f"{counted(len(gate.findings), 'finding')}: admit guide lint", err=True)
    return DONE


@click.command(
    "show", short_help="One snippet in full.", epilog="\b\nExample:\n  admit guide show testing/flaky"
)
@click.argument("name", metavar="ID")
@CWD
@HOST
@json_option
def show_command(name: str, cwd: str | None, host: str | None, as_json: bool) -> int:
    """Print one snippet: its file, triggers, what a judge reads of it, and its body as an agent sees it.

    Characters that cannot be seen, such as a terminal's commands, are left out; --json has them.
    """
    from admit.guidance.ask import subject
    from admit.guidance.render import render

    gate = _opened(cwd, host)
    index = gate.library.guidance
    snippet = next((one for one in (*index.snippets, *index.disabled) if one.id == name), None)
    if snippet is None:
        raise UnknownSnippet(name)
    read = subject(snippet, gate.settings.max_description_chars)
    unit = render(snippet, gate.settings.budget)
    shown = unit.text if unit is not None else None
    off = any(one.id == name for one in index.disabled)
    hidden = [path for id, path in index.shadowed if id == name]
    if as_json:
        value = snippet_json(snippet) | {"off": off, "hides": hidden, "judge_reads": read, "shown_as": shown}
        print_json({"schema": 1, **value})
        return DONE
    facts = {
        "file": snippet.path,
        "root": f"{snippet.root}, {snippet.source}",
        "hides": ", ".join(hidden),
        "off": "guidance.disable turns it off" if off else "",
        "scope": ", ".join(sorted(snippet.scope)),
        "refire": f"{snippet.refire:g} of the window" if snippet.refire else "every time",
        "size": f"{unit.units:,} UTF-16 units" if unit is not None else "nothing to show",
        "set off by": ("; ".join(map(_trigger, snippet.triggers)) or "nothing")
        + (" (strict: not judged)" if snippet.strict else ""),
        "when": _when(snippet),
        "judge reads": read.replace("\n", ": "),
    }
    click.echo(visible(snippet.id))
    for label, fact in facts.items():
        if fact:
            click.echo(f"  {label:<12} {visible(fact, 1000)}")
    if shown is not None:
        click.echo(f"\n{plain(shown)}")
    return DONE


def snippet_json(one: Snippet) -> dict[str, Any]:
    """The JSON object of one snippet, without its body."""
    return {
        "id": one.id,
        "kind": one.kind,
        "source": one.source,
        "root": one.root,
        "path": one.path,
        "title": one.title,
        "description": one.description,
        "triggers": [trigger._asdict() for trigger in one.triggers],
        "scope": sorted(one.scope),
        "when": one.when._asdict() if one.when is not None else None,
        "refire": one.refire,
        "strict": one.strict,
        "chars": one.chars,
        "digest": one.digest,
    }


def _opened(cwd: str | None, host: str | None) -> GuidanceGate:
    from admit.config.layers import load

    folder = os.path.abspath(cwd or os.getcwd())
    return open_gate(load(folder), folder, host_of(host))


def _row(one: Snippet) -> tuple[str, ...]:
    kinds = ", ".join(dict.fromkeys(trigger.kind for trigger in one.triggers)) or "nothing"
    return visible(one.id), one.root, one.source, kinds, visible(one.description, 60)


def _trigger(one: Trigger) -> str:
    if one.kind == "semantic":
        return "its meaning"
    value = f" {one.value}" if one.value is not None else ""
    return f"{one.kind} {one.text}{value}"


def _when(one: Snippet) -> str:
    if one.when is None:
        return ""
    parts = [f"in {one.when.project}"] if one.when.project else []
    parts += [f"a file matches {one.when.file_exists}"] if one.when.file_exists else []
    return ", ".join(parts)
