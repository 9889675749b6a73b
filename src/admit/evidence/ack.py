"""Letting an accepted review stand for the texts of today, or stand no more, by a person's word."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from admit.core.events import Event
from admit.errors import EvidenceError
from admit.evidence.criterion import Criterion
from admit.evidence.freshness import compared
from admit.evidence.markdown import parse
from admit.evidence.model import Pair
from admit.evidence.note import Document, Note
from admit.evidence.shown import Reader, shown
from admit.ledger.evidence import EvidenceStore
from admit.ledger.evidence_rows import NOTHING, BaselineRow, Linked
from admit.ledger.port import Ledger, Record
from admit.ledger.record import now_ms
from admit.ledger.rows import new_id

if TYPE_CHECKING:
    from admit.evidence.base import Base


def ack(
    base: Base,
    store: EvidenceStore,
    pair: Pair,
    criterion: Criterion,
    *,
    trivial: bool = False,
    ledger: Ledger | None = None,
) -> BaselineRow:
    """Move an accepted review to the current texts and keep what it rests on. Each file is read once.

    Args:
        trivial: Only where nothing but the note changed, and none of the parts that the criterion watches.
        ledger: Takes the event.

    Returns:
        The row as it stands now; one that was fresh is left as it is.

    Raises:
        EvidenceError: There is no accepted review, or a text that it read cannot be served, or the change is
            not trivial; names which.
        NoteError: The note cannot be read.
        BaselineConflict: It was changed meanwhile; nothing was written.
        LedgerError: The store cannot be used.
    """
    row = _accepted(store, pair)
    reader = Reader(base)
    note = reader.note(pair.note)
    found = compared(store, row, pair, criterion, reader)
    if found.fresh and (trivial or not found.changed):
        return row
    if trivial:
        _check_trivial(store, row, note, criterion, found.reasons)
    linked = row.linked if trivial else tuple(_moved(reader, note, one) for one in row.linked)
    moved = row._replace(note_sha256=note.sha256, criterion_sha256=criterion.sha256, linked=linked)
    revision = store.accept(moved, expect=row.revision, texts=(note.text.encode(),))
    moved = moved._replace(revision=revision)
    _tell(ledger, pair, row, moved, trivial=trivial)
    return moved


def retire(store: EvidenceStore, pair: Pair, *, ledger: Ledger | None = None) -> int:
    """Let an accepted review stand no more; gives the revision that its row has now.

    Raises:
        EvidenceError: There is none.
        BaselineConflict: It was changed meanwhile; nothing was written.
        LedgerError: The store cannot be used.
    """
    row = _accepted(store, pair)
    revision = store.retire(*pair, expect=row.revision)
    _tell(ledger, pair, row, row._replace(revision=revision, retired=True))
    return revision


def _accepted(store: EvidenceStore, pair: Pair) -> BaselineRow:
    row = store.baseline(*pair)
    if row is None or row.retired:
        raise EvidenceError(
            f"{pair.note} has no accepted review by {pair.criterion} in the partition {pair.partition}; "
            "admit evidence review makes one"
        )
    return row


def _moved(reader: Reader, note: Note, linked: Linked) -> Linked:
    now = shown(reader, note, linked)
    if now is None and linked.shown_sha256 == NOTHING:
        return linked
    if now is None:
        raise EvidenceError(
            f"{linked.path} cannot be served any more as it was read ({linked.shape}): bring it back, or "
            f"review {note.path} again"
        )
    return linked._replace(source_sha256=now.source_sha256, shown_sha256=now.shown_sha256)


def _check_trivial(
    store: EvidenceStore, row: BaselineRow, note: Note, criterion: Criterion, reasons: tuple[str, ...]
) -> None:
    others = ", ".join(reason for reason in reasons if reason != "note-changed")
    if others:
        raise EvidenceError(
            f"more than the text of {note.path} changed ({others}): leave out --trivial, or review it again"
        )
    unknown = [part for part in criterion.watches if part not in PARTS]
    if unknown or not criterion.watches:
        raise EvidenceError(
            f"{criterion.path}: watches: {', '.join(unknown) or 'nothing stands there'}; --trivial needs a "
            f"list of {', '.join(PARTS)}"
        )
    before = store.text(row.note_sha256)
    if before is None:
        raise EvidenceError(
            f"the accepted text of {note.path} is not kept, so nothing tells whether its change is trivial: "
            "leave out --trivial, or review it again"
        )
    texts = [_line_ends(text) for text in (before.decode("utf-8", "replace"), note.text)]
    old, new = ((text, parse(text)) for text in texts)
    changed = [part for part in criterion.watches if PARTS[part](*old) != PARTS[part](*new)]
    if changed:
        raise EvidenceError(
            f"the change of {note.path} is not trivial, {criterion.id} watches its {', '.join(changed)}: "
            "leave out --trivial, or review it again"
        )


def _line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _body(text: str, document: Document) -> str:
    return text[document.front.body_at :] if document.front is not None else text


def _title(text: str, document: Document) -> str:
    top = next((one.text for one in document.headings if one.level == 1), "")
    return top or (document.front.text("title") if document.front is not None else "")


def _description(text: str, document: Document) -> str:
    return document.front.text("description") if document.front is not None else ""


def _links(text: str, document: Document) -> list[tuple[str, str, str, bool]]:
    return [(one.text, one.dest, one.label, one.snapshot_required) for one in document.marks]


PARTS: Mapping[str, Callable[[str, Document], Any]] = MappingProxyType(
    {"body": _body, "title": _title, "description": _description, "links": _links}
)
"""The parts that a criterion may watch, each from a text and its reading."""


def _tell(
    ledger: Ledger | None, pair: Pair, before: BaselineRow, after: BaselineRow, *, trivial: bool = False
) -> None:
    if ledger is not None:
        body = {
            "pair": pair._asdict(),
            "from": _hashes(before),
            "to": _hashes(after),
            "revision": after.revision,
            "trivial": trivial,
            "retired": after.retired,
        }
        event = Event(new_id(), "evidence.ack", now_ms(), body, None, None, "evidence")
        ledger.append(Record(events=(event,)))


def _hashes(row: BaselineRow) -> dict[str, Any]:
    return {
        "note": row.note_sha256,
        "criterion": row.criterion_sha256,
        "linked": [one.shown_sha256 for one in row.linked],
    }
