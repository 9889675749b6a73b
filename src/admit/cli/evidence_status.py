"""`admit evidence status` and `admit evidence ack`: which accepted reviews stand, and moving one on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from admit.cli import evidence_words as words
from admit.cli.evidence_base import (
    GROUNDING,
    SCHEMA,
    Notes,
    criteria_of,
    notes_of,
    open_base,
    paths_argument,
    root_option,
    said_scope,
    top_option,
)
from admit.cli.frame import DONE, FINDING, counted, json_option, print_json
from admit.config.check import visible
from admit.errors import NoteError, UsageError
from admit.text.table import table

if TYPE_CHECKING:
    from admit.evidence.base import Base
    from admit.evidence.criterion import Criterion
    from admit.evidence.freshness import Freshness
    from admit.evidence.model import Pair
    from admit.ledger.evidence import EvidenceStore
    from admit.ledger.evidence_rows import BaselineRow

MOST_PAIRS = 40
STATUS_EXAMPLES = """\b
Examples:
  admit evidence status notes
  admit evidence status notes --diff
  admit evidence status notes --partition jev-1.13 --all"""
ACK_EXAMPLES = """\b
Examples:
  admit evidence ack notes/claim.md grounding-alignment --trivial
  admit evidence ack notes/claim.md representation --partition jev-1.13
  admit evidence ack notes/claim.md representation --retire"""


@click.command("status", short_help="Which accepted reviews stand.", epilog=STATUS_EXAMPLES)
@paths_argument(required=False)
@click.option("--criterion", "names", multiple=True, metavar="ID", help="Only by this criterion; repeat.")
@click.option("--partition", metavar="P", help="Only reviews by this bucket of models.")
@click.option("--diff", is_flag=True, help="Show how a note changed since it was reviewed.")
@click.option("--all", "every", is_flag=True, help="List the fresh ones too, and every one.")
@top_option
@root_option
@json_option
def status(
    paths: tuple[str, ...],
    names: tuple[str, ...],
    partition: str | None,
    diff: bool,
    every: bool,
    top: bool,
    root: str | None,
    as_json: bool,
) -> int:
    """Show for each note and criterion whether its accepted review stands, and why not.

    Criteria are those that a review here was accepted by, at first grounding-alignment alone; a review
    counts for the models of its partition. Reasons: missing-baseline, criterion-changed, note-changed,
    linked-changed (what the review read has another text now).

    Exit code 1: a pair is stale, or a note cannot be read.
    """
    from admit.ledger.evidence import open_store

    with open_base(paths, root) as base:
        store = open_store(base.config.values, base.root)
        rows = [one for one in store.baselines() if not one.retired]
        notes = notes_of(base, paths, top=top)
        criteria = criteria_of(
            base, names or tuple(dict.fromkeys(one.criterion for one in rows)) or (GROUNDING,)
        )
        partitions = [partition] if partition else sorted({one.partition for one in rows}) or [_own(base)]
        found, unread, without = _found(notes, store, criteria, partitions)
        stale = [one for one in found if not one.fresh]
        if as_json:
            print_json(_json(found, stale, unread, without, diff=diff))
        else:
            _say(notes, found, stale, without, every=every, diff=diff)
    for fault in unread:
        click.echo(f"admit: {words.one_line(str(fault), 400)}", err=True)
    return FINDING if stale or unread else DONE


def _own(base: Base) -> str:
    """The partition of the judge that is set; where none is, that of no named model."""
    from admit.errors import ConfigError
    from admit.evidence.partition import UNNAMED, partition
    from admit.judges.profiles import profile

    if base.settings.judge is None:
        return UNNAMED
    try:
        chosen = profile(base.settings.judge, base.config.values)
    except ConfigError:
        return UNNAMED
    return partition(chosen.model or chosen.name)


def _found(
    notes: Notes, store: EvidenceStore, criteria: Sequence[Criterion], partitions: Sequence[str]
) -> tuple[list[Freshness], list[NoteError], int]:
    """How each pair stands, notes that cannot be read, and how often a criterion asks nothing of a note."""
    from admit.evidence.freshness import compared
    from admit.evidence.model import Pair
    from admit.evidence.questions import applicable
    from admit.evidence.shown import Reader

    kept = {(row.note, row.criterion, row.partition): row for row in store.baselines()}
    reader = Reader(notes.base)
    found: list[Freshness] = []
    unread: list[NoteError] = []
    without = 0
    for path in notes.paths:
        try:
            note = reader.note(path)
        except NoteError as fault:
            unread.append(fault)
            continue
        for criterion in criteria:
            if not applicable(note, criterion):
                without += 1
                continue
            for partition in partitions:
                pair = Pair(note.path, criterion.id, partition)
                found.append(compared(store, kept.get(pair), pair, criterion, reader))
    return found, unread, without


def _say(
    notes: Notes,
    found: Sequence[Freshness],
    stale: Sequence[Freshness],
    without: int,
    *,
    every: bool,
    diff: bool,
) -> None:
    listed = list(found if every else stale)
    shown = listed if every else listed[:MOST_PAIRS]
    lines: list[str] = []
    if shown:
        lines.append(
            table([_row(one) for one in shown], ("note", "criterion", "partition", "", "because of"))
        )
        if len(listed) > len(shown):
            lines.append(f"… and {len(listed) - len(shown):,} more; --all lists every one")
        lines.append("")
    if diff:
        for one in shown:
            text = one.diff()
            lines += ["\n".join(visible(line, 400) for line in text.splitlines()), ""] if text else []
    reasons = Counter(one.reasons[0] for one in stale)
    lines.append(f"{counted(len(found), 'pair')}: {len(found) - len(stale):,} fresh, {len(stale):,} stale")
    lines += [f"  {count:,} {reason}" for reason, count in sorted(reasons.items())]
    if without:
        lines.append(f"{counted(without, 'pair')} not applicable: nothing there to ask about")
    if stale:
        lines.append("Next: admit evidence review reviews what is stale; admit evidence ack accepts a change")
    click.echo("\n".join([*lines, *said_scope(notes)]))


def _row(one: Freshness) -> tuple[str, ...]:
    reasons = ", ".join(one.reasons)
    changed = f" ({', '.join(map(words.path, one.changed))})" if one.changed else ""
    state = "fresh" if one.fresh else "stale"
    return (
        words.path(one.pair.note),
        one.pair.criterion,
        visible(one.pair.partition),
        state,
        reasons + changed,
    )


def _json(
    found: Sequence[Freshness],
    stale: Sequence[Freshness],
    unread: Sequence[NoteError],
    without: int,
    *,
    diff: bool,
) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "command": "status",
        "summary": {
            "pairs": len(found),
            "fresh": len(found) - len(stale),
            "stale": len(stale),
            "not_applicable": without,
        },
        "pairs": [
            {
                **one.pair._asdict(),
                "fresh": one.fresh,
                "reasons": list(one.reasons),
                "changed": list(one.changed),
                "revision": one.baseline.revision if one.baseline is not None else None,
                **({"diff": one.diff()} if diff else {}),
            }
            for one in found
        ],
        "unreadable": [{"note": fault.path, "reason": fault.reason} for fault in unread],
    }


@click.command("ack", short_help="Accept the current texts.", epilog=ACK_EXAMPLES)
@click.argument("note", metavar="NOTE", type=click.Path())
@click.argument("names", metavar="CRITERION…", nargs=-1, required=True)
@click.option("--trivial", is_flag=True, help="Only where no part changed that the criterion watches.")
@click.option("--partition", metavar="P", help="Of reviews by this bucket of models.")
@click.option("--retire", "retiring", is_flag=True, help="Let the accepted review count no more.")
@root_option
@json_option
def ack(
    note: str,
    names: tuple[str, ...],
    trivial: bool,
    partition: str | None,
    retiring: bool,
    root: str | None,
    as_json: bool,
) -> int:
    """Let an accepted review of NOTE stand for the texts as they are now. Nobody is asked.

    What the review read and found stays on record.
    """
    from admit.evidence.ack import ack as move
    from admit.evidence.ack import retire
    from admit.evidence.model import Pair
    from admit.ledger import open_ledger
    from admit.ledger.evidence import open_store

    if trivial and retiring:
        raise UsageError("give one of --trivial and --retire")
    with open_base((note,) if root is None else (), root) as base:
        store, ledger = open_store(base.config.values, base.root), open_ledger(base.config.values)
        path = base.note(base.relative(note)).path
        done: list[tuple[Pair, int]] = []
        rows = store.baselines([path])
        try:
            # Every one is looked for before any is changed.
            for pair in [Pair(path, name, _partition(rows, path, name, partition)) for name in names]:
                if retiring:
                    done.append((pair, retire(store, pair, ledger=ledger)))
                    continue
                (criterion,) = criteria_of(base, [pair.criterion])
                done.append(
                    (pair, move(base, store, pair, criterion, trivial=trivial, ledger=ledger).revision)
                )
        finally:
            ledger.flush(base.config.values["ledger.close_wait_ms"])
    if as_json:
        told = [{**pair._asdict(), "revision": revision, "retired": retiring} for pair, revision in done]
        print_json({"schema": SCHEMA, "command": "ack", "summary": {"pairs": len(done)}, "pairs": told})
        return DONE
    for pair, revision in done:
        what = "counts no more" if retiring else "stands for the current texts"
        click.echo(
            f"{words.path(pair.note)} by {pair.criterion} ({visible(pair.partition)}): "
            f"{what}, revision {revision:,}"
        )
    return DONE


def _partition(rows: Sequence[BaselineRow], note: str, criterion: str, given: str | None) -> str:
    """The partition that is meant: the one given, or the only one that there is.

    Raises:
        UsageError: There is none, or there are several.
    """
    if given is not None:
        return given
    found = [one.partition for one in rows if one.criterion == criterion and not one.retired]
    if not found:
        raise UsageError(f"{note} has no accepted review by {criterion}; admit evidence review makes one")
    if len(found) > 1:
        raise UsageError(f"{note} is reviewed by {criterion} in {', '.join(found)}; add --partition")
    return found[0]
