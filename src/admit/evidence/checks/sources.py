"""Ingests and snapshots: what a note links of them, and what they hold themselves."""

from __future__ import annotations

from collections.abc import Iterator

from admit.evidence.checks.page import Page, is_artifact
from admit.evidence.checks.quotes import verified
from admit.evidence.extracts import EXTRACT, LOCATION
from admit.evidence.matching import Source
from admit.evidence.model import Finding
from admit.evidence.note import Link
from admit.evidence.reading import Unreadable
from admit.evidence.sources import ingest, is_snapshot, is_source, snapshot_path

RULES = (
    "ingest-source", "ingest-quotes", "ingest-quote", "ingest-hash", "unquoted-sources", "snapshot-linked",
    "snapshot-missing", "snapshot-hash", "snapshot-source",
)  # fmt: skip

_FAILED = {
    "snapshot-missing": ("there is no snapshot of {}", "keep its text at {}, or link its Quotes"),
    "snapshot-hash": ("the snapshot of {} has another hash than its snapshot_sha256", "capture {} anew"),
    "snapshot-source": ("the snapshot of {} names another source", "set the source of {} to the ingest's"),
}
_NAMED = 8  # sources that a finding names


def check(page: Page) -> Iterator[Finding]:
    """What is wrong with the sources that a note links, and with the note where it is an ingest."""
    links = [link for link in page.links if is_artifact(link)]
    sources = [link for link in links if is_source(page.base, link.target)]
    for link in links:
        if is_snapshot(page.base, link.target):
            text = f"{link.target} is a snapshot, and a link straight to it says nothing of its source"
            fix = "link its ingest, with (snapshot required) in the text of the link"
            yield page.of_link("snapshot-linked", link, text, fix=fix)
        if link.snapshot_required and (reason := page.texts.failure(link)):
            text, fix = _why(page, link, reason)
            place = snapshot_path(page.base, link.target)
            yield page.of_link(reason, link, text.format(link.target), fix=fix.format(place))
    yield from _unquoted(page, sources)
    if is_source(page.base, page.note.path):
        yield from _ingest(page)


def _why(page: Page, link: Link, reason: str) -> tuple[str, str]:
    """What a failed snapshot is told as, and what to do about it."""
    try:
        record = ingest(page.base, link.target)
    except Unreadable:
        record = None
    if record is None:
        fix = "take (snapshot required) out of the link"
        if is_source(page.base, link.target):
            fix = f"give it a source: in its front matter, or {fix}"
        return "{} is no ingest, so there is no snapshot of it", fix
    if reason == "snapshot-hash" and not record.snapshot_sha256:
        return "{} names no snapshot_sha256 of 64 hex digits", "add the hash of {} to the ingest"
    return _FAILED[reason]


def _seen(page: Page) -> str:
    """The headings that may be meant for Quotes."""
    near = [one for one in page.note.document.headings if one.text.strip(" :").lower() == "quotes"]
    told = ", ".join(f"{'#' * one.level} {one.text.strip()} in line {one.line:,}" for one in near)
    return f"; there is {told}" if told else ""


def _unquoted(page: Page, sources: list[Link]) -> Iterator[Finding]:
    """Whether a note links more ingests than allowed without quoting them."""
    most = page.settings.max_unquoted_sources
    targets = dict.fromkeys(link.target for link in sources)
    if len(targets) <= most:
        return
    targets = [path for path in targets if page.texts.is_ingest(path)]
    if len(targets) <= most:
        return
    required = {link.target for link in sources if link.snapshot_required}
    quoted = verified(page) - required
    bare = [path for path in targets if path not in quoted]
    if len(bare) > most:
        link = next(link for link in sources if link.target == bare[most])
        named = ", ".join(bare[:_NAMED]) + (f" and {len(bare) - _NAMED} more" if len(bare) > _NAMED else "")
        text = f"{len(bare):,} sources are linked without a verified quotation, over {most:,}: {named}"
        fix = "quote them, or link fewer; evidence.max_unquoted_sources is the limit"
        yield page.of_link("unquoted-sources", link, text, fix=fix)


def _ingest(page: Page) -> Iterator[Finding]:
    """An ingest names its source, and its extracts stand in its snapshot, where that is kept."""
    path = page.note.path
    try:
        record = ingest(page.base, path)
        if record is None:
            text = "an ingest without a source in its front matter is read as an ordinary file"
            yield page.of_line("ingest-source", 1, text, fix="add source: with the address of its source")
            return
        if not record.extracts:
            text = (
                f"an ingest without an extract under one heading ## Quotes has no Quotes to read{_seen(page)}"
            )
            fix = f"add pairs of {EXTRACT} and {LOCATION} under ## Quotes"
            yield page.of_line("ingest-quotes", 1, text, fix=fix)
        kept = page.base.file(snapshot_path(page.base, path))
    except Unreadable:
        return
    if record.snapshot_sha256 and kept.sha256 != record.snapshot_sha256:
        line = page.note.front.lines.get("snapshot_sha256", 1) if page.note.front else 1
        text = f"{kept.path} is {kept.sha256}, not the snapshot that this ingest names"
        fix = "capture it anew, or name its hash after comparing the two"
        yield page.of_line("ingest-hash", line, text, fix=fix)
        return
    source = Source(kept.text)
    for extract in record.extracts:
        if source.find(extract.text) is not None:
            continue
        near = source.closest(extract.text)
        start = page.of_line("ingest-quote", extract.line, "").start
        end = page.of_line("ingest-quote", extract.line + extract.text.count("\n"), "").end
        text = f"{kept.path} does not hold this extract" + (
            f"; the closest is line {near.line}" if near else ""
        )
        yield page.finding(
            "ingest-quote",
            start,
            end,
            text,
            line=extract.line,
            artifact=kept.path,
            passage=near,
            fix="copy the extract as it stands in the snapshot",
        )
