"""The head of a document: enough to tell what it is about, and the sections that links point into."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from admit.evidence.markdown import parse
from admit.evidence.note import Document
from admit.text.cut import head as cut_head

SEPARATOR = "\n\n"


def head(text: str, fragments: Collection[str | None], max_chars: int) -> str:
    """Title, description, first paragraph, then each section that a fragment names, in document order.

    Args:
        fragments: As links write them, percent-decoded: the anchor of a heading, or its text.
        max_chars: The most that is given; it ends with the last block that fits whole. A first block that is
            longer by itself is cut.
    """
    taken, piece = "", ""
    for piece in _pieces(text, parse(text), {one for one in fragments if one}):
        if len((taken + piece).strip("\r\n")) > max_chars:
            break
        taken += piece
    else:
        return taken.strip("\r\n")
    return taken.strip("\r\n") or cut_head(piece.strip("\r\n"), max_chars)


def _pieces(text: str, document: Document, fragments: Collection[str]) -> Iterator[str]:
    """Texts to put one after the other; a section stands as in the file."""
    data = text.encode()
    front = document.front
    top = next((one.text for one in document.headings if one.level == 1), "")
    title = top or (front.text("title") if front is not None else "")
    description = front.text("description") if front is not None else ""
    if title:
        yield f"# {title}{SEPARATOR}"
    if description:
        yield f"{description}{SEPARATOR}"
    shown = 0
    if document.blocks:
        first = document.blocks[0]
        yield data[first.start : first.end].decode().strip("\r\n") + SEPARATOR
        shown = first.end
    for start, end in _sections(document, fragments, len(data)):
        opening = True
        for piece_start, piece_end in _cuts(document, max(start, shown), end):
            piece = data[piece_start:piece_end].decode()
            yield piece.lstrip("\r\n") if opening else piece
            opening = False
        shown = max(shown, end)


def _sections(document: Document, fragments: Collection[str], size: int) -> Iterator[tuple[int, int]]:
    """From each named heading to the next of its level or above, in bytes."""
    for k, heading in enumerate(document.headings):
        if heading.slug in fragments or heading.text in fragments:
            later = (one.start for one in document.headings[k + 1 :] if one.level <= heading.level)
            yield heading.start, next(later, size)


def _cuts(document: Document, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The bytes from start to end, parted where a block ends."""
    for block in document.blocks:
        if start < block.end <= end:
            yield start, block.end
            start = block.end
    if start < end:
        yield start, end
