"""Whether the target of a link has the place that the link names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from admit.evidence.note import Document, Link
from admit.evidence.positions import line_feeds
from admit.evidence.reading import File
from admit.evidence.slugs import slug

if TYPE_CHECKING:
    from admit.evidence.base import Base

MARKED_UP = (".md", ".markdown", ".html", ".htm")
"""Files whose anchors are known; in others a fragment may mean anything, save a line."""

_LINES = re.compile(r"L(\d{1,9})(?:C\d+)?(?:-L?(\d{1,9})(?:C\d+)?)?")


class Anchors(NamedTuple):
    """What a fragment may name: slugs of headings, ids, block ids with their caret; and a count of lines."""

    names: frozenset[str]
    lines: int


def anchors_of(file: File, document: Document) -> Anchors:
    """The anchors of a parsed file; a heading with an id of its own also has that of its text."""
    names = {heading.slug for heading in document.headings}
    names.update(slug(heading.text) for heading in document.headings)
    data = line_feeds(file.data)
    lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    return Anchors(frozenset(names) | document.ids, lines)


def anchor_ok(base: Base, link: Link) -> bool | None:
    """Whether the target has the link's fragment.

    An empty one and ``#top`` are fine, as is ``#L12`` or ``#L12-L20`` where there are so many lines; what
    follows ``:~:`` is not looked at. Of a wiki link it is the text of a heading, or ``^`` and a block id.

    Returns:
        None where it is not looked at: no fragment, no text to look into, or a file without known anchors.
    """
    if link.fragment is None or link.kind not in ("artifact", "self", "anchor") or not link.target:
        return None
    fragment = link.fragment.partition(":~:")[0]
    if fragment in ("", "top"):
        return True
    if base.look(link.target).reason:
        return None
    marked_up = link.target.lower().endswith(MARKED_UP)
    if not marked_up and not _LINES.fullmatch(fragment):
        return None
    anchors = base.anchors_and_lines(link.target)
    if link.via in ("wiki", "embed"):
        last = fragment.rpartition("#")[2].strip()
        return last in anchors.names or (not last.startswith("^") and slug(last) in anchors.names)
    if marked_up and fragment in anchors.names:
        return True
    lines = _LINES.fullmatch(fragment)
    return lines is not None and 1 <= int(lines[1]) <= int(lines[2] or lines[1]) <= anchors.lines
