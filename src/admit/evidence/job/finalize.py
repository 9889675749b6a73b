"""End a job: its output is read, its reads are counted, and a verdict follows or there is none."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from admit.errors import BaselineConflict, IntegrityError, JobError, LedgerError
from admit.evidence.base import Base
from admit.evidence.coverage import scoped
from admit.evidence.job.manifest import Job, load
from admit.evidence.job.output import MOST_CHARS, NOTE, Answer, Malformed, Said, parse
from admit.evidence.job.reads import Read, read_of
from admit.evidence.job.recorded import job_record
from admit.evidence.job.stored import review_of, stored
from admit.evidence.linked import linked_of
from admit.evidence.model import (
    VERDICTS_STORED,
    Finding,
    Pair,
    Review,
    Severity,
    Verdict,
    worst,
)
from admit.evidence.pack import pack_hash
from admit.evidence.partition import partition
from admit.evidence.questions import targets
from admit.evidence.verdict import route_findings, unread_findings
from admit.ledger.evidence import EvidenceStore

if TYPE_CHECKING:
    from admit.ledger.port import Ledger

MALFORMED, CITES_UNREAD, NOTHING_READ = "malformed-output", "cites-unread", "nothing-read"
REVIEWED, CONFLICT = "judged", "conflict"
_AGAIN = "export or review the pair again; the output is kept"
UNSERVED, UNOPENED = "unserved", "unopened"
"""The rules of what a reviewer says of its reading and the record does not, and the other way round."""


def finalize(
    base: Base,
    store: EvidenceStore,
    job: str,
    text: str | None = None,
    *,
    model: str | None = None,
    effort: str | None = None,
    fault: str | None = None,
    ledger: Ledger | None = None,
) -> Review:
    """End the newest attempt of a job; of one that is over, give its review as it was.

    Args:
        text: The output; None reads `output.md` in the job's folder.
        model: What the reviewer says it is; its partition is where the review then counts.
        effort: Of that model.
        fault: Why there is no output, such as ``agent-timeout``; nothing is read then.
        ledger: Takes the record; a fault of it costs no verdict.

    Raises:
        JobError: There is no such job, or no output yet, or the job is for the models of another partition.
        LedgerError: The store cannot be read. Where the review cannot be kept it is given all the same, as
            one that is not stored, and the job is still open.
    """
    held = load(store, job)
    if not held.is_open:
        return _as_it_was(held)
    pair = _pair(held, model, effort)
    if text is None and fault is None:
        text = _output(held)
    reads = store.reads(held.id, held.attempt)
    read = read_of(held, reads)
    review = _review(base, held, read, text or "", fault)
    review = review._replace(
        pair=pair, model=model, shadow="mode" if base.settings.mode == "shadow" else None
    )
    try:
        review = _kept(base, store, held, review, read)
    except JobError:  # somebody else ended it in between
        return _as_it_was(load(store, job, held.attempt))
    except LedgerError:
        return review
    if ledger is not None:
        with suppress(Exception):  # a record that cannot be made must not cost the verdict
            ledger.append(job_record(held, review, reads))
    return review


def _review(base: Base, job: Job, read: Read, text: str, fault: str | None) -> Review:
    routes = route_findings(job.plan, read.unavailable, base.settings.severity)
    answer: Answer | None = None
    found: tuple[Finding, ...] = ()
    verdict: Verdict = "UNJUDGED"
    reason = fault
    if reason is None:
        try:
            answer = _parsed(job, text)
        except Malformed as malformed:
            reason, found = MALFORMED, (_told(job, MALFORMED, str(malformed)),)
    if answer is not None:
        found = (*_findings(job, answer), *_self_report(job, read, answer))
        if (hindrance := _unjudged(job, read, answer)) is not None:
            reason, why = hindrance
            found = (*found, _told(job, reason, why))
        else:
            verdict, reason = _verdict(answer, routes), REVIEWED
    unread = unread_findings(job.plan, targets(job.plan, read.items, read.unavailable), read.coverage)
    return Review(
        pair=job.pair,
        verdict=verdict,
        reason=reason or REVIEWED,
        findings=(*found, *unread, *routes),
        coverage=read.coverage,
        plan_hash=job.plan.plan_hash,
        pack_hash=pack_hash(read.items) if read.items else "",
        note_sha256=job.row.note_sha256,
        criterion_sha256=job.row.criterion_sha256,
        job=job.id,
        attempt=job.attempt,
        scoped=scoped(verdict, read.coverage) if verdict in VERDICTS_STORED else "",
    )


def _parsed(job: Job, text: str) -> Answer:
    blocks = {block.id for block in job.plan.note.blocks}
    offers = {offer.id for offer in job.plan.offers}
    return parse(text, job.id, job.nonce, blocks=blocks, offers=offers)


def _unjudged(job: Job, read: Read, answer: Answer) -> tuple[str, str] | None:
    """Why a valid output is no verdict all the same, as a reason and in words.

    A WARN or FAIL of a block that links to artifacts, none of which was served, rests on what was not read,
    whether or not it cites any: missing reading never becomes a failure.
    """
    opened = {item.offer for item in read.items}
    cited = [id for said in answer.findings for id in said.offers if id not in opened]
    if cited:
        return CITES_UNREAD, f"a finding names {', '.join(dict.fromkeys(cited))}, which was never opened"
    if job.criterion.material == "none":
        return None
    if job.plan.offers and not opened:
        return NOTHING_READ, f"none of the {len(job.plan.offers):,} artifacts was opened"
    linked = _linked(job)
    block_of = {link.n: link.block for link in job.plan.note.links}
    unavailable = {block_of[one.link]: one.dest for one in job.plan.unavailable if one.kind == "artifact"}
    for said in answer.findings:
        ids = linked.get(said.block, ())
        if said.severity != "INFO" and ids and opened.isdisjoint(ids):
            return CITES_UNREAD, f"{said.severity} [{said.block}] rests on {', '.join(ids)}, never opened"
        if said.severity != "INFO" and not ids and (lost := unavailable.get(said.block)):
            return CITES_UNREAD, f"{said.severity} [{said.block}] rests on {lost}, which cannot be served"
    return None


def _linked(job: Job) -> dict[str, list[str]]:
    """The ids of what each block links to, in admission order."""
    blocks = {link.n: link.block for link in job.plan.note.links}
    found: dict[str, list[str]] = {}
    for offer in job.plan.offers:
        for block in dict.fromkeys(blocks[n] for n in offer.links):
            found.setdefault(block, []).append(offer.id)
    return found


def _told(job: Job, rule: str, text: str) -> Finding:
    return Finding(rule, "INFO", job.plan.note.path, 1, "", "", "", "", 0, text, "check", fix=_AGAIN)


def _verdict(answer: Answer, routes: Sequence[Finding]) -> Verdict:
    if answer.result == "ERROR":
        return "ERROR"
    own: list[Severity] = [one.severity for one in answer.findings]
    gravest = worst((*own, *(one.severity for one in routes)))
    return "PASS" if gravest is None or gravest == "INFO" else gravest


def _findings(job: Job, answer: Answer) -> Iterator[Finding]:
    blocks = {block.id: block for block in job.plan.note.blocks}
    artifacts = {offer.id: offer.artifact for offer in job.plan.offers}
    for said in answer.findings:
        block = blocks.get(said.block)
        yield Finding(
            rule=job.criterion.id,
            severity=said.severity,
            note=job.plan.note.path,
            line=block.first if block is not None else 1,
            block=said.block if said.block != NOTE else "",
            claim=block.text if block is not None else "",
            artifact=artifacts[said.offers[0]] if said.offers else "",
            passage="",
            passage_line=0,
            text=_words(said, artifacts),
            origin="agent",
            start=block.start if block is not None else 0,
            end=block.end if block is not None else 0,
        )


def _words(said: Said, artifacts: dict[str, str]) -> str:
    others = ", ".join(f"{id} {artifacts[id]}" for id in said.offers[1:])
    return f"{said.text} (also: {others})" if others else said.text


def _self_report(job: Job, read: Read, answer: Answer) -> Iterator[Finding]:
    """What the reviewer says that it opened beside what was served to it; it is told, and changes nothing."""
    if answer.opened is None:
        return
    artifacts = {offer.id: offer.artifact for offer in job.plan.offers}
    served = list(dict.fromkeys(item.offer for item in read.items))
    unserved = [id for id in answer.opened if id not in served]
    unopened = [id for id in served if id not in answer.opened]
    for rule, ids, words in (
        (UNSERVED, unserved, "the reviewer says that it opened this, and it was not served"),
        (UNOPENED, unopened, "this was served, and the reviewer does not say that it opened it"),
    ):
        for id in ids:
            note, artifact = job.plan.note.path, artifacts.get(id, "")
            yield Finding(rule, "INFO", note, 1, "", "", artifact, "", 0, f"{id}: {words}", "check")


def _kept(base: Base, store: EvidenceStore, job: Job, review: Review, read: Read) -> Review:
    """The review as it now is on record.

    Raises:
        JobError: The job is over.
        LedgerError: It could not be kept.
    """
    done = review._replace(stored=True)
    if done.verdict in VERDICTS_STORED and done.shadow is None:
        try:
            return _accepted(base, store, job, done, read)
        except BaselineConflict:
            done = review._replace(conflict=True)
    _end(store, job, done)
    return done


def _accepted(base: Base, store: EvidenceStore, job: Job, review: Review, read: Read) -> Review:
    """The same.

    Raises:
        BaselineConflict: Something was accepted or retired since the job was made.
    """
    own = review.pair.partition
    store.complete_job(
        job.id,
        job.attempt,
        verdict=review.verdict,
        reason=review.reason,
        review=stored(review),
        linked=linked_of(base, job.plan, read.items),
        instead=None if own == job.row.partition else (own, job.revisions.get(own)),
    )
    return review


def _end(store: EvidenceStore, job: Job, review: Review) -> None:
    completed = review.verdict in VERDICTS_STORED
    store.end_job(
        job.id,
        job.attempt,
        state="completed" if completed else "failed",
        verdict=review.verdict,
        reason=CONFLICT if review.conflict else review.reason,
        review=stored(review),
    )


def _pair(job: Job, model: str | None, effort: str | None) -> Pair:
    """The pair, in the partition of who reviewed it.

    Raises:
        JobError: The job is for the models of another one.
    """
    if model is None:
        return job.pair
    own = partition(model, effort)
    if job.row.partition not in (own, partition(None)):
        raise JobError(
            f"the job {job.id} is for {job.row.partition}, and {model} counts as {own}; export it for {own}"
        )
    return job.pair._replace(partition=own)


def _output(job: Job) -> str:
    """What the reviewer wrote; bytes that are no UTF-8 become lone surrogates, which `parse` refuses.

    Raises:
        JobError: It is not there, or no regular file.
    """
    path = job.output
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise JobError(f"{path} is no regular file; the output of the reviewer belongs there")
            return file.read(4 * MOST_CHARS + 1).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        raise JobError(f"{path} is not there yet; the output of the reviewer belongs there") from None
    except OSError as fault:
        raise JobError(f"{path} cannot be read ({fault.strerror}); put the output there as a file") from None


def _as_it_was(job: Job) -> Review:
    try:
        return review_of(job.row.review or {})
    except (KeyError, TypeError, ValueError) as fault:
        key = f"{job.id}/{job.attempt}"
        raise IntegrityError("evidence_job", key, f"its review is not as it was written: {fault}") from None
