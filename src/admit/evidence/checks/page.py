"""A note while it is checked: what its checks share."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from admit.evidence.checks import masking
from admit.evidence.matching import Closest, Span
from admit.evidence.model import Finding
from admit.evidence.note import Block, Link, Note
from admit.evidence.positions import line_feeds

if TYPE_CHECKING:
    from admit.evidence.base import Base
    from admit.evidence.checks.texts import Texts


class Page:
    """A note with its links looked at, and the texts it is held against.

    Attributes:
        links: In document order, their anchors looked at where `anchors` says so.
    """

    def __init__(self, base: Base, note: Note, texts: Texts) -> None:
        self.base = base
        self.note = note
        self.texts = texts
        self.settings = base.settings
        self.links = note.links

    @cached_property
    def data(self) -> bytes:
        """The bytes of the note."""
        return self.note.text.encode()

    @cached_property
    def _rows(self) -> bytes:
        """The same, with one end for all lines."""
        return line_feeds(self.data)

    @cached_property
    def links_of(self) -> dict[str, list[Link]]:
        """The links of each block."""
        found: dict[str, list[Link]] = {}
        for link in self.links:
            found.setdefault(link.block, []).append(link)
        return found

    def spans(self, block: Block) -> list[tuple[Link, Span]]:
        """The links of a block, with the code points of its text where they stand."""
        return masking.spans(block, self.links_of.get(block.id, ()))

    def artifacts(self, block: Block) -> list[Link]:
        """The links of a block to artifacts, images aside, each artifact and way once."""
        found = {
            (link.target, link.snapshot_required): link
            for link in reversed(self.links_of.get(block.id, []))
            if is_artifact(link)
        }
        return list(reversed(found.values()))

    def raw(self, start: int, end: int) -> str:
        """Bytes of the note as text."""
        return self.data[start:end].decode("utf-8", "replace")

    def finding(
        self,
        rule: str,
        start: int,
        end: int,
        text: str,
        *,
        line: int = 0,
        block: str = "",
        artifact: str = "",
        passage: Closest | None = None,
        fix: str = "",
    ) -> Finding:
        """A finding about these bytes of the note, of the severity that is set.

        Args:
            line: Of its start; 0 has it counted.
        """
        return Finding(
            rule,
            self.settings.severity[rule] or "INFO",
            self.note.path,
            line or self._rows.count(b"\n", 0, start) + 1,
            block,
            self.raw(start, end),
            artifact,
            passage.text if passage else "",
            passage.line if passage else 0,
            text,
            "check",
            start,
            end,
            fix,
        )

    def of_link(self, rule: str, link: Link, text: str, *, artifact: str = "", fix: str = "") -> Finding:
        """A finding about a link."""
        return self.finding(
            rule,
            link.start,
            link.end,
            text,
            line=link.line,
            block=link.block,
            artifact=artifact or link.target,
            fix=fix,
        )

    def of_line(self, rule: str, line: int, text: str, *, fix: str = "") -> Finding:
        """A finding about a whole line."""
        at = 0
        for _ in range(line - 1):
            following = self._rows.find(b"\n", at) + 1
            if not following:
                break
            at = following
        end = self._rows.find(b"\n", at)
        end = len(self.data) if end < 0 else end
        end = at + len(self.data[at:end].rstrip(b"\r"))
        return self.finding(rule, at, end, text, line=line, fix=fix)


def is_artifact(link: Link) -> bool:
    """Whether a link leads to a text that can be read, and is no image."""
    return link.kind == "artifact" and link.via != "image" and not link.reason
