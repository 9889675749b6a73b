"""What an artifact shows today, in the shape in which an accepted review read it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple, cast

from admit.core.events import sha256
from admit.evidence.heads import head
from admit.evidence.note import Note
from admit.evidence.reading import File, Unreadable
from admit.evidence.sources import Snapshot, ingest_of, quotes_text, snapshot
from admit.ledger.evidence_rows import Linked

if TYPE_CHECKING:
    from admit.evidence.base import Base


class Reader:
    """Reads each file of a base at most once, so that all hashes and texts of it are of the same bytes.

    It keeps what it read: it lives as long as one command. Threads may share it.
    """

    def __init__(self, base: Base) -> None:
        self.settings = base.settings
        self._base = base
        self._files: dict[str, File | Unreadable] = {}
        self._notes: dict[str, Note] = {}
        self._lock = threading.Lock()

    def file(self, path: str, *, expect: str | None = None) -> File:
        """A file at its real path.

        Raises:
            Unreadable: It could not be read, or has another hash than expected.
        """
        with self._lock:
            found = self._files.get(path)
            if found is None:
                try:
                    found = self._base.file(path)
                except Unreadable as fault:
                    found = fault
                self._files[path] = found
        if isinstance(found, Unreadable):
            raise found
        if expect is not None and found.sha256 != expect:
            raise Unreadable(path, "changed")
        return found

    def note(self, path: str) -> Note:
        """A note.

        Raises:
            NoteError: It cannot be read.
        """
        found = self._notes.get(path)
        if found is None:
            found = self._notes.setdefault(path, self._base.note(path))
        return found


class Shown(NamedTuple):
    """Hashes of a file, and of the text of it that is shown."""

    source_sha256: str
    shown_sha256: str


def shown(reader: Reader, note: Note, linked: Linked) -> Shown | None:
    """What is shown of a linked text in its recorded shape; None where it cannot be served any more.

    Args:
        note: As it is now: the sections of a head are those that its links name.
    """
    base = cast("Base", reader)  # as much of one as the sources ask for
    try:
        if linked.shape == "snapshot":
            kept = snapshot(base, ingest_of(base, reader.file(linked.artifact)))
            right = isinstance(kept, Snapshot) and kept.path == linked.path
            return Shown(kept.sha256, kept.sha256) if isinstance(kept, Snapshot) and right else None
        file = reader.file(linked.path)
        if linked.shape == "whole":
            return Shown(file.sha256, file.sha256)
        if linked.shape == "quotes":
            ingest = ingest_of(base, file)
            return None if ingest is None else Shown(file.sha256, sha256(quotes_text(ingest).encode()))
        fragments = {link.fragment for link in note.links if link.target == linked.artifact}
        text = head(file.text, fragments, reader.settings.head_max_chars)
        return Shown(file.sha256, sha256(text.encode()))
    except Unreadable:
        return None
