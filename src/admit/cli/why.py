"""`admit why`: one decision of any door, in one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from admit.cli import door as outputs_door
from admit.cli import judge_words, naming
from admit.cli.frame import DONE, FINDING, counted, json_option, print_json
from admit.ledger.moments import local
from admit.text.table import table

if TYPE_CHECKING:
    from admit.config.layers import Config
    from admit.ledger.port import DecisionView

DOORS = ("guidance", "tools", "outputs", "evidence")

# Doors whose `explain` gives the further lines and the cells: its module.
EXPLAINED: Mapping[str, str] = {"outputs": "admit.outputs.again"}

UNITS = {"count": "candidates", "chars": "characters", "tokens": "tokens", "artifacts": "artifacts"}
COLUMNS = ("", "candidate", "verdict", "reason", "p", "size")
NUMBERS = (0, 4, 5)

EXAMPLES = """\b
Examples:
  admit why --last
  admit why o_3f9a1c2b7d10
  admit why --last --door outputs --json"""


@click.command("why", epilog=EXAMPLES)
@click.argument("name", metavar="[ID]", required=False)
@click.option("--last", is_flag=True, help="The newest decision.")
@click.option("--door", type=click.Choice(DOORS), help="Only decisions of this door.")
@json_option
def command(name: str | None, last: bool, door: str | None, as_json: bool) -> int:
    """Explain one decision: what was decided, by which rule, and what it cost.

    ID is a decision's or an output's. Exit code 1: there is none.
    """
    naming.one_of(name, last)
    config = outputs_door.settings()
    place = outputs_door.open_place(config)
    view = naming.decided(place, name, door)
    if view is None:
        what = "no decision or output with this id" if name else "no decision yet"
        click.echo(f"admit: {what}{f' at the door {door}' if door else ''}; {naming.LIST}", err=True)
        return FINDING
    if as_json:
        print_json(_as_json(view, config))
    else:
        click.echo(explanation(view, config))
    return DONE


def explanation(view: DecisionView, config: Config) -> str:
    """The head line, why a judge's word was not used, the door's own lines, and its rows."""
    head: tuple[str, ...] = ()
    rows = tuple(_stored_rows(view))
    columns, numbers = COLUMNS, NUMBERS
    module = EXPLAINED.get(view.decision.door)
    if module is not None:
        from importlib import import_module

        explain = import_module(module)
        head, rows = explain.explain(view)
        columns, numbers = explain.COLUMNS, explain.NUMBERS
    lines = [_head(view), *_unused(view, config), *head]
    if rows:
        lines.append(table(rows, columns, right=numbers))
    return "\n".join(lines)


def _head(view: DecisionView) -> str:
    row = view.decision
    when = local(row.ts_ms)
    parts = [row.door, f"{when:%Y-%m-%d %H:%M:%S %Z}", naming.status_words(row)]
    parts += [f"reason {row.reason}"] if row.reason else []
    parts += [f"mode {row.mode}"] if row.mode != "enforce" else []
    parts += [f"cap {row.cap:,} {UNITS[row.unit]}"] if row.cap is not None else []
    parts.append(_judge(view))
    parts += [f"{row.elapsed_ms:,.0f} ms"] if row.elapsed_ms is not None else []
    return " · ".join(parts)


def _unused(view: DecisionView, config: Config) -> list[str]:
    """Why a judge's word was not used, in a sentence, with what is known of it and the fix."""
    reason = naming.unused(view.decision)
    if not reason:
        return []
    from admit.cli.reasons import details, explained

    row = view.decision
    said = explained(config, reason, row.profile, row.door)
    lines = [said.sentence, *details(config, reason, row.profile, view.events)]
    return [*lines, f"    {said.fix}"] if said.fix else lines


def _judge(view: DecisionView) -> str:
    if not view.calls:
        return f"judge {view.decision.profile}, no request" if view.decision.profile else "no judge"
    unsent = sum(call.sent == "no" and call.reason is not None for call in view.calls)
    asked = [call for call in view.calls if call.sent != "no" or call.reason is None]
    parts = [f"judge {view.decision.profile or 'unnamed'}", counted(len(asked), "request")]
    parts += [f"{unsent:,} not sent"] if unsent else []
    return ", ".join([*parts, judge_words.cost(asked)] if asked else parts)


def _stored_rows(view: DecisionView) -> list[tuple[str, ...]]:
    verdicts = {verdict.ord: verdict for verdict in view.verdicts}
    rows = []
    for candidate in view.candidates:
        verdict = verdicts.get(candidate.ord)
        value = None
        if verdict is not None:
            value = verdict.expectation if verdict.expectation is not None else next(iter(verdict.p), None)
        rows.append(
            (
                f"{candidate.ord}",
                candidate.candidate_id,
                verdict.verdict if verdict is not None else "",
                (verdict.reason or "") if verdict is not None else "",
                "" if value is None else f"{value:.3f}",
                "" if candidate.size is None else f"{candidate.size:,}",
            )
        )
    return rows


def _as_json(view: DecisionView, config: Config) -> dict[str, Any]:
    said = _unused(view, config)
    value = {
        "schema": 1,
        "unused": {"reason": naming.unused(view.decision), "lines": said} if said else None,
        "decision": view.decision._asdict(),
        "candidates": [row._asdict() for row in view.candidates],
        "verdicts": [row._asdict() for row in view.verdicts],
        "calls": [row._replace(reply=None)._asdict() for row in view.calls],
        "events": [{"type": event.type, "body": event.body} for event in view.events],
        "output": view.output._asdict() if view.output is not None else None,
        "recalls": [row._asdict() for row in view.recalls],
    }
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value
