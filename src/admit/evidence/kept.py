"""A review in the store: its job, what it read, and the baseline it makes. No fault here costs a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

from admit.core.events import sha256
from admit.errors import BaselineConflict, IntegrityError, JobError, LedgerError
from admit.evidence.job.stored import stored
from admit.evidence.job_id import job_id
from admit.evidence.model import VERDICTS_STORED, Item, Pair, Review
from admit.evidence.plan import Plan
from admit.evidence.planning import canonical_plan
from admit.evidence.reading import Unreadable
from admit.ledger.evidence_rows import JobRow, JobState, Linked, ReadRow

if TYPE_CHECKING:
    from admit.evidence.base import Base
    from admit.ledger.evidence import EvidenceStore

CONFLICT = "conflict"
_SHIPPED = "admit:"


def texts_of(base: Base, plan: Plan) -> tuple[bytes, ...]:
    """The exact bytes of the note and the criterion; of a criterion only while its file is what was read."""
    note = (plan.note.text.encode(),)
    if plan.criterion is None:
        return note
    path = plan.criterion.path
    try:
        if path.startswith(_SHIPPED):
            id = path.removeprefix(_SHIPPED)
            data = files("admit.evidence").joinpath("criteria", f"{id}.md").read_bytes()
        else:
            data = base.file(path).data
    except (OSError, Unreadable):
        return note
    return (*note, data) if sha256(data) == plan.criterion.sha256 else note


class Kept:
    """One attempt at one pair, from its beginning on.

    The revision of the baseline is taken here, so that a review never takes the place of a later one.

    Args:
        store: None keeps nothing.
        texts: Of the note and the criterion, exact bytes.
        attempt: The number of an attempt that is not kept; the store numbers its own.

    Raises:
        IntegrityError: The baseline of the pair is not as it was written.
    """

    def __init__(
        self, store: EvidenceStore | None, pair: Pair, plan: Plan, texts: Sequence[bytes], attempt: int
    ) -> None:
        assert plan.criterion is not None
        self.attempt = attempt
        self._store = store
        self._plan = plan
        expected = self._expected(pair)
        self.job = job_id(pair, plan.note.sha256, plan.criterion.sha256, plan.plan_hash, expected)
        row = JobRow(
            self.job, 1, *pair, plan.note.sha256, plan.criterion.sha256, plan.plan_hash, expected,
            manifest=canonical_plan(plan),
        )  # fmt: skip
        self._begin(row, texts)

    def _expected(self, pair: Pair) -> int | None:
        try:
            row = self._store.baseline(*pair) if self._store is not None else None
        except IntegrityError:
            raise
        except (LedgerError, ValueError):
            self._store = row = None
        return None if row is None else row.revision

    def _begin(self, row: JobRow, texts: Sequence[bytes]) -> None:
        if self._store is None:
            return
        try:
            self.attempt = self._store.add_job(row, texts=texts).attempt
            self._store.start_job(self.job, self.attempt)
        except (LedgerError, JobError, ValueError):
            self._store = None

    def end(self, review: Review, items: Sequence[Item], linked: Sequence[Linked]) -> Review:
        """Keep a review and, where it acts, make it the accepted one; gives it with `stored` and `conflict`.

        Args:
            items: What was read, in order.
            linked: What the verdict rests on.
        """
        if self._store is None:
            return review
        done = review._replace(stored=True)
        try:
            for row in self._reads(items):
                self._store.add_read(self.job, self.attempt, lambda _, row=row: row)
            if done.verdict in VERDICTS_STORED and done.shadow is None:
                return self._accept(self._store, done, linked)
            state: JobState = "completed" if done.verdict in VERDICTS_STORED else "failed"
            self._store.end_job(
                self.job, self.attempt, state=state, verdict=done.verdict, reason=done.reason,
                review=stored(done),
            )  # fmt: skip
            return done
        except (LedgerError, JobError, ValueError):
            return review

    def _accept(self, store: EvidenceStore, done: Review, linked: Sequence[Linked]) -> Review:
        try:
            store.complete_job(
                self.job, self.attempt, verdict=done.verdict, reason=done.reason, review=stored(done),
                linked=linked,
            )  # fmt: skip
            return done
        except BaselineConflict:
            lost = done._replace(stored=False, conflict=True)
            store.end_job(
                self.job, self.attempt, state="completed", verdict=done.verdict, reason=CONFLICT,
                review=stored(lost),
            )  # fmt: skip
            return lost

    def _reads(self, items: Sequence[Item]) -> list[ReadRow]:
        slots = {offer.id: offer.slots for offer in self._plan.offers}
        return [
            ReadRow(
                one.offer, one.artifact, one.path, one.shape, one.shown_sha256, len(one.text.encode()),
                slots.pop(one.offer, 0), None, "judge",
            )
            for one in items
        ]  # fmt: skip
