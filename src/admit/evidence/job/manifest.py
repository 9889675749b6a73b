"""What a job was made with, as JSON: all that is needed to serve its reads and to decide its verdict.

The one in the store counts. The MANIFEST.json beside the prompt is a copy to look at: an agent could edit it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from admit.core.events import canonical, sha256
from admit.errors import IntegrityError, JobError
from admit.evidence.criterion import Criterion
from admit.evidence.job_id import PATTERN
from admit.evidence.model import Material, Pair, Shape
from admit.evidence.note import Block, Document, Link, Note
from admit.evidence.plan import Plan
from admit.evidence.planning import canonical_plan, from_canonical
from admit.ledger.evidence import EvidenceStore
from admit.ledger.evidence_rows import OPEN_STATES, JobRow

SCHEMA = "admit.evidence-job/1"
_TUPLES = ("label_order", "asks", "requires_type", "requires_trait", "watches")
_MAPPINGS = ("answers", "note_answers", "meanings")


class Job(NamedTuple):
    """One attempt at the review of one pair.

    Attributes:
        row: As the store holds it.
        plan: As it was when the job was made, with the note's blocks and links and without its text.
        nonce: Stands in the marks of the output; known to who reads the prompt.
        revisions: Of the accepted reviews of note and criterion when the job was made, by partition.
    """

    row: JobRow
    plan: Plan
    nonce: str
    revisions: Mapping[str, int]

    @property
    def id(self) -> str:
        """``e-`` and 12 hex digits."""
        return self.row.job

    @property
    def attempt(self) -> int:
        """From 1."""
        return self.row.attempt

    @property
    def folder(self) -> str:
        """Where prompt and output lie."""
        return self.row.folder or ""

    @property
    def output(self) -> str:
        """The file that the answer of its reviewer belongs in."""
        return os.path.join(self.folder, "output.md")

    @property
    def is_open(self) -> bool:
        """Whether it may still read."""
        return self.row.state in OPEN_STATES

    @property
    def pair(self) -> Pair:
        """What it reviews."""
        return Pair(self.row.note, self.row.criterion, self.row.partition)

    @property
    def criterion(self) -> Criterion:
        """By which it reviews; every job has one."""
        assert self.plan.criterion is not None
        return self.plan.criterion


def manifest(plan: Plan, nonce: str, revisions: Mapping[str, int]) -> dict[str, Any]:
    """The manifest of a plan that has a criterion; see `Job`."""
    assert plan.criterion is not None
    told = plan.criterion._asdict()
    criterion = told | {name: dict(told[name]) for name in _MAPPINGS} | {n: list(told[n]) for n in _TUPLES}
    note = {
        "bytes": plan.note.bytes,
        "type": plan.note.type,
        "title": plan.note.title,
        "links": [link._asdict() for link in plan.note.links],
        "blocks": [block._asdict() for block in plan.note.blocks],
    }
    return {
        "schema": SCHEMA,
        "scaffold": plan.scaffold,
        "nonce": nonce,
        "revisions": dict(revisions),
        "plan_hash": plan.plan_hash,
        "plan": canonical_plan(plan),
        "note": note,
        "criterion": criterion,
    }


def load(store: EvidenceStore, job: str, attempt: int | None = None) -> Job:
    """An exported job as the store holds it, in its newest attempt where none is named.

    Raises:
        JobError: There is none of this id.
        IntegrityError: Its row is not as it was written.
        LedgerError: The store cannot be read.
    """
    row = store.job(job, attempt, exported=True) if re.fullmatch(PATTERN, job, re.ASCII) else None
    if row is None:
        raise JobError(
            f"there is no job {job!r} of this base; --root names the base of another, and "
            "admit evidence review --export DIR makes one"
        )
    return job_of(row)


def job_of(row: JobRow) -> Job:
    """The job of a row.

    Raises:
        IntegrityError: Its manifest is not as it was written.
    """
    try:
        held = row.manifest or {}
        if held["schema"] != SCHEMA:
            raise ValueError(f"its form is {held['schema']!r}")
        value = held["plan"]
        if row.plan_hash != sha256(canonical(value)):
            raise ValueError("its plan has another hash")
        plan = from_canonical(value, _criterion(held["criterion"]))
        plan = plan._replace(note=_note(plan.note, held["note"]), scaffold=str(held["scaffold"]))
        return Job(row, plan, str(held["nonce"]), held["revisions"])
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        key = f"{row.job}/{row.attempt}"
        raise IntegrityError("evidence_job", key, f"its manifest is not as it was written: {fault}") from None


def shape_of(material: Material, criterion: Criterion) -> Shape | None:
    """In which shape a material is served; None where the criterion reads no ordinary artifact."""
    if material.route in ("quotes", "snapshot"):
        return material.route
    return None if criterion.material == "none" else criterion.material


def _criterion(held: Mapping[str, Any]) -> Criterion:
    mappings = {name: MappingProxyType(dict(held[name])) for name in _MAPPINGS}
    return Criterion(**{**held, **mappings, **{name: tuple(held[name]) for name in _TUPLES}})


def _note(bare: Note, held: Mapping[str, Any]) -> Note:
    blocks = tuple(Block(**one) for one in held["blocks"])
    links = tuple(Link(**one) for one in held["links"])
    return bare._replace(
        bytes=held["bytes"],
        type=held["type"],
        title=held["title"],
        links=links,
        blocks=blocks,
        document=Document(None, (), blocks, ()),
    )
