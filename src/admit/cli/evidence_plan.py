"""`admit evidence plan`: what a review of each note may read, without a judge."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from admit.cli import evidence_words as words
from admit.cli.evidence_base import (
    GROUNDING,
    MOST_NOTES,
    SCHEMA,
    Notes,
    Progress,
    notes_of,
    open_base,
    paths_argument,
    root_option,
    said_scope,
    top_option,
)
from admit.cli.frame import DONE, FINDING, counted, json_option, print_json
from admit.errors import NoteError, UsageError

if TYPE_CHECKING:
    from admit.evidence.base import Base
    from admit.evidence.criterion import Criterion
    from admit.evidence.plan import Plan

MOST_SHOWN, MOST_UNAVAILABLE = 20, 20
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,12}\Z")

EXAMPLES = """\b
Examples:
  admit evidence plan examples/evidence
  admit evidence plan examples/evidence --criterion grounding-alignment
  admit evidence plan examples/evidence/tides.md --cap 2
  admit evidence plan examples/evidence/tides.md --pack what-is-read"""


@click.command("plan", short_help="What a review may read, per note.", epilog=EXAMPLES)
@paths_argument(required=True)
@click.option("--criterion", metavar="ID", help="Under the budget of this criterion: an id, or its file.")
@click.option(
    "--cap", type=click.IntRange(1), metavar="N", help="Under this many slots, to see what it does."
)
@click.option("--pack", "folder", metavar="DIR", help="Write the texts that would be read into a new folder.")
@top_option
@root_option
@json_option
def command(
    paths: tuple[str, ...],
    criterion: str | None,
    cap: int | None,
    folder: str | None,
    top: bool,
    root: str | None,
    as_json: bool,
) -> int:
    """Show what each note links to, what of it a review may read, and what a cap would leave unread.

    It works on any folder of Markdown files, and asks and records nothing. Without --criterion and --cap
    there is no cap. A slot is one artifact, however often it is linked (distinct-v1).

    Exit code 1: a note cannot be read.
    """
    from admit.evidence.criteria import load

    if folder is not None and os.path.lexists(folder):
        raise UsageError(f"{folder} is there already; --pack makes a new folder")
    with open_base(paths, root) as base:
        chosen = load(base, criterion) if criterion is not None else None
        notes = notes_of(base, paths, top=top)
        plans, unread, without = _plans(notes, chosen, cap, quiet=as_json)
        packed = _pack(base, plans, folder) if folder is not None else None
    if as_json:
        print_json(_json(plans, unread, without, chosen))
    else:
        _say(notes, plans, without, chosen, capped=chosen is not None or cap is not None)
        if packed is not None:
            click.echo(f"{folder}: {counted(packed, 'text')} and MANIFEST.json")
    for fault in unread:
        click.echo(f"admit: {words.one_line(str(fault), 400)}", err=True)
    return FINDING if unread else DONE


def _plans(
    notes: Notes, criterion: Criterion | None, cap: int | None, *, quiet: bool
) -> tuple[list[Plan], list[NoteError], int]:
    """Plans in the order of paths, notes that cannot be read, and how many the criterion is not for."""
    from admit.evidence.criteria import applies
    from admit.evidence.planning import UNSET, plan

    progress = Progress(len(notes.paths), "note", quiet=quiet)
    plans: list[Plan] = []
    unread: list[NoteError] = []
    without = 0
    for path in notes.paths:
        try:
            made = plan(notes.base, path, criterion, cap=UNSET if cap is None else cap)
        except NoteError as fault:
            unread.append(fault)
        else:
            if criterion is None or applies(criterion, made.note):
                plans.append(made)
            else:
                without += 1
        progress.step()
    progress.end()
    return plans, unread, without


def _say(
    notes: Notes, plans: Sequence[Plan], without: int, criterion: Criterion | None, *, capped: bool
) -> None:
    lines: list[str] = []
    if len(plans) == 1:
        lines += words.plan_detail(plans[0])
    elif plans:
        lines.append(words.plan_rows(_shown(plans)))
        if len(plans) > MOST_NOTES:
            lines.append(f"… and {len(plans) - MOST_SHOWN:,} notes that offer no more; --json has them all")
    broken = [line for one in plans for line in words.unavailable(one)]
    if broken:
        lines += ["", "Cannot be read:", *broken[:MOST_UNAVAILABLE]]
        if len(broken) > MOST_UNAVAILABLE:
            lines.append(f"… and {len(broken) - MOST_UNAVAILABLE:,} more; --json has them all")
    lines += [""] if lines else []
    named = f", criterion {criterion.id}" if criterion is not None else ""
    lines.append(f"{counted(len(plans), 'note')}{named}")
    if without:
        lines.append(
            f"{counted(without, 'note')} not applicable: the criterion asks for another type or trait"
        )
    if plans:
        lines += [*words.totals(plans), *_caps(plans, capped=capped)]
    elif not without:
        lines.append("no Markdown file (*.md, *.markdown) is there that could be read")
    outside = sum(link.kind == "outside" for one in plans for link in one.note.links)
    click.echo("\n".join([*lines, *said_scope(notes, outside)]))


def _caps(plans: Sequence[Plan], *, capped: bool) -> list[str]:
    """What other caps would cover, and which criterion has one."""
    from admit.evidence.criteria import shipped
    from admit.evidence.curve import curve, slots_of

    if not any(one.offers for one in plans):
        return []
    unit = plans[0].unit
    lines = [words.covered(curve(unit, (one.offers for one in plans)))] if len(plans) > 1 else []
    if not capped:
        budget = next(one.budget for one in shipped() if one.id == GROUNDING)
        over = sum(slots_of(one.offers) > (budget or 0) for one in plans)
        lines.append(
            f"no criterion is named, so nothing is capped; over {budget} slots: {counted(over, 'note')} "
            f"(--criterion {GROUNDING} has that budget)"
        )
    return lines


def _shown(plans: Sequence[Plan]) -> list[Plan]:
    """All of them, or of many those that offer most."""
    if len(plans) <= MOST_NOTES:
        return list(plans)
    return sorted(plans, key=lambda one: (-len(one.offers), one.note.path))[:MOST_SHOWN]


def _json(
    plans: Sequence[Plan], unread: Sequence[NoteError], without: int, criterion: Criterion | None
) -> dict[str, Any]:
    kinds = Counter[str]()
    for one in plans:
        kinds.update(words.kinds_of(one.note.links))
    within = [offer for one in plans for offer in one.offers if offer.id in set(one.within)]
    summary = {
        "notes": len(plans),
        "unreadable": len(unread),
        "not_applicable": without,
        "links": {kind: kinds[kind] for kind in words.KINDS if kinds[kind]},
        "offered": sum(len(one.offers) for one in plans),
        "within": len(within),
        "slots": sum(offer.slots for offer in within),
        "unit": plans[0].unit if plans else "distinct-v1",
        "bytes": sum(offer.bytes for offer in within),
        "unavailable": sum(len(one.unavailable) for one in plans),
    }
    return {
        "schema": SCHEMA,
        "command": "plan",
        "criterion": criterion.id if criterion is not None else None,
        "summary": summary,
        "plans": [_plan_json(one) for one in plans],
        "unreadable": [{"note": fault.path, "reason": fault.reason} for fault in unread],
    }


def _plan_json(plan: Plan) -> dict[str, Any]:
    within = set(plan.within)
    links = {link.n: link for link in plan.note.links}
    return {
        "note": plan.note.path,
        "note_sha256": plan.note.sha256,
        "title": plan.note.title,
        "criterion": plan.criterion.id if plan.criterion is not None else None,
        "criterion_sha256": plan.criterion.sha256 if plan.criterion is not None else None,
        "cap": plan.cap,
        "unit": plan.unit,
        "order": plan.order,
        "links": words.kinds_of(plan.note.links),
        "offers": [
            {
                "id": one.id,
                "artifact": one.artifact,
                "route": one.route,
                "links": list(one.links),
                "labels": list(one.labels),
                "slots": one.slots,
                "bytes": one.bytes,
                "sha256": one.sha256,
                "within": one.id in within,
            }
            for one in plan.offers
        ],
        "unavailable": [
            {**one._asdict(), "line": links[one.link].line, "hint": links[one.link].hint or None}
            for one in plan.unavailable
        ],
        "plan_hash": plan.plan_hash,
    }


def _pack(base: Base, plans: Sequence[Plan], folder: str) -> int:
    """Write every text that a reviewer would read, and a manifest; whole or not at all. The texts, a count.

    Raises:
        UsageError: The folder cannot be written.
    """
    from admit.evidence.pack import pack, pack_hash

    beside = f"{folder.rstrip(os.sep)}.{os.urandom(8).hex()}"
    count, told = 0, []
    try:
        os.mkdir(beside, 0o700)
        for number, plan in enumerate(plans, 1):
            packed = pack(base, plan)
            rows = []
            for item in packed.items:
                name = _file_name(number, item.offer, item.shape, item.path)
                with open(os.path.join(beside, name), "xb") as file:
                    file.write(item.text.encode())
                rows.append({"file": name, **{k: v for k, v in item._asdict().items() if k != "text"}})
                count += 1
            told.append(
                {
                    "note": plan.note.path,
                    "plan_hash": plan.plan_hash,
                    "pack_hash": pack_hash(packed.items),
                    "items": rows,
                    "left": [one._asdict() for one in packed.left_out],
                    "unavailable": [one._asdict() for one in packed.unavailable],
                }
            )
        manifest = {"schema": SCHEMA, "command": "plan", "packs": told}
        with open(os.path.join(beside, "MANIFEST.json"), "x", encoding="utf-8") as file:
            file.write(json.dumps(manifest, indent=2) + "\n")
        os.rename(beside, folder)
    except OSError as fault:
        raise UsageError(f"{folder} cannot be written: {fault.strerror or fault}") from fault
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return count


def _file_name(number: int, offer: str, shape: str, path: str) -> str:
    """`1-a2-whole.md`: the note, the offer, how it is read, and the ending of the file it is from."""
    found = _SUFFIX.search(path)
    return f"{number}-{offer}-{shape}{found[0] if found else '.txt'}"
