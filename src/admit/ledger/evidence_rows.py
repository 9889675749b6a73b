"""The rows of evidence reviews: jobs, what each attempt read, accepted reviews, and the texts they name.

Keys are normalised and hashes are checked here, on the way in and on the way out. Paths are POSIX and
relative to the root of their knowledge base, which the column ``base`` names; times are UTC epoch
milliseconds.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from admit.core.events import sha256

JobState = Literal["queued", "running", "completed", "failed"]
ReadVia = Literal["judge", "cli", "mcp"]

OPEN_STATES: tuple[JobState, ...] = ("queued", "running")
JOB_STATES: tuple[JobState, ...] = (*OPEN_STATES, "completed", "failed")
ACCEPTED = ("PASS", "WARN", "FAIL")
"""The verdicts of a completed job; with any other it failed."""

EVIDENCE_DDL = """
CREATE TABLE evidence_text (sha256 TEXT PRIMARY KEY NOT NULL, bytes BLOB NOT NULL) STRICT;
CREATE TABLE evidence_job (
    job TEXT NOT NULL, attempt INTEGER NOT NULL CHECK (attempt >= 1), note TEXT NOT NULL,
    criterion TEXT NOT NULL, partition TEXT NOT NULL, note_sha256 TEXT NOT NULL,
    criterion_sha256 TEXT NOT NULL, plan_hash TEXT NOT NULL,
    expected_revision INTEGER CHECK (expected_revision >= 1),
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'completed', 'failed')),
    verdict TEXT, reason TEXT, created_ms INTEGER NOT NULL, started_ms INTEGER, ended_ms INTEGER,
    folder TEXT, manifest TEXT, review TEXT, base TEXT NOT NULL,
    CHECK ((state = 'completed') = (verdict IS NOT NULL AND verdict IN ('PASS', 'WARN', 'FAIL'))),
    CHECK (state IN ('completed', 'failed') OR verdict IS NULL),
    PRIMARY KEY (base, job, attempt)
) STRICT;
CREATE TABLE evidence_read (
    id TEXT NOT NULL, artifact TEXT NOT NULL, path TEXT NOT NULL, shape TEXT NOT NULL, shown_sha256 TEXT,
    bytes INTEGER NOT NULL CHECK (bytes >= 0), slots INTEGER NOT NULL CHECK (slots >= 0), refused TEXT,
    via TEXT NOT NULL CHECK (via IN ('judge', 'cli', 'mcp')), job TEXT NOT NULL, attempt INTEGER NOT NULL,
    n INTEGER NOT NULL CHECK (n >= 1), ts_ms INTEGER NOT NULL, base TEXT NOT NULL,
    CHECK ((refused IS NULL) = (shown_sha256 IS NOT NULL)),
    PRIMARY KEY (base, job, attempt, n)
) STRICT;
CREATE TABLE evidence_baseline (
    note TEXT NOT NULL, criterion TEXT NOT NULL, partition TEXT NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 1), retired INTEGER NOT NULL CHECK (retired IN (0, 1)),
    note_sha256 TEXT NOT NULL, criterion_sha256 TEXT NOT NULL, linked TEXT NOT NULL, job TEXT NOT NULL,
    attempt INTEGER NOT NULL, base TEXT NOT NULL, PRIMARY KEY (base, note, criterion, partition)
) STRICT;
CREATE INDEX evidence_job_note ON evidence_job (base, note);
"""

_SHA256 = re.compile(r"sha256:[0-9a-f]{64}")


class EvidenceText(NamedTuple):
    """A document or a criterion as it was reviewed."""

    sha256: str
    bytes: bytes


class JobRow(NamedTuple):
    """One attempt at one review.

    Attributes:
        job: ``e-`` and 12 hex digits: the same work has the same id.
        attempt: From 1; set by the store.
        expected_revision: Of the baseline when the job was made; None: there was none.
        verdict: Of a job that is over; None while it is open.
        folder: Where it was exported to; None for one that was asked at once.
        manifest: The plan that counts.
        review: The review as it was told.
        base: Which knowledge base; set by the store.
    """

    job: str
    attempt: int
    note: str
    criterion: str
    partition: str
    note_sha256: str
    criterion_sha256: str
    plan_hash: str
    expected_revision: int | None = None
    state: JobState = "queued"
    verdict: str | None = None
    reason: str | None = None
    created_ms: int = 0
    started_ms: int | None = None
    ended_ms: int | None = None
    folder: str | None = None
    manifest: Mapping[str, Any] | None = None
    review: Mapping[str, Any] | None = None
    base: str = ""


class ReadRow(NamedTuple):
    """One opening of an artifact, or a refused one.

    Attributes:
        n: From 1 within the attempt; set by the store, as `job`, `attempt`, `ts_ms` and `base` are.
        id: Of the offer; `artifact` is what the note links to, `path` the file the text comes from.
        shown_sha256: Of the text served; None where it was refused.
        bytes: Of the text served.
        slots: What this opening took of the budget: 0 for one that is repeated or refused.
        refused: Why; None where it was served.
    """

    id: str
    artifact: str
    path: str
    shape: str
    shown_sha256: str | None
    bytes: int
    slots: int
    refused: str | None
    via: ReadVia
    job: str = ""
    attempt: int = 0
    n: int = 0
    ts_ms: int = 0
    base: str = ""


NOTHING = "sha256:" + "0" * 64
"""Stands for a text that was not there to be served."""


class Linked(NamedTuple):
    """A text that an accepted review read, by the shape and route in which it was read.

    A declared snapshot that could not be served stands with the hashes `NOTHING`: it made the verdict too.
    """

    artifact: str
    path: str
    shape: str
    route: str
    source_sha256: str
    shown_sha256: str


class BaselineRow(NamedTuple):
    """The accepted review of one note by one criterion in one partition of models.

    Attributes:
        revision: From 1, raised by every change; set by the store.
        retired: It counts no more; the row stays so that no revision is used twice.
        linked: What was read, in reading order, and what failed to be.
        job, attempt: What it rests on.
        base: Which knowledge base; set by the store.
    """

    note: str
    criterion: str
    partition: str
    revision: int
    retired: bool
    note_sha256: str
    criterion_sha256: str
    linked: tuple[Linked, ...]
    job: str
    attempt: int
    base: str = ""


EVIDENCE_TABLES: Mapping[str, type] = MappingProxyType(
    {
        "evidence_text": EvidenceText,
        "evidence_job": JobRow,
        "evidence_read": ReadRow,
        "evidence_baseline": BaselineRow,
    }
)
KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "evidence_text": ("sha256",),
        "evidence_job": ("job", "attempt"),
        "evidence_read": ("job", "attempt", "n"),
        "evidence_baseline": ("note", "criterion", "partition"),
    }
)
"""What names a row to a person."""


def path_key(path: str) -> str:
    """A path as it is kept: NFC, no ``.`` and no empty part.

    Raises:
        ValueError: It is empty, absolute, or leads out of the root.
    """
    normal = posixpath.normpath(unicodedata.normalize("NFC", path)) if path else ""
    if not normal or normal in (".", "..") or normal.startswith(("/", "../")) or "\0" in normal:
        raise ValueError(f"{path!r} is no path below a root")
    return normal


def name_key(name: str) -> str:
    """An id or the name of a partition as it is kept: NFC.

    Raises:
        ValueError: It is empty.
    """
    if not name:
        raise ValueError("an empty name")
    return unicodedata.normalize("NFC", name)


def sha256_key(value: object) -> str:
    """A hash, as it is.

    Raises:
        ValueError: It is not ``sha256:`` and 64 hex digits.
    """
    if not isinstance(value, str) or not _SHA256.fullmatch(value):
        raise ValueError(f"{value!r} is no sha256: and 64 hex digits")
    return value


def checked_job(row: JobRow) -> JobRow:
    """The row with its keys normalised.

    Raises:
        ValueError: A key, hash or state that it cannot have.
    """
    for value in (row.note_sha256, row.criterion_sha256, row.plan_hash):
        sha256_key(value)
    if row.state not in JOB_STATES or (row.state == "completed") != (row.verdict in ACCEPTED):
        raise ValueError(f"a job that is {row.state} with the verdict {row.verdict}")
    if row.state in OPEN_STATES and row.verdict is not None:
        raise ValueError(f"a job that is {row.state} has the verdict {row.verdict}")
    for value in (row.manifest, row.review):
        if value is not None and not isinstance(value, Mapping):
            raise ValueError("a manifest or review that is no JSON object")
    return row._replace(
        job=name_key(row.job),
        note=path_key(row.note),
        criterion=name_key(row.criterion),
        partition=name_key(row.partition),
    )


def checked_read(row: ReadRow) -> ReadRow:
    """The row as it is: its paths are no keys, and stay as they are spelled on disk.

    Raises:
        ValueError: A path that leads out of the root, a hash on a refusal, or none on what was served.
    """
    if row.refused is None:
        sha256_key(row.shown_sha256)
    elif row.shown_sha256 is not None:
        raise ValueError("a refused opening that shows a text")
    _check_path(row.artifact)
    _check_path(row.path)
    return row


def checked_baseline(row: BaselineRow) -> BaselineRow:
    """The row with its keys normalised, and `linked` as rows of its own where it is JSON.

    Raises:
        ValueError: A key, hash or list that it cannot have.
    """
    for value in (row.note_sha256, row.criterion_sha256):
        sha256_key(value)
    if not isinstance(row.linked, (list, tuple)):
        raise ValueError("a list of linked texts that is none")
    return row._replace(
        note=path_key(row.note),
        criterion=name_key(row.criterion),
        partition=name_key(row.partition),
        linked=tuple(_checked_linked(one) for one in row.linked),
    )


def checked_text(row: EvidenceText) -> EvidenceText:
    """The row as it is.

    Raises:
        ValueError: Its hash is no hash, or another text's.
    """
    if sha256(row.bytes) != sha256_key(row.sha256):
        raise ValueError("the text is not the one of this hash")
    return row


CHECKS: Mapping[str, Any] = MappingProxyType(
    {
        "evidence_text": checked_text,
        "evidence_job": checked_job,
        "evidence_read": checked_read,
        "evidence_baseline": checked_baseline,
    }
)


def _checked_linked(one: object) -> Linked:
    if isinstance(one, Mapping):
        if set(one) != set(Linked._fields) or not all(isinstance(value, str) for value in one.values()):
            raise ValueError("a linked text that lacks a field, or has one too many")
        one = Linked(**one)
    if not isinstance(one, Linked):
        raise ValueError("a list of linked texts that is none")
    sha256_key(one.source_sha256)
    sha256_key(one.shown_sha256)
    _check_path(one.artifact)
    _check_path(one.path)
    return one


def _check_path(path: str) -> None:
    """A path that is no key: as it is spelled on disk."""
    parted = f"/{path}/"
    if "\0" in path or any(part in parted for part in ("//", "/./", "/../")):
        raise ValueError(f"{path!r} is no path below a root")
