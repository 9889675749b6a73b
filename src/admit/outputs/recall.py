"""Giving a stored output back: by lines, by search, whole, or page by page, always its own bytes."""

from __future__ import annotations

import codecs
import functools
import io
import os
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple

from admit.errors import BadRange, OutputNotFound, UsageError

from . import pages
from .nonce import header_line, marker_line, nonce

if TYPE_CHECKING:
    from admit.ledger.port import OutputStore

    from .masking import Masked

MOST_HITS = 50

RecallClass = Literal["whole", "range", "search"]


class RecallResult(NamedTuple):
    """What a recall gives back.

    Attributes:
        text: The stored text, without the header; invalid bytes as U+FFFD.
        header: The first line of the answer; its nonce verifies against the id.
        lines_total: Raw lines of the stored output.
        hits: Matches in all, counted to 100,000 (search only, else 0); an answer shows at most 50.
        next_cursor: What fetches the next page; None on the last.
        cls: What kind of recall it was, for the record.
        notes: What was asked and could not be given as asked, such as a range past the end.
        data: The same as `text`, as the stored bytes.
    """

    text: str
    header: str
    lines_total: int
    hits: int
    next_cursor: str | None
    cls: RecallClass
    notes: tuple[str, ...]
    data: bytes

    def answer(self) -> bytes:
        """The header line, then the text, as bytes."""
        return self.header.encode() + b"\n" + self.data


def recall(
    store: OutputStore,
    key: bytes,
    output_id: str,
    *,
    lines: tuple[int, int] | None = None,
    search: str | None = None,
    regex: bool = False,
    whole: bool = False,
    cursor: str | None = None,
    page_chars: int = 20_000,
    mask: bool = False,
) -> RecallResult:
    """Give back a stored output: its first page, or the part that is asked for.

    A page holds at most `page_chars` characters and ends after a line where it can; one very long line
    takes several pages. UTF-16 with a byte order mark is given as UTF-8, save with `whole`.

    Args:
        store: Where the output stands.
        key: The install key, for the nonce of the first line.
        output_id: The id that a header named.
        lines: First and last raw line, from 1; past the end it is clamped, reversed it is swapped, and
            the answer says so.
        search: Text to look for, without regard to case; each hit comes with up to 2 lines on either side.
        regex: `search` is an RE2 pattern, taken as it is written.
        whole: All of it at once, without pages.
        cursor: From the answer before; with `search`, give the same search again.
        page_chars: Most characters of one page.
        mask: Whether credentials are masked; then none is searched either, and offsets and numbers are
            those of the stored bytes.

    Raises:
        OutputNotFound: The id is unknown, expired, deleted or altered.
        BadRange: A line number below 1 on both ends.
        BadPattern: The search is empty or does not compile.
        UsageError: Two ways of recall at once, or a cursor that no answer gave.
    """
    if sum((lines is not None, search is not None, whole)) > 1:
        raise UsageError("ask for lines, a search or the whole, one at a time")
    if lines is not None and max(lines) < 1:
        raise BadRange(f"lines count from 1, and {lines[0]}-{lines[1]} ends before that")
    with store.open(output_id) as stored:
        ref = store.find(output_id)
        if ref is None:
            raise OutputNotFound(output_id, "deleted")
        file, notes = _readable(stored, whole and not mask)
        masked = None
        if mask:
            masked = _masked(file)
            file = io.BytesIO(masked.blanked())
        size = file.seek(0, os.SEEK_END)
        total = pages.count_lines(file)
        if search is not None:
            part = _search(file, size, search, regex, cursor, page_chars)
        elif whole:
            part = _Part([(0, size)], f"all {total:,} {_plural(total, 'line')}, {size:,} bytes,")
        else:
            part = _page(file, size, total, lines, cursor, page_chars)
        cut = masked.slice if masked is not None else functools.partial(_slice, file)
        slices = [cut(start, end) for start, end in part.ranges]
        hidden = masked is not None and any(masked.hides(start, end) for start, end in part.ranges)

    notes += part.notes
    if not ref.complete and ref.bytes <= size:
        notes.append("its writer was killed: more may have followed")
    elif not ref.complete:
        half = f"{size // 2:,} bytes of {ref.bytes:,}"
        notes.append(f"only the first and the last {half} were kept, and lines count these")
    data = b"".join(slices)
    mark = nonce(key, bytes.fromhex(ref.sha256), data)
    if part.labels:
        labels = [marker_line(mark, label).encode() + b"\n" for label in part.labels]
        data = b"".join(
            label + (piece if piece.endswith(b"\n") else piece + b"\n")
            for label, piece in zip(labels, slices, strict=True)
        )
    how = ", credentials masked" if hidden else ", verbatim" if part.ranges else ""
    words = f"{part.words} of {output_id}{how}"
    words += "".join(f"; {note}" for note in notes)
    words += f"; more: cursor {part.next_cursor}" if part.next_cursor else ""
    cls: RecallClass = "search" if search is not None else "whole" if whole else "range"
    return RecallResult(
        data.decode("utf-8", "replace"),
        header_line(mark, words),
        total,
        part.hits,
        part.next_cursor,
        cls,
        tuple(notes),
        data,
    )


