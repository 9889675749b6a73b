"""`admit evidence report`: what reviews found and read, what caps cover, and the record under another cap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from admit.cli import evidence_words as words
from admit.cli.evidence_base import (
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
from admit.cli.frame import DONE, counted, json_option, print_json
from admit.config.check import visible
from admit.config.private import replace_whole
from admit.errors import CriterionError, NoteError, UsageError
from admit.evidence.model import OrderName, Unit
from admit.text.table import table

if TYPE_CHECKING:
    from admit.evidence.base import Base
    from admit.evidence.criterion import Criterion
    from admit.evidence.curve import Curve
    from admit.evidence.recorded import Recorded, Replayed

MOST_QUEUED = 40
UNITS: tuple[Unit, ...] = ("distinct-v1", "occurrences-v0")
ORDERS: tuple[OrderName, ...] = ("document", "label", "bytes")
EXAMPLES = """\b
Examples:
  admit evidence report notes
  admit evidence report notes --curve
  admit evidence report notes --replay cap=5
  admit evidence report notes --replay cap=5,unit=occurrences-v0,order=bytes
  admit evidence report notes --curve --html reviews.html"""


class Other(NamedTuple):
    """Another cap, unit and order; a cap of None is none, the others as they were where None."""

    cap: int | None
    unit: Unit | None
    order: OrderName | None


@click.command("report", short_help="What was found and read, and what a cap covers.", epilog=EXAMPLES)
@paths_argument(required=False)
@click.option("--curve", "curved", is_flag=True, help="How much each cap covers, from 1 to the largest note.")
@click.option("--replay", "again", metavar="cap=N", help="The recorded plans under another cap; or cap=none.")
@click.option("--html", metavar="FILE", type=click.Path(dir_okay=False), help="Write it as a page.")
@top_option
@root_option
@json_option
def command(
    paths: tuple[str, ...],
    curved: bool,
    again: str | None,
    html: str | None,
    top: bool,
    root: str | None,
    as_json: bool,
) -> int:
    """Show the newest review of each pair: what asks for work first, and how much of it was read.

    Nobody is asked. --curve reads the notes as they are now. --replay reads no file: it decides the recorded
    plans again, and counts the findings whose artifact would have stayed unread. What a review would have
    said instead is not known.
    """
    from admit.evidence.recorded import newest, queue, replayed
    from admit.ledger.evidence import open_store

    other = _other(again) if again is not None else None
    with open_base(paths, root) as base:
        store = open_store(base.config.values, base.root)
        notes = notes_of(base, paths, top=top) if paths or curved else None
        rows = store.jobs(notes.paths if notes is not None and paths else None)
        reviews = newest(rows, lambda id, sha256: _criterion(base, id, sha256))
        curve = _curve(notes, quiet=as_json) if curved and notes is not None else None
        given = replayed(reviews, **other._asdict()) if other is not None else ()
        queued = queue(reviews)
        if html is not None:
            from admit.report.evidence_report import EvidenceReport, page

            _write(html, page(EvidenceReport(reviews, queued, curve, given, again or "")))
        if as_json:
            print_json(_json(reviews, queued, curve, other, given))
            return DONE
        lines = _reviews(reviews, queued)
        lines += ["", *_curve_lines(curve)] if curve is not None else []
        lines += ["", *_replay_lines(given, again or "")] if other is not None else []
        lines += [f"{html} written"] if html is not None else []
        click.echo("\n".join([*lines, *(said_scope(notes) if notes is not None else ())]))
    return DONE


def _other(given: str) -> Other:
    """What `cap=5,unit=…,order=…` says.

    Raises:
        UsageError: A name or a value that there is not.
    """
    values: dict[str, str] = {}
    for part in given.split(","):
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in Other._fields or not value:
            raise UsageError(f"--replay takes cap=N, unit=U and order=O, with commas, not {visible(part)!r}")
        values[name] = value
    cap, unit, order = values.get("cap"), values.get("unit"), values.get("order")
    if cap is None or not (cap == "none" or (cap.isascii() and cap.isdecimal() and 0 < int(cap) < 1 << 31)):
        raise UsageError("--replay needs cap=N with a number from 1, or cap=none")
    for name, value, known in (("unit", unit, UNITS), ("order", order, ORDERS)):
        if value is not None and value not in known:
            raise UsageError(f"--replay {name}={visible(value)}: there is {', '.join(known)}")
    return Other(None if cap == "none" else int(cap), unit, order)  # type: ignore[arg-type]


def _criterion(base: Base, id: str, sha256: str) -> Criterion | None:
    """A criterion if it is still the one that was reviewed by."""
    from admit.evidence.criteria import load

    try:
        found = load(base, id)
    except (CriterionError, NoteError):
        return None
    return found if found.sha256 == sha256 else None


def _curve(notes: Notes, *, quiet: bool) -> Curve:
    from admit.evidence.curve import curve
    from admit.evidence.planning import plan

    progress = Progress(len(notes.paths), "note", quiet=quiet)
    every = []
    for path in notes.paths:
        try:
            every.append(plan(notes.base, path).offers)
        except NoteError as fault:
            click.echo(f"admit: {words.one_line(str(fault), 400)}", err=True)
        progress.step()
    progress.end()
    return curve("distinct-v1", every)


def _reviews(reviews: Sequence[Recorded], queued: Sequence[Recorded]) -> list[str]:
    if not reviews:
        return ["No review is on record here: admit evidence review makes one."]
    lines: list[str] = []
    if queued:
        rows = [
            (
                one.verdict,
                words.path(one.pair.note),
                visible(one.pair.criterion),
                visible(one.pair.partition),
                words.one_line(_first(one), 60),
            )
            for one in queued[:MOST_QUEUED]
        ]
        lines.append(table(rows, ("verdict", "note", "criterion", "partition", "first finding")))
        if len(queued) > MOST_QUEUED:
            lines.append(f"… and {len(queued) - MOST_QUEUED:,} more; --json has them all")
        lines.append("")
    head = ("criterion", "pairs", "offered", "read", "bytes offered", "bytes read", "left something out")
    lines.append(table(_read_rows(reviews), head, right=range(1, 7)))
    verdicts = Counter(one.verdict for one in reviews)
    said = ", ".join(f"{count:,} {verdict}" for verdict, count in sorted(verdicts.items()))
    lines.append(f"{counted(len(reviews), 'pair')} on record: {said}")
    return lines


def _first(one: Recorded) -> str:
    grave = [found for found in one.findings if found.severity == one.verdict]
    return f"{grave[0].rule}: {grave[0].claim or grave[0].text}" if grave else one.reason


def _read_rows(reviews: Sequence[Recorded]) -> list[tuple[str, ...]]:
    rows = []
    for criterion in sorted({one.pair.criterion for one in reviews}):
        own = [one for one in reviews if one.pair.criterion == criterion]
        read = [one.coverage for one in own if one.coverage is not None]
        counts = (
            len(own),
            sum(one.offered for one in read),
            sum(one.read for one in read),
            sum(one.bytes_offered for one in read),
            sum(one.bytes_read for one in read),
            sum(bool(one.scoped) for one in own),
        )
        rows.append((visible(criterion), *(f"{count:,}" for count in counts)))
    return rows


def _curve_lines(curve: Curve) -> list[str]:
    rows = [
        (
            f"{one.cap:,}",
            f"{one.notes:,}",
            f"{one.notes / curve.notes:.1%}",
            f"{one.artifacts:,}",
            f"{one.artifacts / curve.artifacts:.1%}",
            f"{one.bytes:,}",
        )
        for one in curve.points
    ]
    head = (f"cap ({curve.unit})", "notes covered", "", "artifacts covered", "", "bytes")
    lines = [table(rows, head, right=range(6))] if rows else []
    held = f"{counted(curve.artifacts, 'artifact')}, {curve.bytes:,} bytes"
    return [*lines, f"of {counted(curve.notes, 'note')} with {held}"]


def _replay_lines(given: Sequence[Replayed], other: str) -> list[str]:
    lost = [(one, found) for one in given for found in one.lost]
    kept = sum(len(one.kept) for one in given)
    lines = [
        f"{words.finding(found)}  -> {words.path(found.artifact)} would be unread"
        for _, found in lost[:MOST_QUEUED]
    ]
    if len(lost) > MOST_QUEUED:
        lines.append(f"… and {len(lost) - MOST_QUEUED:,} more; --json has them all")
    within = sum(one.now for one in given)
    unit = next((one.plan.unit for one in given), "distinct-v1")
    lines.append(
        f"replay {visible(other)} ({unit}): {within:,} artifacts within, "
        f"{sum(one.was for one in given):,} were read, in {counted(len(given), 'pair')}"
    )
    lines.append(f"{len(lost):,} of {kept + len(lost):,} findings about an artifact would be lost")
    return lines


def _json(
    reviews: Sequence[Recorded],
    queued: Sequence[Recorded],
    curve: Curve | None,
    other: Other | None,
    given: Sequence[Replayed],
) -> dict[str, Any]:
    from admit.evidence.as_json import finding
    from admit.evidence.recorded import QUEUED

    verdicts = Counter(one.verdict for one in reviews)
    value: dict[str, Any] = {
        "schema": SCHEMA,
        "command": "report",
        "summary": {
            "pairs": len(reviews),
            **{word: verdicts[word] for word in ("PASS", *reversed(QUEUED))},
            "queue": len(queued),
        },
        "pairs": [_pair_json(one) for one in reviews],
        "queue": [one.pair._asdict() | {"verdict": one.verdict} for one in queued],
    }
    if curve is not None:
        value["curve"] = curve._asdict() | {"points": [one._asdict() for one in curve.points]}
    if other is not None:
        value["replay"] = {
            **other._asdict(),
            "lost": sum(len(one.lost) for one in given),
            "kept": sum(len(one.kept) for one in given),
            "pairs": [
                {
                    **one.recorded.pair._asdict(),
                    "read": one.was,
                    "within": one.now,
                    "lost": [finding(found) for found in one.lost],
                    "kept": len(one.kept),
                    "other": one.other,
                }
                for one in given
            ],
        }
    return value


def _pair_json(one: Recorded) -> dict[str, Any]:
    from admit.evidence.as_json import coverage, finding

    return {
        **one.pair._asdict(),
        "verdict": one.verdict,
        "reason": one.reason,
        "scoped": one.scoped or None,
        "job": one.job,
        "attempt": one.attempt,
        "ended_ms": one.ended_ms,
        "plan_hash": one.plan.plan_hash,
        "coverage": None if one.coverage is None else coverage(one.coverage),
        "findings": [finding(found) for found in one.findings],
    }


def _write(path: str, text: str) -> None:
    try:
        replace_whole(path, text.encode("utf-8", "backslashreplace"))
    except OSError as fault:
        raise UsageError(f"{path} cannot be written: {fault.strerror or fault}") from fault
