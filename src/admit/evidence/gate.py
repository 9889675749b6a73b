"""The front door: what a review may read, what it found, and whether that still stands.

notes × criteria ─▶ due (stale or missing) ─▶ review, several at once ─▶ baselines
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from admit.core.question import Judge
from admit.errors import EvidenceError, IntegrityError, LedgerError, NoteError
from admit.evidence import batch, planning
from admit.evidence.criteria import load, shipped
from admit.evidence.criterion import Criterion
from admit.evidence.freshness import Freshness, compared
from admit.evidence.model import Finding, OrderName, Pair, Review, Unit
from admit.evidence.pack import Pack, pack
from admit.evidence.partition import UNNAMED, partition
from admit.evidence.plan import Plan
from admit.evidence.planning import UNSET, Unset
from admit.evidence.questions import applicable, fits
from admit.evidence.review import Reviewer, review, try_plan
from admit.evidence.scope import find
from admit.evidence.shown import Reader
from admit.judges.bounded import BoundedJudge
from admit.judges.clock import Clock, SystemClock
from admit.judges.door import DoorJudge
from admit.ledger.evidence_rows import BaselineRow, path_key

if TYPE_CHECKING:
    from admit.evidence.base import Base
    from admit.evidence.job.manifest import Job
    from admit.ledger.evidence import EvidenceStore
    from admit.ledger.port import Ledger

DEADLINE_MS = 120_000
"""Of one pair, with a judge that has no profile."""

NO_JUDGE = (
    "no judge is named, and none is asked unless you name it: "
    "--judge NAME (or evidence.judge), --agent claude|codex, or --export DIR"
)

Work = tuple[str, Criterion]
"""A pair to be reviewed: the path of a note, and a criterion."""

Named = tuple[str, str | Criterion]
"""The same with the id of a criterion, or the criterion."""


class Due(NamedTuple):
    """What is to be reviewed among notes and criteria.

    Attributes:
        pairs: Stale, missing, or of a note that cannot be read; by note, then in the order of criteria.
        fresh: Pairs whose accepted review stands, a count.
        not_applicable: Where a criterion asks nothing of a note, a count.
    """

    pairs: tuple[Work, ...]
    fresh: int
    not_applicable: int


class EvidenceGate:
    """Reviews of one knowledge base. May be shared by threads.

    Args:
        base: The notes and what they link to.
        judge: Who reviews, with the deadline of its profile where it comes with one; None asks nobody.
        ledger: Where decisions are recorded; None records nothing.
        clock: Of elapsed time.
        store: Where reviews are accepted and jobs kept; None keeps nothing.
        partition: In which reviews count; None is that of the judge's model.
    """

    def __init__(
        self,
        base: Base,
        judge: Judge | DoorJudge | None = None,
        ledger: Ledger | None = None,
        clock: Clock | None = None,
        *,
        store: EvidenceStore | None = None,
        partition: str | None = None,
    ) -> None:
        self.base = base
        self.store = store
        self._ledger = ledger
        self._clock = clock or SystemClock()
        self._reviewer = None if judge is None else _reviewer(judge, self._clock)
        if partition is not None and self._reviewer is not None:
            self._reviewer = self._reviewer._replace(partition=partition)
        own = UNNAMED if self._reviewer is None else self._reviewer.partition
        self.partition = partition or own

    def criterion(self, name: str | Criterion) -> Criterion:
        """A criterion by id or file.

        Raises:
            CriterionError: There is none, or it is not as it should be.
        """
        return load(self.base, name) if isinstance(name, str) else name

    def plan(
        self, note_path: str, criterion: str | Criterion | None = None, *, cap: int | Unset | None = UNSET
    ) -> Plan:
        """What a review of a note may read. No judge is asked.

        Args:
            cap: Another number of slots to try; by default that of the criterion, without one none.

        Raises:
            NoteError, CriterionError: The note or the criterion cannot be read.
        """
        chosen = None if criterion is None else self.criterion(criterion)
        return planning.plan(self.base, note_path, chosen, cap=cap)

    def plan_many(
        self,
        paths: Iterable[str],
        criterion: str | Criterion | None = None,
        *,
        cap: int | Unset | None = UNSET,
        top: bool = False,
    ) -> Iterator[Plan]:
        """The plans of the notes in files and folders, in the order of paths; raises as `plan`."""
        chosen = None if criterion is None else self.criterion(criterion)
        for path in find(self.base, self._below(paths), top=top).notes:
            yield planning.plan(self.base, path, chosen, cap=cap)

    def replay(
        self, plan: Plan, *, cap: int | None, unit: Unit | None = None, order: OrderName | None = None
    ) -> Plan:
        """The plan under another cap, unit or order. Nothing is read."""
        return planning.replay(plan, cap=cap, unit=unit, order=order)

    def pack(self, plan: Plan) -> Pack:
        """The texts that are read, within the limits of the judge where there is one."""
        if self._reviewer is None or plan.criterion is None:
            return pack(self.base, plan)
        return pack(self.base, plan, fits(plan, self._reviewer.judge.limits()))

    def lint(self, paths: Iterable[str], rules: Collection[str] | None = None) -> Iterator[Finding]:
        """What the deterministic checks find. No judge is asked."""
        from admit.evidence.lint import lint

        return lint(self.base, find(self.base, self._below(paths)).notes, rules)

    def review(self, note_path: str, criterion: str | Criterion, *, attempt: int = 1) -> Review:
        """Ask the judge about one pair. Its faults are reasons of the review, never exceptions.

        Args:
            attempt: The number of a review that is not kept; the store numbers its own.

        Raises:
            EvidenceError: Nobody may be asked: reviews are off, or no judge was named.
            CriterionError: The criterion is not as it should be.
            IntegrityError: The accepted review of the pair is not as it was written.
        """
        return self._review(self._asked(), note_path, self.criterion(criterion), attempt)

    def try_plan(self, plan: Plan) -> Review:
        """Ask the judge about a plan of any cap, unit or order; nothing is kept or recorded.

        Raises:
            EvidenceError: Nobody may be asked.
        """
        return try_plan(self.base, self._asked(), plan, self._clock)

    def review_many(self, pairs: Sequence[Named], workers: int | None = None) -> Iterator[Review]:
        """Ask the judge about many pairs, several at once; the reviews come in the order of the pairs.

        Each is kept as soon as it is there, also when the iterator is left early.

        Args:
            workers: Pairs at once; None is ``evidence.workers``.

        Raises:
            EvidenceError, IntegrityError: As `review`.
        """
        reviewer = self._asked()
        chosen = {
            one: self.criterion(one) for one in dict.fromkeys(one for _, one in pairs if isinstance(one, str))
        }
        given = [(path, chosen[one] if isinstance(one, str) else one) for path, one in pairs]

        def work(pair: Work) -> Review:
            return self._review(reviewer, *pair, 1)

        return batch.in_order(work, given, workers or self.base.settings.workers)

    def due(
        self,
        notes: Iterable[str],
        criteria: Sequence[Criterion],
        *,
        fresh: bool = False,
        reasons: Collection[str] = (),
    ) -> Due:
        """The pairs that are to be reviewed: those whose accepted review does not stand.

        Args:
            notes: Paths below the root, as `scope.find` gives them.
            fresh: Those that stand as well.
            reasons: Only those that are stale for one of these reasons.

        Raises:
            IntegrityError: A stored row is not as it was written.
        """
        pairs: list[Work] = []
        standing = without = 0
        rows, reader = self._rows(), Reader(self.base)
        for path in notes:
            for criterion in criteria:
                try:
                    found = self._freshness(path, criterion, rows, reader)
                except NoteError:
                    pairs.append((path, criterion))  # the review says why it cannot be read
                    continue
                if found is None:
                    without += 1
                elif found.fresh and not fresh:
                    standing += 1
                elif not reasons or any(one in reasons for one in found.reasons):
                    pairs.append((path, criterion))
        return Due(tuple(pairs), standing, without)

    def status(
        self, paths: Iterable[str], criteria: Sequence[str | Criterion] = (), *, top: bool = False
    ) -> tuple[Freshness, ...]:
        """How accepted reviews stand, for each note and each criterion that asks something of it.

        Args:
            criteria: None given are the shipped ones.

        Raises:
            NoteError: A note cannot be read.
            IntegrityError: A stored row is not as it was written.
            LedgerError: The store cannot be read.
        """
        chosen = [self.criterion(one) for one in criteria] or shipped()
        store, reader = self._kept(), Reader(self.base)
        rows = {(row.note, row.criterion, row.partition): row for row in store.baselines()}
        found = (
            self._freshness(path, criterion, rows, reader)
            for path in find(self.base, self._below(paths), top=top).notes
            for criterion in chosen
        )
        return tuple(one for one in found if one is not None)

    def ack(self, pair: Pair, *, trivial: bool = False) -> BaselineRow:
        """Take the texts of today as the accepted ones, keeping what was read.

        Raises:
            EvidenceError: There is no accepted review, or more changed than `trivial` allows.
            BaselineConflict: It changed meanwhile.
        """
        from admit.evidence.ack import ack

        criterion = self.criterion(pair.criterion)
        return ack(self.base, self._kept(), pair, criterion, trivial=trivial, ledger=self._ledger)

    def export(self, plan: Plan, directory: str) -> Job:
        """Make the folder of a job for a coding agent; see `evidence.job.export`."""
        from admit.evidence.job.export import export

        return export(self.base, self._kept(), plan, directory, self.partition)

    def open(self, job: Job | str, id: str) -> str:
        """Serve a text of a job, by itself or its id, and record that it was read.

        Raises:
            BudgetExhausted, NotOffered, JobError: It is not served.
        """
        from admit.evidence.job.opening import open_offer

        return open_offer(self.base, self._kept(), _id_of(job), id).text

    def finalize(self, job: Job | str) -> Review:
        """End a job with the output in its folder.

        Raises:
            JobError: There is no such job, or no output.
        """
        from admit.evidence.job.finalize import finalize

        return finalize(self.base, self._kept(), _id_of(job), ledger=self._ledger)

    def _review(self, reviewer: Reviewer, path: str, criterion: Criterion, attempt: int) -> Review:
        return review(
            self.base,
            reviewer,
            path,
            criterion,
            self._clock,
            store=self.store,
            ledger=self._ledger,
            attempt=attempt,
        )

    def _below(self, paths: Iterable[str]) -> list[str]:
        """Files and folders as the root holds them; an absolute one stays."""
        return [os.path.join(self.base.root, path) for path in paths]

    def _asked(self) -> Reviewer:
        if self.base.settings.mode == "off":
            raise EvidenceError("evidence.mode is off, so nothing is reviewed; set it to enforce or shadow")
        if self._reviewer is None:
            raise EvidenceError(NO_JUDGE)
        return self._reviewer

    def _kept(self) -> EvidenceStore:
        if self.store is None:
            raise EvidenceError("reviews are kept in the ledger; give the gate a store")
        return self.store

    def _rows(self) -> dict[tuple[str, str, str], BaselineRow]:
        """What is accepted; nothing where that cannot be read, so that it is reviewed again."""
        try:
            rows = self.store.baselines() if self.store is not None else ()
        except IntegrityError:
            raise
        except LedgerError:
            return {}
        return {(row.note, row.criterion, row.partition): row for row in rows}

    def _freshness(
        self,
        path: str,
        criterion: Criterion,
        rows: dict[tuple[str, str, str], BaselineRow],
        reader: Reader,
    ) -> Freshness | None:
        """None where the criterion asks nothing of the note."""
        note = reader.note(path)
        if not applicable(note, criterion):
            return None
        pair = Pair(note.path, criterion.id, self.partition)
        row = rows.get((path_key(pair.note), pair.criterion, pair.partition))
        return compared(self.store, row, pair, criterion, reader)  # type: ignore[arg-type]


def _id_of(job: Job | str) -> str:
    return job if isinstance(job, str) else job.id


def _reviewer(judge: Judge | DoorJudge, clock: Clock) -> Reviewer:
    asked = judge.judge if isinstance(judge, DoorJudge) else judge
    bounded = asked if isinstance(asked, BoundedJudge) else BoundedJudge(asked, clock)
    if isinstance(judge, DoorJudge):
        chosen = judge.profile
        own = partition(chosen.model or chosen.name)
        return Reviewer(bounded, chosen.name, own, judge.cell.timeout_ms, judge.profile_hash)
    return Reviewer(bounded, judge.name, partition(judge.name), DEADLINE_MS)