def parse_lines(text: str) -> tuple[int, int]:
    """`120-531`, `120-` (to the end), `-40` (from the start) or `120` as a pair of line numbers.

    Raises:
        BadRange: It is none of these.
    """
    first, dash, last = (part.strip().replace(",", "") for part in text.partition("-"))
    ends = (first, last if dash else first)
    if not any(ends) or not all((end.isascii() and end.isdigit()) or not end for end in ends):
        raise BadRange(f"{text!r} is not a range of lines; write 120-531, 120- or 120")
    return int(ends[0] or 1), int(ends[1] or END)


# Past the end of every output: an open range is clamped without a note.
END = 1 << 62


class _Part(NamedTuple):
    """Which bytes to give, and what the header says of them."""

    ranges: list[tuple[int, int]]
    words: str
    labels: list[str] | None = None
    next_cursor: str | None = None
    hits: int = 0
    notes: list[str] = []  # noqa: RUF012 - never changed in place


def _readable(stored: BinaryIO, whole: bool) -> tuple[BinaryIO, list[str]]:
    """The file to read lines from: itself, or UTF-16 with a byte order mark as UTF-8."""
    stored.seek(0)
    if whole or stored.read(2) not in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return stored, []
    stored.seek(0)
    text = stored.read().decode("utf-16", "replace")
    return io.BytesIO(text.encode("utf-8", "surrogatepass")), ["UTF-16 given as UTF-8"]


def _masked(file: BinaryIO) -> Masked:
    from .masking import Masked

    file.seek(0)
    return Masked(file.read())


def _page(
    file: BinaryIO, size: int, total: int, lines: tuple[int, int] | None, cursor: str | None, page_chars: int
) -> _Part:
    notes: list[str] = []
    if cursor is not None:
        start, end = _page_cursor(cursor, size)
    elif lines is None or not total:
        start, end = 0, size
    else:
        first, last = _clamped(lines, total, notes)
        start, end = pages.line_range(file, first, last, size)
    stop = pages.page_end(file, start, end, page_chars)
    if not stop:
        return _Part([(0, 0)], "0 lines", notes=notes)
    top = pages.line_at(file, start)
    bottom = pages.line_at(file, stop - 1)
    words = f"lines {top:,}-{bottom:,} of {total:,}, bytes {start:,}-{stop:,} of {size:,},"
    more = f"{stop}-{end}" if stop < end else None
    return _Part([(start, stop)], words, next_cursor=more, notes=notes)


def _search(
    file: BinaryIO, size: int, search: str, regex: bool, cursor: str | None, page_chars: int
) -> _Part:
    skip = _hit_cursor(cursor) if cursor is not None else 0
    hits, total = pages.search(file, pages.finder(search, regex=regex), skip=skip, most=MOST_HITS)
    many = f"over {total:,}" if total == pages.MOST_COUNTED else f"{total:,}"
    if not hits:
        left = f"no hit after the first {skip:,} of {many}" if total else f"no hit in {size:,} bytes"
        return _Part([], left, hits=total)
    found = pages.passages(file, hits, size)
    shown, chars = 0, 0
    for passage in found:
        chars += passage.end - passage.start
        if shown and chars > page_chars:
            break
        shown += 1
    found = found[:shown]
    end = found[-1].end
    done = skip + sum(1 for hit in hits if hit.start < end)
    return _Part(
        [(passage.start, passage.end) for passage in found],
        f"hits {skip + 1:,}-{done:,} of {many}, each with up to {pages.CONTEXT_LINES} lines around it,",
        [_label(passage) for passage in found],
        f"h{done}" if done < total else None,
        total,
    )


def _label(passage: pages.Passage) -> str:
    lines = f"lines {passage.first:,}-{passage.last:,}"
    if passage.first == passage.last:
        lines = f"line {passage.first:,}"
    inside = f", bytes {passage.start:,}-{passage.end:,}" if passage.cut else ""
    where = ", ".join(f"{line:,}" for line in passage.hits)
    return f"{lines}{inside}, {_plural(len(passage.hits), 'hit')} in {where}"


def _clamped(lines: tuple[int, int], total: int, notes: list[str]) -> tuple[int, int]:
    first, last = lines
    if first > last:
        first, last = last, first
        notes.append(f"lines {lines[0]:,}-{lines[1]:,} were asked for, in reverse, and swapped")
    if first > total or total < last < END:
        notes.append(f"lines up to {last:,} were asked for, the output ends at line {total:,}")
    if first < 1:
        notes.append("lines count from 1")
    return min(max(first, 1), total), min(last, total)


def _page_cursor(cursor: str, size: int) -> tuple[int, int]:
    start, _, end = cursor.partition("-")
    if not (start.isascii() and start.isdigit() and end.isascii() and end.isdigit()):
        raise UsageError(f"{cursor!r} is no cursor of a page; copy it from the answer before")
    if not int(start) < int(end) <= size:
        raise UsageError(f"cursor {cursor} does not lie inside this output of {size:,} bytes")
    return int(start), int(end)


def _hit_cursor(cursor: str) -> int:
    digits = cursor.removeprefix("h")
    if digits == cursor or not (digits.isascii() and digits.isdigit()):
        raise UsageError(f"{cursor!r} is no cursor of a search; copy it from the answer before")
    return int(digits)


def _slice(file: BinaryIO, start: int, end: int) -> bytes:
    file.seek(start)
    return file.read(end - start)


def _plural(n: int, word: str) -> str:
    return word if n == 1 else word + "s"
