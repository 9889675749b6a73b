"""Reading parts of stored bytes: line ranges, pages and search, in blocks, never decoded as a whole.

A line ends at a line feed; what stands after the last one is a line only if it is not empty. Offsets are
bytes from 0. Every file here is seekable and does not change while it is read.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from admit.errors import BadPattern

BLOCK = 1 << 20
# A pattern may match across the border of two blocks of one very long line up to this length.
OVERLAP = 4_096
# In a longer line every match is a hit of its own; in a shorter one the line is the hit.
LONG_LINE = 2_000
CONTEXT_LINES = 2
# Counting stops here, so that a search for a single letter ends in time.
MOST_COUNTED = 100_000
# What a hit shows on either side of itself, at most, in bytes.
SIDE = 1_000
# One step of a pattern's slow way costs about 1 ns per instruction and byte: 2 s for a block at most.
MOST_INSTRUCTIONS = 2_000
PATTERN_MEMORY = 64 << 20
SEARCH_SECONDS = 5.0


class Hit(NamedTuple):
    """One match: where it starts and the raw line, from 1, it stands in."""

    start: int
    line: int


class Passage(NamedTuple):
    """A stretch around one or more hits: bytes, the raw lines it touches, and the lines of its hits.

    Attributes:
        cut: Whether it starts or ends inside a line.
    """

    start: int
    end: int
    first: int
    last: int
    hits: tuple[int, ...]
    cut: bool


class Finder(NamedTuple):
    """How to search a block: `prepare` it once, then `find` the first match from a position on."""

    prepare: Callable[[bytes], bytes]
    find: Callable[[bytes, int], tuple[int, int] | None]


def count_lines(file: BinaryIO) -> int:
    """How many lines the file holds."""
    total, last = 0, b"\n"
    for block in _blocks(file):
        total += block.count(b"\n")
        last = block[-1:]
    return total + (last != b"\n")


def line_range(file: BinaryIO, first: int, last: int, size: int) -> tuple[int, int]:
    """The bytes of lines `first` to `last`, from 1, both included, line feeds included."""
    start = _line_start(file, first, 0, size)
    end = _line_start(file, last - first + 2, start, size)
    return start, end


def line_at(file: BinaryIO, offset: int) -> int:
    """The number of the line that the byte at `offset` stands in."""
    line = 1
    for block in _blocks(file, 0, offset):
        line += block.count(b"\n")
    return line


def page_end(file: BinaryIO, start: int, end: int, chars: int) -> int:
    """Where a page of at most `chars` characters from `start` on ends: after a line, or between code points.

    A line end counts only in the second half of the page, so that a page is never nearly empty.
    """
    file.seek(start)
    data = file.read(min(end - start, 4 * chars + 4))
    # Each invalid byte is one character here, so that characters always lead back to bytes.
    text = data.decode("utf-8", "surrogateescape")
    if len(text) <= chars:
        return start + len(data)
    after_line = text.rfind("\n", chars // 2, chars) + 1
    return start + len(text[: after_line or chars].encode("utf-8", "surrogateescape"))


def finder(search: str, *, regex: bool = False) -> Finder:
    """What finds `search`: literally without regard to case, or as an RE2 pattern as it is written.

    Raises:
        BadPattern: It is empty, holds a line end, or does not compile.
    """
    if not search:
        raise BadPattern("the search is empty; name the text to look for")
    if "\n" in search:
        raise BadPattern("a search looks inside one line; leave the line end out")
    needle = search.encode("utf-8", "surrogatepass")
    if not regex and needle.isascii():
        return Finder(bytes.lower, functools.partial(_find_literal, needle.lower()))
    return Finder(bytes, functools.partial(_find_pattern, _compiled(needle, regex)))


def search(
    file: BinaryIO,
    how: Finder,
    *,
    skip: int = 0,
    most: int = 50,
    monotonic: Callable[[], float] = time.monotonic,
) -> tuple[list[Hit], int]:
    """The hits after the first `skip`, at most `most`, in order, and the number of all, to 100,000.

    Raises:
        BadPattern: Searching takes longer than 5 s by `monotonic`, looked at before each match.
    """
    until = monotonic() + SEARCH_SECONDS
    kept: list[Hit] = []
    total = 0
    base, line, carry = 0, 1, b""  # of the buffer: its offset, its first line's number
    line_start = 0  # offset of that line's first byte, which may lie before the buffer
    at = 0
    blocks = _blocks(file)
    done = False
    while not done:
        block = next(blocks, b"")
        done = not block
        buffer = carry + block
        safe = len(buffer) if done else _safe_length(buffer)
        # An empty match at the very end counts only where a line is open there.
        limit = safe + (done and bool(buffer) and not buffer.endswith(b"\n"))
        prepared = how.prepare(buffer)
        counted = 0
        while at < limit:
            if total == MOST_COUNTED:
                return kept, total
            if monotonic() > until:
                raise BadPattern(_TOO_COSTLY)
            match = how.find(prepared, at)
            if match is None or match[0] >= limit:
                break
            start, end = match
            if skip <= total < skip + most:
                line += buffer.count(b"\n", counted, start)
                counted = start
                kept.append(Hit(base + start, line))
            total += 1
            # Both looks are bounded: a hit must not cost a walk over a line of megabytes.
            low, high = max(0, start - LONG_LINE), min(len(buffer), start + LONG_LINE + 1)
            opens = buffer.rfind(b"\n", low, start) + 1
            begins = base + opens if opens else base + low - 1 if low else line_start
            feed = buffer.find(b"\n", start, high)
            feed = high if feed < 0 else feed
            at = feed + 1 if base + feed - begins <= LONG_LINE else max(end, start + 1)
        line += buffer.count(b"\n", counted, safe)
        last_feed = buffer.rfind(b"\n", 0, safe)
        if last_feed >= 0:
            line_start = base + last_feed + 1
        base += safe
        at = max(0, at - safe)
        carry = buffer[safe:]
    return kept, total


def passages(file: BinaryIO, hits: list[Hit], size: int) -> list[Passage]:
    """The hits with up to two lines on either side, in order; passages that touch are one."""
    result: list[Passage] = []
    for hit in hits:
        now = _around(file, hit, size)
        if result and now.start <= result[-1].end:
            before = result[-1]
            lines = before.hits if before.hits[-1] == hit.line else (*before.hits, hit.line)
            longer = now.end > before.end
            result[-1] = Passage(
                before.start,
                now.end if longer else before.end,
                before.first,
                now.last if longer else before.last,
                lines,
                before.cut or now.cut,
            )
        else:
            result.append(now)
    return result


def _blocks(file: BinaryIO, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    file.seek(start)
    left = -1 if end is None else end - start
    while left:
        block = file.read(BLOCK if left < 0 else min(BLOCK, left))
        if not block:
            return
        left -= len(block) if left > 0 else 0
        yield block


def _line_start(file: BinaryIO, number: int, start: int, size: int) -> int:
    """Offset of the `number`-th line counted from the line that starts at `start`; `size` past the last."""
    wanted, base = number - 1, start
    for block in _blocks(file, start) if wanted else ():
        found = block.count(b"\n")
        if found >= wanted:
            at = -1
            for _ in range(wanted):
                at = block.find(b"\n", at + 1)
            return base + at + 1
        wanted -= found
        base += len(block)
    return size if wanted else start


def _safe_length(buffer: bytes) -> int:
    """How much of a buffer can be searched now: whole lines, else all but what a match may need more of."""
    return buffer.rfind(b"\n") + 1 or max(0, len(buffer) - OVERLAP)


def _find_literal(needle: bytes, block: bytes, at: int) -> tuple[int, int] | None:
    start = block.find(needle, at)
    return None if start < 0 else (start, start + len(needle))


def _find_pattern(pattern: object, block: bytes, at: int) -> tuple[int, int] | None:
    match = pattern.search(block, at)  # type: ignore[attr-defined]
    return None if match is None else (match.start(), match.end())


def _compiled(needle: bytes, regex: bool) -> object:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    options.max_mem = PATTERN_MEMORY
    options.never_capture = True
    options.case_sensitive = regex
    options.literal = not regex
    try:
        pattern = re2.compile(needle, options)
        # Anchors mean the ends of a line; the pattern alone had to compile first, or ")(" would.
        pattern = re2.compile(b"(?m:" + needle + b")", options) if regex else pattern
    except re2.error as error:
        why = error.args[0] if error.args else ""
        why = why.decode("utf-8", "replace") if isinstance(why, bytes) else str(why)
        raise BadPattern(f"the pattern does not compile (RE2 syntax): {why}") from None
    if regex and max(pattern.programsize, pattern.reverseprogramsize) > MOST_INSTRUCTIONS:
        raise BadPattern(_TOO_COSTLY)
    return pattern


_TOO_COSTLY = "the pattern is too costly; use repeats below {200}, or search for plain text"


def _around(file: BinaryIO, hit: Hit, size: int) -> Passage:
    """One hit with the whole lines around it that fit; only the hit's own line may be cut."""
    low = max(0, hit.start - SIDE)
    file.seek(low)
    data = file.read(hit.start + SIDE - low)
    middle = hit.start - low
    starts = list(_starts_before(data, middle, whole=low == 0))[: CONTEXT_LINES + 1]
    ends = list(_ends_after(data, middle, whole=low + len(data) == size))[: CONTEXT_LINES + 1]
    start = starts[-1] if starts else _character_start(data, 0, 1)
    end = ends[-1] if ends else _character_start(data, len(data) - 1, -1)
    return Passage(
        low + start,
        low + end,
        hit.line - max(0, len(starts) - 1),
        hit.line + max(0, len(ends) - 1),
        (hit.line,),
        not starts or not ends,
    )


def _starts_before(data: bytes, middle: int, *, whole: bool) -> Iterator[int]:
    """Starts of the lines in `data`, nearest to `middle` first."""
    at = middle
    while True:
        at = data.rfind(b"\n", 0, at)
        if at < 0:
            break
        yield at + 1
    if whole:
        yield 0


def _ends_after(data: bytes, middle: int, *, whole: bool) -> Iterator[int]:
    """Ends of the lines in `data`, line feeds included, nearest to `middle` first."""
    at = middle - 1
    while True:
        at = data.find(b"\n", at + 1)
        if at < 0:
            break
        yield at + 1
    if whole and not data.endswith(b"\n"):
        yield len(data)


def _character_start(data: bytes, at: int, step: int) -> int:
    """The first position from `at` on, at most 3 steps away, that does not continue a UTF-8 character."""
    for near in range(at, at + 4 * step, step):
        if 0 <= near < len(data) and data[near] & 0xC0 != 0x80:
            return near
    return at
