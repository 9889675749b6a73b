"""The reviews on record as one page: the queue, each pair with what it rests on, and what caps cover.

All text of notes and artifacts is escaped; nothing of it runs, and nothing is fetched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from admit.evidence.curve import Curve
from admit.evidence.model import Coverage, Finding
from admit.evidence.recorded import QUEUED, Recorded, Replayed
from admit.ledger.moments import utc

from .layout import one_line, share
from .page import cards, document, table, text, wide
from .svg import Column, columns

MOST_QUEUED, MOST_PAIRS = 200, 500
_ANCHOR = "pair"


class EvidenceReport(NamedTuple):
    """What the page shows.

    Attributes:
        reviews: The newest of each pair, by pair.
        queue: Those that ask for work, the gravest first.
        curve: What caps cover of the notes as they are now; None where that is not asked for.
        replayed: The plans under another cap; empty where none is asked for.
        replay: That cap in words.
    """

    reviews: tuple[Recorded, ...]
    queue: tuple[Recorded, ...]
    curve: Curve | None = None
    replayed: tuple[Replayed, ...] = ()
    replay: str = ""


def page(report: EvidenceReport) -> str:
    """The page as text, ending in a newline; the same report gives the same bytes."""
    return document("Admit: reviews of evidence", _body(report))


def _body(report: EvidenceReport) -> Iterator[str]:
    yield "<h1>Reviews of evidence</h1>"
    if not report.reviews:
        yield "<p>No review is on record here.</p>"
        if report.curve is not None:
            yield from _curve(report.curve)
        return
    last = max(one.ended_ms for one in report.reviews)
    yield (
        '<p class="soft">The newest review of each pair of note and criterion; the last ended '
        f"{utc(last):%Y-%m-%d %H:%M} (UTC). A budget limits what is read and never changes a verdict.</p>"
    )
    yield from _figures(report)
    yield from _queue(report)
    if report.curve is not None:
        yield from _curve(report.curve)
    yield from _replay(report)
    yield "<h2>Every pair</h2>"
    places = {one.pair: number for number, one in enumerate(report.reviews, 1)}
    for one in report.reviews[:MOST_PAIRS]:
        yield from _pair(one, places[one.pair])
    if len(report.reviews) > MOST_PAIRS:
        yield f"<p>{len(report.reviews) - MOST_PAIRS:,} pairs more are on record.</p>"


def _figures(report: EvidenceReport) -> Iterator[str]:
    verdicts = Counter(one.verdict for one in report.reviews)
    read = sum(one.coverage.read for one in report.reviews if one.coverage is not None)
    offered = sum(one.coverage.offered for one in report.reviews if one.coverage is not None)
    scoped = sum(bool(one.scoped) for one in report.reviews)
    words = [(f"{verdicts[word]:,}", word) for word in ("PASS", *reversed(QUEUED)) if verdicts[word]]
    yield cards(
        [
            (f"{len(report.reviews):,}", "pairs reviewed"),
            *words,
            (share(read, offered), f"of {offered:,} artifacts read"),
            (f"{scoped:,}", "verdicts that leave something out"),
        ]
    )


def _queue(report: EvidenceReport) -> Iterator[str]:
    yield "<h2>What asks for work</h2>"
    if not report.queue:
        yield "<p>Nothing: every newest review is a PASS.</p>"
        return
    places = {one.pair: number for number, one in enumerate(report.reviews, 1)}
    rows = "".join(
        f'<tr><td>{text(one.verdict)}</td><td><a href="#{_ANCHOR}{places[one.pair]}">'
        f"{text(one.pair.note)}</a></td><td>{text(one.pair.criterion)}</td>"
        f"<td>{text(one_line(_first(one), 100))}</td></tr>"
        for one in report.queue[:MOST_QUEUED]
    )
    head = "<tr><th>verdict</th><th>note</th><th>criterion</th><th>the first finding, or the reason</th></tr>"
    yield wide(f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>")
    if len(report.queue) > MOST_QUEUED:
        yield f"<p>and {len(report.queue) - MOST_QUEUED:,} more.</p>"


def _first(one: Recorded) -> str:
    grave = [found for found in one.findings if found.severity == one.verdict]
    return f"{grave[0].rule}: {grave[0].claim or grave[0].text}" if grave else one.reason


def _curve(curve: Curve) -> Iterator[str]:
    if not curve.points:
        return
    yield "<h2>What a cap covers</h2>"
    yield (
        f"<p>Of {curve.notes:,} notes with {curve.artifacts:,} artifacts in all: those that a cap covers "
        f"whole. One column is one cap, in slots of {text(curve.unit)}.</p>"
    )
    data = [
        Column(f"{one.cap}", (("filtered", one.notes), ("other", curve.notes - one.notes)))
        for one in curve.points
    ]
    yield wide(columns(data, title="Notes fully covered by cap", unit="notes"))
    yield (
        '<p class="key"><span><i class="filtered"></i>covered whole</span>'
        '<span><i class="other"></i>not</span></p>'
    )
    rows = (
        (f"{one.cap:,}", f"{one.notes:,}", share(one.notes, curve.notes), f"{one.artifacts:,}",
         share(one.artifacts, curve.artifacts), f"{one.bytes:,}")
        for one in curve.points
    )  # fmt: skip
    yield table(("cap", "covered whole", "of notes", "artifacts", "of artifacts", "bytes"), rows)


def _replay(report: EvidenceReport) -> Iterator[str]:
    if not report.replay:
        return
    lost = sum(len(one.lost) for one in report.replayed)
    kept = sum(len(one.kept) for one in report.replayed)
    yield f"<h2>The same plans under {text(report.replay)}</h2>"
    yield (
        f"<p>{lost:,} of {lost + kept:,} findings about an artifact rest on one that would have stayed "
        "unread. What a review would have said in their place is not known.</p>"
    )
    rows = (
        (one.recorded.pair.note, one.recorded.pair.criterion, f"{one.was:,}", f"{one.now:,}",
         f"{len(one.lost):,}", f"{len(one.kept):,}")
        for one in report.replayed
    )  # fmt: skip
    head = ("note", "criterion", "read", "would be read", "findings lost", "kept")
    yield table(head, rows, numbers=(2, 3, 4, 5))


def _pair(one: Recorded, number: int) -> Iterator[str]:
    yield (
        f'<h3 id="{_ANCHOR}{number}">{text(one.verdict)}: {text(one.pair.note)}</h3>'
        f'<p class="soft">{text(one.pair.criterion)}, reviewed by {text(one.pair.partition)}, '
        f"{utc(one.ended_ms):%Y-%m-%d %H:%M} (UTC), {text(one.reason)}, job <code>{text(one.job)}</code>, "
        f"attempt {one.attempt:,}</p>"
    )
    if one.scoped:
        yield f"<p><b>{text(one.scoped)}</b></p>"
    for found in one.findings:
        yield from _found(found)
    if one.coverage is not None:
        yield from _coverage(one.coverage)


def _found(one: Finding) -> Iterator[str]:
    about = f" about <code>{text(one.artifact)}</code>" if one.artifact else ""
    yield f"<p><b>{text(one.severity)} {text(one.rule)}</b>, line {one.line:,}{about}"
    if one.text:
        yield f". {text(one.text)}"
    yield "</p>"
    if one.claim:
        yield f"<blockquote>{text(one.claim)}</blockquote>"
    if one.passage:
        where = f" (line {one.passage_line:,})" if one.passage_line else ""
        yield f'<p class="soft">the artifact{where}:</p><blockquote>{text(one.passage)}</blockquote>'


def _coverage(read: Coverage) -> Iterator[str]:
    capped = "no cap" if read.cap is None else f"cap {read.cap:,}"
    slots = f"{read.slots_used:,} slot{'' if read.slots_used == 1 else 's'} ({escape(read.unit)})"
    size = f"{read.bytes_read:,} of {read.bytes_offered:,} bytes"
    yield (
        f"<details><summary>read {read.read:,} of {read.offered:,} artifacts, {slots}, {size}; {capped}; "
        f"stopped by {escape(read.stop)}</summary>"
    )
    rows = [
        *((f"{one.n:,}", one.path, one.shape, one.route, "read") for one in read.opened),
        *((one.id, one.artifact, one.part, ", ".join(one.blocks), f"not read: {one.reason}")
          for one in read.unread),
        *(("", one.dest, one.kind, f"link {one.link:,}", f"unavailable: {one.reason or one.kind}")
          for one in read.unavailable),
    ]  # fmt: skip
    yield table(("", "file", "as", "route or blocks", ""), rows, numbers=())
    yield "</details>"
