"""The accepted state of evidence reviews: jobs, what they read, baselines, and the texts those name.

Rows are written here and now, each method in one transaction, for a compare-and-swap needs its answer. A
revision is never used twice: retiring a baseline keeps its row and raises it, and one that is made again goes
on from there, so whoever expected an older one conflicts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from admit.errors import BaselineConflict, JobError, LedgerError

from .database import as_ledger_error, open_reader, open_writer
from .evidence_rows import (
    ACCEPTED,
    OPEN_STATES,
    BaselineRow,
    EvidenceText,
    JobRow,
    JobState,
    Linked,
    ReadRow,
    name_key,
    path_key,
    sha256_key,
)
from .evidence_sql import put_row, put_text, rows
from .key import install_key, keyed
from .places import network_filesystem, places, setting
from .record import now_ms
from .retention import transaction
from .schema import tables_of

_TARGET = "base = ? AND note = ? AND criterion = ? AND partition = ?"
_ATTEMPT = "base = ? AND job = ? AND attempt = ?"


def open_store(config: Mapping[str, object] | None, root: str) -> EvidenceStore:
    """The store of one knowledge base, in the ledger of this user.

    Args:
        root: Absolute real path of the knowledge base; only its keyed hash is kept.

    Raises:
        LedgerError: The ledger is off, or would lie on a network file system.
    """
    if not setting(config, "ledger.enabled"):
        raise LedgerError("the ledger is off, so no review can be kept: set ledger.enabled = true")
    path = places(config).database
    type, _ = network_filesystem(path)
    if type is not None:
        raise LedgerError(f"{path} is on a network file system ({type}): set ledger.path to a local file")
    base = keyed(install_key(config), [root])[0]
    return EvidenceStore(path, busy_ms=int(setting(config, "ledger.busy_ms")), base=base)


class EvidenceStore:
    """The evidence tables of one database, for one knowledge base. May be shared by threads.

    Every method raises `LedgerError` (`Locked`, `Corrupt`, `TooNew`) where the database cannot be used, after
    at most `busy_ms` of waiting; `IntegrityError` for a row that is not as it should be; and `ValueError` for
    a key or hash that cannot be kept. Nothing is written then.

    Args:
        path: The database; made by the first method that writes.
        base: What tells this knowledge base from others in the same database.
    """

    def __init__(self, path: str, *, busy_ms: int = 2000, base: str = "") -> None:
        self._path = path
        self._busy_ms = busy_ms
        self._base = base

    def put_text(self, data: bytes) -> str:
        """Keep a text and give its hash. Retention collects what no job and no baseline names."""
        with self._writing() as con:
            return put_text(con, data)

    def text(self, sha256: str) -> bytes | None:
        """A text by its hash; None where it is not kept."""
        with self._reading() as con:
            found = rows(con, "evidence_text", "sha256 = ?", (sha256_key(sha256),))
        return found[0].bytes if found else None

    def baseline(self, note: str, criterion: str, partition: str) -> BaselineRow | None:
        """The accepted review of a pair, also a retired one; None where there never was one."""
        with self._reading() as con:
            return _baseline(con, self._target(note, criterion, partition))

    def baselines(self, notes: Iterable[str] | None = None) -> tuple[BaselineRow, ...]:
        """All accepted reviews, also retired ones, by note, criterion and partition.

        Args:
            notes: Only those of these notes.
        """
        return self._of_notes("evidence_baseline", notes)

    def accept(self, row: BaselineRow, *, expect: int | None, texts: Sequence[bytes] = ()) -> int:
        """Make a review the accepted one, where nothing was accepted or retired meanwhile.

        Args:
            row: Its revision and its being retired do not matter.
            expect: The revision that stood when the work began; None: there was no row.
            texts: Kept along with it.

        Returns:
            The new revision.

        Raises:
            BaselineConflict: Another revision stands; nothing was written.
        """
        with self._writing() as con:
            return self._accept(con, row, expect, texts)

    def retire(self, note: str, criterion: str, partition: str, *, expect: int) -> int:
        """Let an accepted review count no more; its row stays, and its revision is raised.

        Returns:
            The new revision.

        Raises:
            BaselineConflict: Another revision stands, or none.
        """
        target = self._target(note, criterion, partition)
        with self._writing() as con:
            revision = _expected(con, target, expect)
            con.execute(
                f"UPDATE evidence_baseline SET revision = ?, retired = 1 WHERE {_TARGET}", (revision, *target)
            )
            return revision

    def add_job(self, row: JobRow, *, texts: Sequence[bytes] = ()) -> JobRow:
        """Queue a job, as its next attempt where it was there before; gives the row as it stands.

        Args:
            row: Its attempt, times, verdict and base are set here.
            texts: The note and the criterion, kept along with it.
        """
        with self._writing() as con:
            last = con.execute(
                "SELECT max(attempt) FROM evidence_job WHERE base = ? AND job = ?", (self._base, row.job)
            ).fetchone()[0]
            row = row._replace(attempt=(last or 0) + 1, created_ms=now_ms(), started_ms=None, ended_ms=None)
            row = row._replace(state="queued", verdict=None, reason=None, review=None, base=self._base)
            for data in texts:
                put_text(con, data)
            return put_row(con, "evidence_job", row)

    def start_job(self, job: str, attempt: int) -> None:
        """Mark a job as running; one that runs already goes on.

        Raises:
            JobError: It is not there, or over.
        """
        with self._writing() as con:
            self._open_job(con, job, attempt)
            con.execute(
                "UPDATE evidence_job SET state = 'running', started_ms = coalesce(started_ms, ?) "
                f"WHERE {_ATTEMPT}",
                (now_ms(), self._base, job, attempt),
            )

    def end_job(
        self,
        job: str,
        attempt: int,
        *,
        state: JobState,
        verdict: str | None,
        reason: str | None,
        review: Mapping[str, Any] | None,
    ) -> None:
        """End a job: completed with PASS, WARN or FAIL, failed with anything else.

        Raises:
            JobError: It is not there, or over.
        """
        with self._writing() as con:
            self._end(con, self._open_job(con, job, attempt), state, verdict, reason, review)

    def complete_job(
        self,
        job: str,
        attempt: int,
        *,
        verdict: str,
        reason: str,
        review: Mapping[str, Any] | None,
        linked: Sequence[Linked],
        instead: tuple[str, int | None] | None = None,
    ) -> int:
        """End a job and make its review the accepted one, both or neither; gives the revision.

        Args:
            instead: Another partition than the job's in which it counts, and the revision expected there.

        Raises:
            JobError: It is not there, or over.
            BaselineConflict: Something was accepted or retired since the job was made; it is still open.
        """
        if verdict not in ACCEPTED:
            raise ValueError(f"{verdict} cannot be accepted, only {', '.join(ACCEPTED)}")
        with self._writing() as con:
            row = self._open_job(con, job, attempt)
            self._end(con, row, "completed", verdict, reason, review)
            partition, expect = instead or (row.partition, row.expected_revision)
            accepted = BaselineRow(
                row.note, row.criterion, partition, 0, False, row.note_sha256, row.criterion_sha256,
                tuple(linked), job, attempt,
            )  # fmt: skip
            return self._accept(con, accepted, expect, ())

    def job(self, job: str, attempt: int | None = None, *, exported: bool = False) -> JobRow | None:
        """A job, by default its newest attempt; None where there is none.

        Args:
            exported: Only attempts that have a folder: a judge may be asked about the same work at once.
        """
        one, args = ("", ()) if attempt is None else ("AND attempt = ?", (attempt,))
        one += " AND folder IS NOT NULL" if exported else ""
        with self._reading() as con:
            tail = f"base = ? AND job = ? {one} ORDER BY attempt DESC LIMIT 1"
            found = rows(con, "evidence_job", tail, (self._base, job, *args))
        return found[0] if found else None

    def jobs(self, notes: Iterable[str] | None = None) -> tuple[JobRow, ...]:
        """All attempts, in the order in which they were made."""
        return self._of_notes("evidence_job", notes)

    def add_read(self, job: str, attempt: int, decide: Callable[[tuple[ReadRow, ...]], ReadRow]) -> ReadRow:
        """Record one opening, decided in sight of all earlier ones while nobody else can add any.

        Args:
            decide: Gives the row from the earlier ones, in order; it reads no file and no database. What it
                raises comes out here, and nothing is written.

        Returns:
            The row as it stands, with its number.

        Raises:
            JobError: The job is not there, or over.
        """
        with self._writing() as con:
            self._open_job(con, job, attempt)
            earlier = self._reads(con, job, attempt)
            row = decide(earlier)._replace(
                job=job, attempt=attempt, n=len(earlier) + 1, ts_ms=now_ms(), base=self._base
            )
            return put_row(con, "evidence_read", row)

    def reads(self, job: str, attempt: int) -> tuple[ReadRow, ...]:
        """What an attempt opened, refused openings included, in order."""
        with self._reading() as con:
            return self._reads(con, job, attempt)

    def _target(self, note: str, criterion: str, partition: str) -> tuple[str, str, str, str]:
        return self._base, path_key(note), name_key(criterion), name_key(partition)

    def _of_notes(self, table: str, notes: Iterable[str] | None) -> tuple[Any, ...]:
        wanted = None if notes is None else {path_key(note) for note in notes}
        order = "rowid" if table == "evidence_job" else "note, criterion, partition"
        with self._reading() as con:
            found = rows(con, table, f"base = ? ORDER BY {order}", (self._base,))
        return tuple(row for row in found if wanted is None or row.note in wanted)

    def _reads(self, con: sqlite3.Connection | None, job: str, attempt: int) -> tuple[ReadRow, ...]:
        return tuple(rows(con, "evidence_read", f"{_ATTEMPT} ORDER BY n", (self._base, job, attempt)))

    def _open_job(self, con: sqlite3.Connection, job: str, attempt: int) -> JobRow:
        found = rows(con, "evidence_job", _ATTEMPT, (self._base, job, attempt))
        if not found:
            raise JobError(f"there is no attempt {attempt} of a job {job} here; export the review again")
        if found[0].state not in OPEN_STATES:
            raise JobError(f"attempt {attempt} of {job} is over ({found[0].state}); export the review again")
        return found[0]

    def _end(
        self,
        con: sqlite3.Connection,
        row: JobRow,
        state: JobState,
        verdict: str | None,
        reason: str | None,
        review: Mapping[str, Any] | None,
    ) -> None:
        if state in OPEN_STATES:
            raise ValueError(f"a job does not end as {state}")
        row = row._replace(state=state, verdict=verdict, reason=reason, review=review, ended_ms=now_ms())
        put_row(con, "evidence_job", row)

    def _accept(
        self, con: sqlite3.Connection, row: BaselineRow, expect: int | None, texts: Sequence[bytes]
    ) -> int:
        target = self._target(row.note, row.criterion, row.partition)
        revision = _expected(con, target, expect)
        for data in texts:
            put_text(con, data)
        put_row(con, "evidence_baseline", row._replace(revision=revision, retired=False, base=self._base))
        return revision

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._faults():
            con = open_writer(self._path, self._busy_ms)
            try:
                with transaction(con):
                    yield con
            finally:
                con.close()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """The database; None where it holds no evidence yet."""
        with self._faults():
            con = open_reader(self._path, self._busy_ms)
            try:
                yield con if con is not None and "evidence_text" in tables_of(con) else None
            finally:
                if con is not None:
                    con.close()

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as fault:
            raise as_ledger_error(fault, self._path) from fault
        except OSError as fault:
            raise LedgerError(f"{self._path} cannot be used: {fault}") from fault


def _expected(con: sqlite3.Connection, target: tuple[str, str, str, str], expect: int | None) -> int:
    """The next revision, where the one that stands is the expected one."""
    row = _baseline(con, target)
    stands = None if row is None else row.revision
    if stands != expect:
        names = [f"revision {one}" if one is not None else "none" for one in (stands, expect)]
        raise BaselineConflict(
            f"the accepted review of {target[1]} by {target[2]} is now {names[0]} where the work began at "
            f"{names[1]}: nothing was written; review it again"
        )
    return (stands or 0) + 1


def _baseline(con: sqlite3.Connection | None, target: tuple[str, str, str, str]) -> BaselineRow | None:
    found = rows(con, "evidence_baseline", _TARGET, target)
    return found[0] if found else None


__all__ = ["BaselineRow", "EvidenceStore", "EvidenceText", "JobRow", "Linked", "ReadRow", "open_store"]
