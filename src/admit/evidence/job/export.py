"""Make the folder of a job: what a reviewer is told, and a copy of what it may read."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress

from admit.config.places import private_folder
from admit.config.private import write_private
from admit.errors import JobError
from admit.evidence.base import Base
from admit.evidence.job.manifest import Job, job_of, manifest
from admit.evidence.job.prompt import prompt
from admit.evidence.job_id import job_id
from admit.evidence.kept import texts_of
from admit.evidence.model import Pair
from admit.evidence.plan import Plan
from admit.ledger.evidence import EvidenceStore
from admit.ledger.evidence_rows import JobRow

PROMPT, MANIFEST = "prompt.md", "MANIFEST.json"


def export(base: Base, store: EvidenceStore, plan: Plan, directory: str, partition: str) -> Job:
    """Make the job of a plan, or go on with the one that is there and not over, in the folder that it has.

    So a second export gives nobody a second budget: reads are counted for an attempt, and the next attempt
    begins when the earlier one is over. The folder of a new one is `directory`/JOB, of mode 0700, its files
    of mode 0600. An earlier attempt's output is kept beside it under another name.

    Args:
        partition: Of the models that may review it; a reviewer that names its model counts there instead.

    Raises:
        JobError: The plan has no criterion, or another cap, unit or order than its criterion.
        LedgerError: The job cannot be stored.
        OSError: The folder cannot be written.
    """
    criterion = plan.criterion
    if criterion is None:
        raise JobError("a job reviews by a criterion; name one with --criterion")
    if (plan.cap, plan.unit, plan.order) != (criterion.budget, criterion.unit, criterion.order):
        raise JobError(
            f"a job has the budget, unit and order of its criterion; they are changed in {criterion.path}"
        )
    pair = Pair(plan.note.path, criterion.id, partition)
    revisions = {
        row.partition: row.revision
        for row in store.baselines([plan.note.path])
        if row.criterion == criterion.id
    }
    expected = revisions.get(partition)
    id = job_id(pair, plan.note.sha256, criterion.sha256, plan.plan_hash, expected, plan.scaffold)
    found = store.job(id, exported=True)
    job = job_of(found) if found is not None else None
    if job is None or not job.is_open:
        folder = os.path.join(os.path.realpath(directory), id)
        row = JobRow(
            job=id,
            attempt=0,
            note=pair.note,
            criterion=pair.criterion,
            partition=pair.partition,
            note_sha256=plan.note.sha256,
            criterion_sha256=criterion.sha256,
            plan_hash=plan.plan_hash,
            expected_revision=expected,
            folder=folder,
            manifest=manifest(plan, secrets.token_hex(8), revisions),
        )
        job = job_of(store.add_job(row, texts=texts_of(base, plan)))
        _set_aside(job)
    _write(job, plan.note.text, base.root)
    return job


def _write(job: Job, note: str, root: str) -> None:
    told = {"job": job.id, "attempt": job.attempt, "pair": job.pair._asdict(), **(job.row.manifest or {})}
    private_folder(job.folder)
    text = json.dumps(told, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace")
    write_private(os.path.join(job.folder, MANIFEST), text + b"\n")
    # Last, so that whoever sees the prompt finds all the rest in place.
    write_private(os.path.join(job.folder, PROMPT), prompt(job, note, root).encode())


def _set_aside(job: Job) -> None:
    """Give the output of an earlier attempt another name, for its nonce is no longer the one that counts."""
    with suppress(FileNotFoundError):
        os.rename(job.output, os.path.join(job.folder, f"output-before-{job.attempt}.md"))
