"""The view: what a person would have seen of the raw bytes, line by line, with the way back to the bytes.

A view line is always `clean` of one slice of the raw bytes, so any kept piece can be rebuilt from the
stored copy and two offsets. The view differs from the raw text by a closed list: escape sequences are
gone, only the text after a line's last bare carriage return remains, runs of pure redraw lines keep the
first and the last, and invalid bytes show as U+FFFD.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from admit.text.ansi import strip

from .virtual import pieces

# Beyond this what escapes take is not counted: such an output is over every gate anyhow.
COUNTED_BYTES = 1_000_000
COUNTED_AT_ONCE = 1 << 20
REPLACEMENT = "\ufffd"


class Span(NamedTuple):
    """A stretch of the raw bytes to analyse, and the raw number, from 1, of the line it starts in."""

    start: int
    end: int
    number: int


class View(NamedTuple):
    """The analysed lines of one output, as columns of equal length, in raw order.

    Attributes:
        texts: View text of each line, without its line feed; a carriage return before it stays.
        numbers: Raw line number, from 1; virtual lines of one raw line share it.
        starts: Byte offset of the slice in the raw bytes.
        ends: Byte offset after the slice, the line feed not included.
        data: The raw bytes (for UTF-16 with a byte order mark: the same text as UTF-8).
    """

    texts: list[str]
    numbers: list[int]
    starts: list[int]
    ends: list[int]
    data: bytes

    def glued(self, index: int) -> bool:
        """Whether this line continues the one before it: the next piece of the same raw line."""
        return (
            index > 0
            and self.numbers[index] == self.numbers[index - 1]
            and self.starts[index] == self.ends[index - 1]
        )

    def follows(self, index: int) -> bool:
        """Whether nothing of the raw output lies between this line and the one before it."""
        if index == 0:
            return self.starts[0] == 0
        between = self.starts[index] - self.ends[index - 1]
        return between == 0 or (between == 1 and self.numbers[index] == self.numbers[index - 1] + 1)


def as_utf8(data: bytes) -> bytes:
    """The bytes to work on: UTF-16 with a byte order mark becomes UTF-8, a UTF-8 mark goes."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode("utf-8", "surrogatepass")
    return data.removeprefix(codecs.BOM_UTF8)


def as_text(data: bytes) -> str:
    """The raw bytes as text: invalid bytes as U+FFFD."""
    return as_utf8(data).decode("utf-8", "replace")


def view_chars(data: bytes) -> int:
    """Characters of the whole view. A huge output with escapes is counted with them."""
    if len(data) <= COUNTED_BYTES and (b"\x1b" in data or b"\r" in data):
        text = data.decode("utf-8", "replace")
        return sum(len(clean(line)) + 1 for line in text.split("\n")) - 1
    return characters(data)


def clean(line: str) -> str:
    """One raw line as a terminal would leave it, apart from colours."""
    if "\x1b" in line:
        line = strip(line)
    if "\r" in line:
        body = line.rstrip("\r")
        line = body[body.rfind("\r") + 1 :] + line[len(body) :]
    return line


def build(data: bytes, spans: Iterable[Span], *, long_line: int) -> View:
    """The view of the given spans of `data` (as `as_utf8` gives it).

    Args:
        data: The raw bytes.
        spans: Where to look, in order, not overlapping.
        long_line: Lines over this many characters become virtual lines.
    """
    view = View([], [], [], [], data)
    for span in spans:
        _append(view, span, long_line)
    return view


def rebuild(data: bytes, start: int, end: int) -> str:
    """The view text of a kept slice of whole or virtual lines."""
    text = data[start:end].decode("utf-8", "replace")
    return "\n".join(map(clean, text.split("\n"))) if "\x1b" in text or "\r" in text else text


def characters(data: bytes, start: int = 0, end: int | None = None) -> int:
    """How many characters a stretch of UTF-8 bytes holds: the bytes that do not continue a character."""
    last = len(data) if end is None else end
    if last - start == len(data) and data.isascii():
        return len(data)  # mutant: only faster
    blocks = (data[at : min(last, at + COUNTED_AT_ONCE)] for at in range(start, last, COUNTED_AT_ONCE))
    return sum(len(block.translate(None, _CONTINUATION)) for block in blocks)


