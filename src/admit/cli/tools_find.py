"""`admit tools find` and `admit tools explain`: which tools a request is shown, and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from admit.cli.frame import DONE, FINDING, USAGE, json_option, print_json
from admit.cli.tools_gate import MEND, Opened, budget_options, needs_tools, open_gate

if TYPE_CHECKING:
    from admit.tools.model import Shortlist
    from admit.tools.policy import ToolPolicy

FORMS = ("openai", "openai-chat", "anthropic", "mcp")
NOTHING_FITS = ("none_fits", "no_match")

FIND_EXAMPLES = """\b
Examples:
  admit tools find "open an issue about the login test"
  admit tools find "open an issue" --max-tools 5
  admit tools find "open an issue" --as anthropic > tools.json
  admit tools find "open an issue" --judge jev"""


@click.command("find", short_help="Which tools a request is shown.", epilog=FIND_EXAMPLES)
@click.argument("query", metavar="QUERY")
@budget_options
@click.option("--as", "form", type=click.Choice(FORMS), help="Print the definitions as they are sent.")
@click.option("--judge", metavar="J", help="Ask this profile which of the first are needed.")
@click.option("--source", "sources", metavar="S", multiple=True, help="Only of this source; repeat.")
@json_option
def find(
    query: str,
    depth: str | None,
    max_tools: int | None,
    max_tokens: int | None,
    form: str | None,
    judge: str | None,
    sources: tuple[str, ...],
    as_json: bool,
) -> int:
    """Show which tools a request is shown: rank, score, the words that matched, schema tokens.

    Nothing is called, and no tool loses or gains the right to be.

    Exit code 1: no tool fits the request; 2: there are no tools.
    """
    wanted = depth or ("judge" if judge is not None else None)
    opened = open_gate(
        judge=judge,
        ask=_asks(wanted),
        depth=wanted,
        max_tools=max_tools,
        max_tokens=max_tokens,
        form=form or "openai",
    )
    try:
        found = opened.gate.find(query, sources=sources)
        _say(opened, found, form, as_json)
    finally:
        opened.close()
    if found.outcome == "empty_catalog":
        return USAGE
    return FINDING if found.outcome in NOTHING_FITS else DONE


@click.command(
    "explain",
    short_help="Why a tool stands where it does.",
    epilog='\b\nExample:\n  admit tools explain "open an issue" tracker/create_issue',
)
@click.argument("query", metavar="QUERY")
@click.argument("name", metavar="ID")
@budget_options
@json_option
def explain(
    query: str, name: str, depth: str | None, max_tools: int | None, max_tokens: int | None, as_json: bool
) -> int:
    """Explain the place of one tool: the parts of its score, what took it out, the cut, its neighbours.

    No judge is asked. It shows what an agent is told nothing of: tools that are off or not approved.
    """
    from admit.cli import tools_words

    opened = open_gate(depth=depth, max_tools=max_tools, max_tokens=max_tokens)
    needs_tools(opened.gate)
    found = opened.gate.explain(query, name)
    if as_json:
        print_json(tools_words.explained_json(found))
    else:
        click.echo("\n".join(tools_words.explained(found)))
    return DONE


def _asks(depth: str | None) -> bool:
    from admit.config.layers import load

    return (depth or load().values["tools.depth"]).lower() == "judge"


def _say(opened: Opened, found: Shortlist, form: str | None, as_json: bool) -> None:
    from admit.cli import tools_words
    from admit.tools.export import EXPORTERS

    order = opened.gate.policy.order_out
    export = EXPORTERS[form](found, order=order) if form is not None else None
    if as_json:
        value = tools_words.as_json(found)
        print_json(value if export is None else {**value, "export": export._asdict()})
        return
    said = [*_judge_words(opened, found), *_held_words(opened)]
    if found.outcome == "empty_catalog":
        said.append(_empty(opened))
    if export is not None:
        # Standard output is the definitions alone, for a program to read.
        click.echo(json.dumps(export.tools, ensure_ascii=True, indent=2, default=dict))
        said.append(f"{found.outcome}: {found.text}" if found.text else found.outcome)
    else:
        from admit.tools.tokens import counter

        budget = _budget(opened.gate.policy)
        click.echo("\n".join(tools_words.lines(found, counter(found.counter), budget)))
    for line in said:
        click.echo(f"admit: {line}", err=True)


def _budget(policy: ToolPolicy) -> str:
    if policy.depth in ("budget", "judge"):
        return f"{policy.depth}: at most {policy.max_tools:,} tools and {policy.max_tokens:,} tokens"
    return policy.depth


def _judge_words(opened: Opened, found: Shortlist) -> list[str]:
    """Why a judge's word was not used, with what to do."""
    why = found.reason if found.outcome == "fallback" else None
    shadow = found.decision.shadow if found.decision is not None and found.judge else None
    reason = opened.why_not or why or (f"shadow:{shadow}" if shadow else "")
    if not reason:
        return []
    from admit.cli.reasons import explained

    said = explained(opened.config, reason, found.judge or None, "tools")
    rest = "the shortlist is that of the budget"
    return [f"{said.sentence} So {rest}.", *([said.fix] if said.fix else [])]


def _held_words(opened: Opened) -> list[str]:
    """How many tools wait for an approval."""
    catalog = opened.gate.catalog
    if catalog.pins.finding is not None:
        return [f"{catalog.pins.finding}: its tools are held back. {catalog.pins.finding.fix}"]
    held = len(catalog.snapshot().held)
    return [f"{held:,} new or changed tools wait for an approval: admit tools diff"] if held else []


def _empty(opened: Opened) -> str:
    """Which sources are dead or empty, and what to do."""
    sources = opened.gate.catalog.snapshot().sources
    if not sources:
        return f"the catalog is empty; {MEND}"
    told = "; ".join(f"{name}: {one.cause or 'no tools'}" for name, one in sources.items())
    return f"no source is ready ({told}); admit tools refresh reads them again"
