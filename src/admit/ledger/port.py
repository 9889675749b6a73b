"""The two protocols that every ledger and every store of outputs follows, and what they report.

The rows that they take and give are in `rows` and can be imported from here as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import BinaryIO, NamedTuple, Protocol, runtime_checkable

from admit.core.events import Event

from .rows import (
    SCHEMA_VERSION,
    CallRow,
    CandidateRow,
    DecisionRow,
    DecisionView,
    Delivered,
    OutputRow,
    Recall,
    RecallClass,
    Record,
    TextRow,
    ToolUse,
    VerdictRow,
    Via,
)

__all__ = [
    "SCHEMA_VERSION",
    "CallRow",
    "CandidateRow",
    "Counters",
    "DecisionRow",
    "DecisionView",
    "Delivered",
    "FlushReport",
    "Ledger",
    "OutputMeta",
    "OutputRef",
    "OutputRow",
    "OutputStore",
    "PruneReport",
    "Recall",
    "RecallClass",
    "Record",
    "TextRow",
    "ToolUse",
    "VerdictRow",
    "Via",
]


class FlushReport(NamedTuple):
    """What became of the records appended since the flush before: counts of records."""

    committed: int = 0
    spooled: int = 0
    dropped: int = 0


class Counters(NamedTuple):
    """What went wrong, for `doctor` and `status`.

    Attributes:
        dropped: Records not written by this process, by cause.
        spooled: Records this process wrote to the spool.
        spool_dropped: Records that left the full spool unread.
        gaps: Records lost, by writer, as the rows show it.
        bad: Spool records that could not be read.
        findings: Sentences for a person, each with its fix.
    """

    dropped: Mapping[str, int] = MappingProxyType({})
    spooled: int = 0
    spool_dropped: int = 0
    gaps: Mapping[str, int] = MappingProxyType({})
    bad: int = 0
    findings: tuple[str, ...] = ()


class OutputMeta(NamedTuple):
    """What is known of an output when it is stored. `exit_code` None is unknown."""

    tool: str = ""
    session: str | None = None
    exit_code: int | None = None


class OutputRef(NamedTuple):
    """A stored output.

    Attributes:
        id: ``o_`` and hex digits.
        sha256: 64 hex digits, of the kept bytes.
        bytes: Of the whole output.
        lines: Newlines, and one more for an unfinished last line; of the kept bytes; None is unknown.
        complete: False where only the first and the last half of the limit are kept.
        path: The file, absolute, for the agent's own tools; empty where there is no file.
        stored_ms: UTC epoch milliseconds.
    """

    id: str
    sha256: str
    bytes: int
    lines: int | None = None
    complete: bool = True
    path: str = ""
    stored_ms: int = 0


class PruneReport(NamedTuple):
    """What retention removed (rows or files, and bytes), and what is left (bytes)."""

    removed: int = 0
    bytes: int = 0
    kept_bytes: int = 0


@runtime_checkable
class Ledger(Protocol):
    """The written record. Nothing here delays, changes or breaks an answer."""

    def append(self, rec: Record) -> None:
        """Queue one record. Never raises; never waits for a file."""
        ...

    def flush(self, timeout_ms: int) -> FlushReport:
        """Return once every record appended so far is committed, spooled, or counted as dropped.

        What is not committed after `timeout_ms` goes to the spool. Never raises.
        """
        ...

    def query(
        self,
        *,
        decision_id: str | None = None,
        output_id: str | None = None,
        door: str | None = None,
        since: int | None = None,
        session: str | None = None,
        reason: str | None = None,
        limit: int | None = None,
        parts: bool = True,
    ) -> Iterator[DecisionView]:
        """Decisions, newest first. `since` is in epoch ms; `parts` False leaves out what hangs on them."""
        ...

    def keyed(self, texts: Sequence[str]) -> tuple[str, ...]:
        """``hmac:`` hashes under the install key, in order; the key never leaves."""
        ...

    def tool_use(self, u: ToolUse) -> None:
        """Queue one use of a tool; like `append`."""
        ...

    def tool_uses(self) -> Iterator[ToolUse]:
        """Per route, by id, the newest 30, newest first."""
        ...

    def events(self, prefix: str) -> Iterator[Event]:
        """Events of all types that begin so, in the order in which they were written."""
        ...

    def output(self, output_id: str) -> OutputRow | None:
        """What is recorded of a stored output, also after it is gone."""
        ...

    def outputs(self, *, session: str | None = None) -> Iterator[OutputRow]:
        """What is recorded of stored outputs, newest first, those that are gone included."""
        ...

    def counters(self) -> Counters:
        """What was dropped, spooled, lost or unreadable."""
        ...

    def close(self) -> None:
        """Flush within the configured time and let go of every file. Never raises."""
        ...


@runtime_checkable
class OutputStore(Protocol):
    """The full outputs, apart from the ledger, so that a broken ledger loses none."""

    def put(self, data: BinaryIO | bytes, meta: OutputMeta) -> OutputRef:
        """Store, and check that it is stored.

        Raises:
            StoreFailed: It is not stored, so it must not be cut.
        """
        ...

    def open(self, output_id: str) -> BinaryIO:
        """The stored bytes, checked against their hash.

        Raises:
            OutputNotFound: ``expired``, ``deleted``, ``altered`` or ``never stored``.
        """
        ...

    def find(self, output_id: str) -> OutputRef | None:
        """The stored output of this id without reading it; None when there is no file."""
        ...

    def touch(self, output_id: str) -> None:
        """It was used now. Never raises."""
        ...

    def newest(self, session: str | None = None) -> OutputRef | None:
        """The output stored last, in this session or at all."""
        ...

    def recalled(self, r: Recall) -> None:
        """Record a recall, and that the output was used. Never raises."""
        ...

    def prune(self, now_ms: int) -> PruneReport:
        """Remove what is past its time or over the size, oldest use first."""
        ...
