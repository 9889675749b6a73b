"""Kinds where nearly every line is its own: a commit log, search results, a manual page."""

from __future__ import annotations

import random

from .draft import Kind, hexes, pick

PEOPLE = ("Ines Falk", "Tomas Ruiz", "Marit Aas", "Jonas Weber", "Amara Obi")
AREAS = (
    "invoice export",
    "search page",
    "sign-up form",
    "importer",
    "sync worker",
    "price list",
    "report view",
    "cart",
    "mail templates",
    "settings page",
    "exchange rates",
    "font loading",
    "translation files",
    "payment form",
)
VERBS = (
    "Tidy",
    "Move",
    "Rename parts of",
    "Simplify",
    "Document",
    "Fix error handling in",
    "Add tests for",
    "Split",
    "Update",
)
INDENT = " " * 14
REASONS = (
    "No change in behaviour.",
    "The old helper had three callers left.",
    "Review remarks of last week.",
    "Makes the next step smaller.",
    "Covers the case of an empty list.",
)


def _commit(draw: random.Random, message: str) -> str:
    author = draw.choice(PEOPLE)
    mail = author.lower().replace(" ", ".") + "@shop.example"
    files = []
    for _ in range(draw.randint(1, 4)):
        module = pick(draw, "view model export store rules")
        path = f"src/{pick(draw, 'invoice search cart mail sync')}/{module}.py"
        files.append(
            f" {path} | {draw.randint(1, 60):>3} {'+' * draw.randint(1, 9)}{'-' * draw.randint(0, 6)}"
        )
    body = "\n".join("    " + line if line else "" for line in message.split("\n"))
    day, hour = f"{pick(draw, 'Mon Tue Wed Thu Fri')} Apr {draw.randint(1, 28)}", draw.randint(8, 18)
    date = f"{day} {hour:02}:{draw.randint(0, 59):02}:07 2031 +0200"
    added, removed = draw.randint(4, 90), draw.randint(0, 40)
    total = f" {len(files)} files changed, {added} insertions(+), {removed} deletions(-)"
    lines = [
        f"commit {hexes(draw, 40)}",
        f"Author: {author} <{mail}>",
        f"Date:   {date}",
        "",
        body,
        "",
        *files,
        total,
        "",
    ]
    return "\n".join(lines)


def _commit_record(draw: random.Random, number: int) -> str:
    subject = f"{draw.choice(VERBS)} the {draw.choice(AREAS)}"
    return _commit(draw, subject + (f"\n\n{draw.choice(REASONS)}" if draw.random() < 0.6 else ""))


def _match_record(draw: random.Random, number: int) -> str:
    folder = pick(draw, "cart pricing mail store locale search")
    module = pick(draw, "view model rules send label money export")
    noun = pick(draw, "total price coupon order label rate amount printer currency")
    code = draw.choice(
        (
            f"    {noun} = compute_{noun}(order)",
            f"    return format_{noun}({noun}, digits=2)",
            f"    log.error('no {noun} for order %s', order.id)",
            f"from shop.{folder} import {noun}_of",
            f"def {noun}_of(order: Order) -> Decimal:",
        )
    )
    return f"src/{folder}/{module}.py:{draw.randint(3, 400)}:{code}"


def _option_record(draw: random.Random, number: int) -> str:
    verb = pick(draw, "keep show list copy compare sort group split trim log")
    noun = pick(draw, "blocks names times links sizes owners chunks rules sums parts")
    manner = draw.choice(
        (
            "one line each",
            "in the order given",
            "before the run",
            "after the run",
            "for the target",
            "for the source",
        )
    )
    value = pick(draw, "N WORD FILE PATTERN SIZE")
    other = pick(draw, "quiet plain batch")
    lines = [
        f"       --{verb}-{noun}-{number}={value}",
        f"{INDENT}{verb.capitalize()} {noun} {manner}. {value} may be repeated; the last one wins.",
        f"{INDENT}Has no effect with --{other}. The default is {draw.randint(0, 64)}.",
        "",
    ]
    return "\n".join(lines)


def _option_wrap(draw: random.Random, plant: str) -> str:
    name, *text = plant.split("\n")
    return "\n".join([f"       {name}", *(f"{INDENT}{line}" for line in text), ""])


KINDS = {
    "commit-log": Kind(_commit_record, "git log --stat", _commit, foot="\n"),
    "search-results": Kind(_match_record, "grep -rn order src", foot="\n"),
    "manual-page": Kind(
        _option_record,
        "man vela",
        _option_wrap,
        head=f"{'VELA(1)':<32} General Commands Manual {'VELA(1)':>31}\n\nOPTIONS\n",
        foot="\nSEE ALSO\n       cp(1), tar(1)\n",
    ),
}
