"""Whether an accepted review still stands: the same criterion, the same note, and what it read as it was."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from admit.evidence.criterion import Criterion
from admit.evidence.model import Pair
from admit.evidence.note import Note
from admit.evidence.shown import Reader, shown
from admit.ledger.evidence import EvidenceStore
from admit.ledger.evidence_rows import NOTHING, BaselineRow, Linked

if TYPE_CHECKING:
    from admit.evidence.base import Base

StaleReason = Literal["missing-baseline", "criterion-changed", "note-changed", "linked-changed"]
STALE_REASONS: tuple[StaleReason, ...] = (
    "missing-baseline", "criterion-changed", "note-changed", "linked-changed",
)  # fmt: skip
"""In the order in which they are told; the first that holds is the primary one."""


class Freshness(NamedTuple):
    """How an accepted review stands to the texts of today.

    Attributes:
        reasons: Why it is stale, in the order of `STALE_REASONS`; empty is fresh.
        changed: Artifacts that it read and that show another text now, or none, in reading order; they are a
            reason only where ``evidence.linked_freshness`` is ``stale``.
        baseline: What was accepted; None where nothing is, or it was retired.
        diff: Gives the change of the note since then as a unified diff; empty where there is none, or the
            accepted text is not kept.
    """

    pair: Pair
    reasons: tuple[StaleReason, ...]
    changed: tuple[str, ...]
    baseline: BaselineRow | None
    diff: Callable[[], str]

    @property
    def fresh(self) -> bool:
        return not self.reasons


def freshness(
    base: Base,
    store: EvidenceStore,
    pair: Pair,
    criterion: Criterion,
    *,
    reader: Reader | None = None,
) -> Freshness:
    """How the accepted review of a pair stands to the texts of today.

    Args:
        reader: What was read before in this command; None reads anew.

    Raises:
        NoteError: The note cannot be read.
        IntegrityError: A stored row is not as it should be.
        LedgerError: The store cannot be read.
    """
    return compared(store, store.baseline(*pair), pair, criterion, reader or Reader(base))


def compared(
    store: EvidenceStore, row: BaselineRow | None, pair: Pair, criterion: Criterion, reader: Reader
) -> Freshness:
    """The same for a row that was read before, such as one of many.

    Raises:
        NoteError: The note cannot be read.
    """
    note = reader.note(pair.note)
    if row is None or row.retired:
        return Freshness(pair, ("missing-baseline",), (), None, str)
    way = reader.settings.linked_freshness
    changed = () if way == "off" else changed_artifacts(reader, note, row.linked)
    holds: dict[StaleReason, bool] = {
        "criterion-changed": row.criterion_sha256 != criterion.sha256,
        "note-changed": row.note_sha256 != note.sha256,
        "linked-changed": bool(changed) and way == "stale",
    }
    reasons: tuple[StaleReason, ...] = tuple(reason for reason in STALE_REASONS if holds.get(reason))
    return Freshness(pair, reasons, changed, row, lambda: note_diff(store, row, note))


def changed_artifacts(reader: Reader, note: Note, linked: tuple[Linked, ...]) -> tuple[str, ...]:
    """Artifacts that show another text than was read, or none any more, or at last one, in reading order."""
    changed = []
    for one in linked:
        now = shown(reader, note, one)
        if (NOTHING if now is None else now.shown_sha256) != one.shown_sha256:
            changed.append(one.artifact)
    return tuple(dict.fromkeys(changed))


def note_diff(store: EvidenceStore, row: BaselineRow, note: Note) -> str:
    """The change of a note since it was accepted, as a unified diff.

    Raises:
        LedgerError: The store cannot be read.
    """
    if row.note_sha256 == note.sha256:
        return ""
    before = store.text(row.note_sha256)
    if before is None:
        return ""
    lines = difflib.unified_diff(
        before.decode("utf-8", "replace").splitlines(),
        note.text.splitlines(),
        f"{note.path} (accepted)",
        note.path,
        lineterm="",
    )
    return "".join(f"{line}\n" for line in lines)
