"""`admit tools eval`: how well the order and the depths do on requests of known need."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from admit.cli.frame import DONE, json_option, print_json
from admit.cli.tools_gate import needs_tools, open_gate
from admit.config.check import visible
from admit.errors import UsageError
from admit.text.table import table

if TYPE_CHECKING:
    from admit.tools.evaluate import Figures, Scored, Share

HEAD = ("requests", "cut", "n", "recall", "95 %", "all of it", "95 %", "shown", "p95", "tokens", "per 1,000",
        "missed: level", "below", "none shown")  # fmt: skip
EXAMPLES = """\b
Examples:
  admit tools eval --queries rows.jsonl
  admit tools eval --queries rows.jsonl --catalog tools.json --depth budget,cover"""


@click.command("eval", short_help="Score requests of known need.", epilog=EXAMPLES)
@click.option("--catalog", "catalog_file", metavar="F", help="A JSON list of tools; else your own catalog.")
@click.option("--queries", metavar="F", required=True, help="Requests, one JSON object a line.")
@click.option(
    "--depth", "depths", metavar="D,…", default="budget", show_default=True, help="Depths of the door."
)
@click.option(
    "--k", "ks", metavar="K,…", default="1,3,5,10", show_default=True, help="Fixed places of the order."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the intervals.")
@click.option("--misses", is_flag=True, help="Name the requests whose tools are missed at the first depth.")
@json_option
def command(
    catalog_file: str | None,
    queries: str,
    depths: str,
    ks: str,
    seed: int,
    misses: bool,
    as_json: bool,
) -> int:
    """Hold the gate against requests whose needed tools are known; nothing is recorded.

    \b
    A row        {"id": "1", "query": "…", "required": ["source/name"]}, with
                 "stratum" and "language" where you like; no id: no tool fits
    recall       share of the needed tools that are shown
    all of it    share of the requests that are shown every one
    per 1,000    recall for each 1,000 schema tokens
    missed       level: its score is that of the last one shown; below: lower
    none shown   share of the requests without a fitting tool shown none
    """
    from admit.tools import evaluate
    from admit.tools.policy import checked

    words = [checked(word) for word in depths.split(",") if word.strip()]
    places = _places(ks)
    rows = evaluate.read_queries(_text(queries), queries)
    catalog = None
    if catalog_file is not None:
        name = os.path.splitext(os.path.basename(catalog_file))[0]
        catalog = evaluate.read_catalog(_text(catalog_file), name)
    opened = open_gate(catalog=catalog, ask="judge" in words, record=False)
    needs_tools(opened.gate)
    try:
        scored = evaluate.evaluate(opened.gate, rows, depths=words, ks=places)
    finally:
        opened.close()
    found = evaluate.figures(scored, seed=seed)
    if as_json:
        value = {"catalog_revision": opened.gate.catalog.revision, "counter": opened.gate.policy.counter}
        print_json({"schema": 1, **value, "seed": seed, "figures": [_json(one) for one in found]})
        return DONE
    if opened.why_not:
        click.echo(f"admit: no judge is asked: {opened.why_not}; judge is the budget then", err=True)
    said = [_row(one) for one in found]
    kept = [k for k in range(len(HEAD)) if any(row[k] for row in said)]
    right = [place for place, k in enumerate(kept) if k > 1]
    click.echo(table([[row[k] for k in kept] for row in said], [HEAD[k] for k in kept], right=right))
    if misses and words:
        _say_misses(scored, words[0])
    return DONE


def _places(ks: str) -> list[int]:
    words = [word.strip() for word in ks.split(",") if word.strip()]
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise UsageError(f"--k takes numbers from 1, such as 1,3,10, not {visible(ks)!r}")
    return [int(word) for word in words]


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8") from None
    except OSError as fault:
        raise UsageError(f"{path} cannot be read: {fault.strerror}") from None


def _row(one: Figures) -> list[str]:
    return [
        visible(one.group, 40),
        one.cut,
        f"{one.n:,}",
        *_share(one.recall),
        *_share(one.coverage),
        f"{one.shown:.1f}",
        f"{one.shown_p95:,}",
        "" if one.tokens is None else f"{one.tokens:,.0f}",
        "" if one.per_1000 is None else f"{one.per_1000:.2f}",
        f"{one.level:,}" if one.recall is not None else "",
        f"{one.below:,}" if one.recall is not None else "",
        "" if one.none_shown is None else f"{one.none_shown:.0%}",
    ]


def _share(one: Share | None) -> tuple[str, str]:
    return ("", "") if one is None else (f"{one.value:.3f}", f"{one.low:.3f}-{one.high:.3f}")


def _json(one: Figures) -> dict[str, Any]:
    shares = {
        name: own._asdict() if own else None
        for name, own in (("recall", one.recall), ("coverage", one.coverage))
    }
    return {**one._asdict(), **shares}


def _say_misses(scored: list[Scored], cut: str) -> None:
    missed = [one for one in scored if one.cuts[cut].hits < len(one.query.required)]
    for one in missed:
        click.echo(
            f"{visible(one.query.id)}: {visible(one.query.text, 80)}  needs {', '.join(one.query.required)}"
        )
