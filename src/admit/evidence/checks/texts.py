"""The texts that claims are held against, each read and worked out once while there is room."""

from __future__ import annotations

from collections import OrderedDict
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from admit.evidence.checks.values import Dates, Values, all_dates, values_in
from admit.evidence.matching import Closest, Source
from admit.evidence.positions import in_lines
from admit.evidence.reading import Unreadable
from admit.evidence.sources import Extract, Failed, Ingest, ingest_of, snapshot

if TYPE_CHECKING:
    from admit.evidence.base import Base
    from admit.evidence.note import Link

ROOM = 4_000_000
"""Code points of texts that are kept."""


class Hit(NamedTuple):
    """Where a quotation stands: bytes and first line of the file."""

    start: int
    end: int
    line: int


class Stretch(NamedTuple):
    """A part of a file that quotations are looked up in; where it begins, in code points and lines."""

    source: Source
    at: int
    line: int


class Text:
    """A file as evidence: the whole of it, or of an ingest its extracts.

    Attributes:
        path: Of the file.
        whole: Its text.
        ingest: The record, where only its extracts count.
    """

    def __init__(self, path: str, whole: str, ingest: Ingest | None = None) -> None:
        self.path = path
        self.whole = whole
        self.ingest = ingest

    @cached_property
    def source(self) -> Source:
        """All of the file."""
        return Source(self.whole)

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """What counts as evidence."""
        if self.ingest is None:
            return (Stretch(self.source, 0, 1),)
        lines = in_lines(self.whole).split("\n")
        return tuple(_stretch(lines, one) for one in self.ingest.extracts)

    @cached_property
    def values(self) -> Values:
        """The numbers of what counts."""
        return values_in(self._counts)

    @cached_property
    def dates(self) -> Dates:
        """The dates of what counts."""
        return all_dates(self._counts)

    @property
    def _counts(self) -> str:
        return self.whole if self.ingest is None else "\n\n".join(one.text for one in self.ingest.extracts)

    def find(self, quotation: str) -> Hit | None:
        """The first place of a quotation within what counts."""
        for source, at, line in self.stretches:
            found = source.find(quotation)
            if found is not None:
                start, end = source.byte_span(found)
                before = len(self.whole[:at].encode())
                return Hit(before + start, before + end, line + source.line(found.start) - 1)
        return None

    def closest(self, quotation: str) -> Closest | None:
        """The line most like a quotation; of an ingest the best of each extract's, compared once more."""
        if self.ingest is None:
            return self.source.closest(quotation)
        found = [
            (line + one.line - 1, one.text)
            for source, _, line in self.stretches
            if (one := source.closest(quotation)) is not None
        ]
        best = Source("\n".join(text.replace("\n", " ") for _, text in found)).closest(quotation)
        return None if best is None else Closest(*found[best.line - 1])


def _stretch(lines: list[str], extract: Extract) -> Stretch:
    """The lines of the file that an extract stands on, without the label before it."""
    words = extract.text.split("\n")
    first = extract.line - 1
    own = "\n".join(lines[first : first + len(words)])
    label = max(own.find(words[0].strip()), 0)
    at = sum(len(line) + 1 for line in lines[:first]) + label
    return Stretch(Source(own[label:]), at, extract.line)


class Texts:
    """Reads artifacts; those used last are kept, up to `ROOM`."""

    def __init__(self, base: Base) -> None:
        self._base = base
        self._kept: OrderedDict[tuple[str, bool], tuple[Text | None, str]] = OrderedDict()
        self._held = 0
        self._ingests: dict[str, bool] = {}

    def of(self, link: Link) -> Text | None:
        """The text that a link to an artifact stands for; None where it cannot be read."""
        return self._entry(link.target, link.snapshot_required)[0]

    def failure(self, link: Link) -> str:
        """Why the snapshot that a link declares cannot be served; else empty."""
        return self._entry(link.target, True)[1]

    def is_ingest(self, path: str) -> bool:
        """Whether a file is an ingest; one that cannot be read is none."""
        if path not in self._ingests:
            self._entry(path, False)
        return self._ingests.get(path, False)

    def _entry(self, path: str, declared: bool) -> tuple[Text | None, str]:
        key = (path, declared)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        text, failure = self._read(path, declared)
        self._kept[key] = (text, failure)
        self._held += len(text.whole) if text else 0
        while self._held > ROOM and len(self._kept) > 1:
            _, (old, _) = self._kept.popitem(last=False)
            self._held -= len(old.whole) if old else 0
        return text, failure

    def _read(self, path: str, declared: bool) -> tuple[Text | None, str]:
        try:
            file = self._base.file(path)
        except Unreadable:
            return None, ""
        ingest = ingest_of(self._base, file)
        self._ingests[path] = ingest is not None
        if not declared:
            return Text(path, file.text, ingest), ""
        kept = snapshot(self._base, ingest)
        if isinstance(kept, Failed):
            return None, kept.reason
        return Text(kept.path, kept.data.decode()), ""