_CONTINUATION = bytes(range(0x80, 0xC0))


def _append(view: View, span: Span, long_line: int) -> None:
    block = view.data[span.start : span.end]
    text = block.decode("utf-8", "replace")
    raw = text.split("\n")
    lengths: Iterable[int] = map(len, raw) if block.isascii() else map(len, block.split(b"\n"))
    # A line feed ends a line; what stands after the last one is a line only if it is not empty.
    count = len(raw) - (not raw[-1])
    ends = [end - 1 for end in accumulate(length + 1 for length in lengths)][:count]
    ends = [span.start + end for end in ends]
    starts = [span.start, *(end + 1 for end in ends)][:count]
    del raw[count:]
    numbers: Sequence[int] = range(span.number, span.number + count)
    dirty = "\x1b" in text or "\r" in text
    texts = list(map(clean, raw)) if dirty else raw
    if dirty and "\x1b" in text:
        kept = list(_without_redraw(raw))
        if len(kept) < count:
            texts, numbers = [texts[i] for i in kept], [numbers[i] for i in kept]
            starts, ends = [starts[i] for i in kept], [ends[i] for i in kept]
    if any(len(line) > long_line for line in texts):
        _append_virtual(view, texts, numbers, starts, ends, long_line)
        return
    view.texts.extend(texts)
    view.numbers.extend(numbers)
    view.starts.extend(starts)
    view.ends.extend(ends)


def _append_virtual(
    view: View,
    texts: Sequence[str],
    numbers: Sequence[int],
    starts: Sequence[int],
    ends: Sequence[int],
    long_line: int,
) -> None:
    for line, number, start, end in zip(texts, numbers, starts, ends, strict=True):
        if len(line.rstrip("\r")) <= long_line:
            parts = [(line, start, end)]
        else:
            parts = list(_virtual(view.data, start, end))
        for text, at, until in parts:
            view.texts.append(text)
            view.numbers.append(number)
            view.starts.append(at)
            view.ends.append(until)


def _virtual(data: bytes, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Virtual lines of one raw line: cut first, cleaned after, so that each is a slice of the bytes.

    The first slice also holds what a carriage return overwrote, the last one the line's own end.
    """
    until = start + _overwritten(data[start:end])
    body = data[until:end].decode("utf-8", "replace").rstrip("\r")
    returns = len(data[until:end]) - len(data[until:end].rstrip(b"\r"))
    at = start
    for piece in pieces(body):
        until += _byte_length(piece, data, until)
        if until + returns == end:
            until = end
        yield clean(data[at:until].decode("utf-8", "replace")), at, until
        at = until


def _overwritten(line: bytes) -> int:
    """Bytes up to the last carriage return that has anything visible after it."""
    end = len(line)
    while (at := line.rfind(b"\r", 0, end)) >= 0:
        if strip(line[at + 1 : end].decode("utf-8", "replace")):
            return at + 1
        end = at
    return 0


def _byte_length(text: str, data: bytes, at: int) -> int:
    """How many bytes of `data`, from `at` on, were decoded to this text."""
    if REPLACEMENT not in text:
        return len(text.encode())  # mutant: only faster
    until = at
    for character in text:
        until += _broken_length(data, until) if character == REPLACEMENT else len(character.encode())
    return until - at


def _broken_length(data: bytes, at: int) -> int:
    """The 1 to 3 bytes that show as one U+FFFD: the longest that decode to it alone."""
    left = min(3, len(data) - at)
    return next(n for n in range(left, 0, -1) if data[at : at + n].decode("utf-8", "replace") == REPLACEMENT)


def _without_redraw(raw: Sequence[str]) -> Iterator[int]:
    """Indexes of the lines that stay: of a run of lines that move the cursor up, the first and the last."""
    for index, line in enumerate(raw):
        redraws = _redraws(line)
        if (
            not redraws
            or index in (0, len(raw) - 1)
            or not (_redraws(raw[index - 1]) and _redraws(raw[index + 1]))
        ):
            yield index


def _redraws(line: str) -> bool:
    return "\x1b[" in line and _cursor_up().search(line) is not None


@cache
def _cursor_up() -> re.Pattern[str]:
    return re.compile(r"\x1b\[[0-9;]*[AF]")
