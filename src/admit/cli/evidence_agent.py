"""`admit evidence review --export` and `--agent`: a folder for each pair, for any agent; an agent of ours."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from admit.cli import evidence_words as words
from admit.cli.evidence_base import SCHEMA, Notes, Progress, said_scope
from admit.cli.evidence_gate import open_kept
from admit.cli.frame import DONE, FINDING, counted, print_json
from admit.errors import JobError, NoteError, UsageError

if TYPE_CHECKING:
    from admit.evidence.base import Base
    from admit.evidence.criterion import Criterion
    from admit.evidence.gate import EvidenceGate
    from admit.evidence.job.manifest import Job

MOST_JOBS = 40


def export(
    notes: Notes,
    criteria: Sequence[Criterion],
    folder: str,
    model: str | None,
    *,
    every: bool,
    reasons: Collection[str],
    as_json: bool,
) -> int:
    """Write the jobs of all pairs that are due, and say what comes next.

    Args:
        model: Who will do them; None is not known, and then no accepted review is theirs.

    Raises:
        UsageError: Jobs cannot be kept, or the folder cannot be written.
    """
    gate = _gate(notes.base, model)
    due = gate.due(notes.paths, criteria, fresh=every, reasons=reasons)
    jobs: list[Job] = []
    unread: list[NoteError] = []
    progress = Progress(len(due.pairs), "pair", quiet=as_json)
    for path, criterion in due.pairs:
        try:
            jobs.append(gate.export(gate.plan(path, criterion), folder))
        except NoteError as fault:
            unread.append(fault)
        except OSError as fault:
            where = fault.filename or folder  # of a job that goes on, the folder that it has
            raise UsageError(f"{where} cannot be written: {fault.strerror or fault}") from fault
        progress.step()
    progress.end()
    counts = {"jobs": len(jobs), "fresh": due.fresh, "not_applicable": due.not_applicable}
    if as_json:
        rows = [
            {"job": one.id, "attempt": one.attempt, **one.pair._asdict(), "folder": one.folder}
            for one in jobs
        ]
        lost = [{"note": one.path, "reason": one.reason} for one in unread]
        print_json(
            {"schema": SCHEMA, "command": "review", "summary": counts, "jobs": rows, "unreadable": lost}
        )
    else:
        _say(notes, jobs, folder, due.fresh, due.not_applicable)
    for fault in unread:
        click.echo(f"admit: {words.one_line(str(fault), 400)}", err=True)
    return FINDING if unread else DONE


class Wanted(NamedTuple):
    """How an agent reviews, as the options say."""

    agent: str
    model: str | None
    every: bool
    reasons: Collection[str]
    workers: int | None
    allow_unjudged: bool
    sarif: str | None


def review(notes: Notes, criteria: Sequence[Criterion], wanted: Wanted, *, as_json: bool) -> int:
    """Let an agent review all pairs that are due, several at once, each in a context of its own.

    Raises:
        UsageError: The agent may not review, or jobs cannot be kept.
        JobError: Somebody else's answer to one of the jobs waits to be finalized.
    """
    from admit.cli.evidence_told import told
    from admit.evidence.batch import in_order
    from admit.evidence.model import Pair, Review
    from admit.hosts.reviewers import Reviewer, jobs_folder

    base, gate = notes.base, _gate(notes.base, wanted.model)
    store = gate.store
    assert store is not None
    reviewer = Reviewer(wanted.agent, base, model=wanted.model)
    due = gate.due(notes.paths, criteria, fresh=wanted.every, reasons=wanted.reasons)
    folder = jobs_folder()

    def done(pair: tuple[str, Criterion]) -> Review:
        try:
            plan = gate.plan(*pair)
        except NoteError as fault:
            return Review(Pair(pair[0], pair[1].id, gate.partition), "ERROR", fault.reason)
        job = gate.export(plan, folder)
        if os.path.dirname(job.folder) != os.path.realpath(folder) and os.path.lexists(job.output):
            raise JobError(
                f"{job.output} holds the answer of another reviewer to the same job; "
                f"decide it first: admit evidence finalize{_root(base)} {job.id}"
            )
        return reviewer.review(store, job.id)

    given = in_order(done, due.pairs, wanted.workers or base.settings.workers)
    return told(
        given,
        notes,
        due,
        wanted.agent,
        allow_unjudged=wanted.allow_unjudged,
        sarif=wanted.sarif,
        as_json=as_json,
    )


def _gate(base: Base, model: str | None) -> EvidenceGate:
    """The gate of the reviews of one model.

    Raises:
        UsageError: Jobs cannot be kept.
    """
    from admit.evidence.gate import EvidenceGate
    from admit.evidence.partition import partition

    store = open_kept(base)
    if store is None:
        raise UsageError("a job is served and counted by the ledger, so without it there is none")
    return EvidenceGate(base, store=store, partition=partition(model))


def _root(base: Base) -> str:
    """The option that leads a command back to the base from here; empty where none is needed."""
    root = os.path.relpath(base.root)
    return "" if root == os.curdir else f" --root {shlex.quote(root)}"


def _say(notes: Notes, jobs: Sequence[Job], folder: str, fresh: int, without: int) -> None:
    lines = [
        f"{one.id}  {words.path(one.pair.note)} by {one.pair.criterion}, "
        f"{counted(len(one.plan.offers), 'artifact')}"
        for one in jobs[:MOST_JOBS]
    ]
    lines += [f"… and {len(jobs) - MOST_JOBS:,} more"] if len(jobs) > MOST_JOBS else []
    lines.append(f"{counted(len(jobs), 'job')} written")
    elsewhere = [one.folder for one in jobs if os.path.dirname(one.folder) != os.path.realpath(folder)]
    if elsewhere:
        lines.append(
            f"{counted(len(elsewhere), 'job')} of them begun before, what was opened counted, in its folder: "
            f"{words.path(elsewhere[0])}{' …' if len(elsewhere) > 1 else ''}"
        )
    lines += [f"{counted(fresh, 'pair')} fresh, not reviewed again (--all reviews them)"] if fresh else []
    lines += [f"{counted(without, 'pair')} not applicable: nothing there to ask about"] if without else []
    if jobs:
        first = jobs[0]
        prompt = words.path(os.path.join(first.folder, "prompt.md"))
        more = " …" if len(jobs) > 1 else ""
        lines.append(f"Next: give each prompt to an agent in a context of its own ({prompt}),")
        lines.append("its answer into output.md beside the prompt, then:")
        lines.append(f"  admit evidence finalize{_root(notes.base)} {first.id}{more}")
    click.echo("\n".join([*lines, *said_scope(notes)]))
