"""Bounded work: which parts of a huge output are analysed at all.

The rest is only searched for substrings, in blocks; the whole text is never held decoded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from .view import Span

HEAD = 500_000
TAIL = 2_000_000
WINDOWS = 1_500_000
AROUND = 2_000
BLOCK = 1 << 20
# First bytes of the four-byte characters of UTF-8.
ASTRAL_LEADS = tuple(bytes([lead]) for lead in range(0xF0, 0xF5))
# Fewest bytes a line takes on average before the number of lines, not of bytes, bounds a part.
BYTES_PER_LINE = 40
# Hits looked at per word: enough to spread the windows, little enough to bound the search.
HITS_PER_WORD = 512
SAMPLE = 1 << 16
# A word that stands in more than one of this many lines tells no place from another.
COMMON_LINES = 20


class Scan(NamedTuple):
    """The parts to analyse, in order, and the bytes left unread (only searched)."""

    spans: tuple[Span, ...]
    unread: int


def scan(data: bytes, words: Iterable[str], *, scan_chars: int) -> Scan:
    """Choose what is analysed.

    Args:
        data: UTF-8 bytes.
        words: Lower-case words to look for between the head and the tail.
        scan_chars: Up to this many characters (bytes, so never more) all is analysed. Above it: the first
            500,000 bytes, the last 2,000,000, and up to 1,500,000 in windows of 2,000 to each side of the
            words found between, the first and the last hit of each word first, then evenly; all three in
            proportion where `scan_chars` is not 4,000,000. Half of it all where the text has characters
            beyond the basic plane (emoji): in memory each character beside one takes four bytes.
    """
    if len(data) > scan_chars // 2 and any(data.find(lead) >= 0 for lead in ASTRAL_LEADS):
        scan_chars //= 2
    share = scan_chars / (HEAD + TAIL + WINDOWS)
    if len(data) <= scan_chars and data.count(b"\n") <= scan_chars // BYTES_PER_LINE:
        return Scan((Span(0, len(data), 1),), 0)
    lines = scan_chars // BYTES_PER_LINE
    head = _line_end(data, min(int(HEAD * share), _nth_line(data, lines // 8)))
    tail = max(head, _line_start(data, max(len(data) - int(TAIL * share), _nth_line_back(data, lines // 2))))
    ranges = [(0, head), *_windows(data, head, tail, words, int(WINDOWS * share), lines // 8 * 3)]
    ranges.append((tail, len(data)))
    merged = list(_merged(ranges))
    return Scan(tuple(_numbered(data, merged)), len(data) - sum(end - start for start, end in merged))


def _windows(
    data: bytes, low: int, high: int, words: Iterable[str], room: int, lines: int
) -> list[tuple[int, int]]:
    hits = _hits(data, low, high, words)
    order = [found[0] for found in hits] + [found[-1] for found in hits]
    rest = sorted({at for found in hits for at in found[1:-1]})
    order += [rest[at] for at in _evenly(len(rest))]
    taken: list[tuple[int, int]] = []
    covered: set[int] = set()
    for at in order:
        cell = at // AROUND
        if cell in covered:
            continue
        start = _line_start(data, max(low, at - AROUND))
        end = _line_end(data, min(high, at + AROUND))
        room -= end - start
        lines -= data.count(b"\n", start, end)
        if room < 0 or lines < 0:
            break
        covered.update((cell, *range((start + AROUND - 1) // AROUND, end // AROUND)))
        taken.append((start, end))
    return taken


def _hits(data: bytes, low: int, high: int, words: Iterable[str]) -> list[list[int]]:
    """Offsets per word that has any, ascending, case-blind; of a line only the first word counts.

    One pass over all words at once, in blocks; a word has at most a few hits per block, evenly spread.
    """
    pattern = _any_of(_telling(data, low, high, words))
    if pattern is None:
        return []
    blocks = range(low, high, BLOCK)
    most = max(2, HITS_PER_WORD // max(1, len(blocks)))
    found: dict[bytes, list[int]] = {}
    for start in blocks:
        block = data[start : min(high, start + BLOCK)].lower()
        here: dict[bytes, list[int]] = {}
        for hit in pattern.finditer(block):
            at, end = hit.span(1)
            here.setdefault(block[at:end], []).append(start + at)
        for word, offsets in here.items():
            step = max(1, len(offsets) // most)
            found.setdefault(word, []).extend([*offsets[:-1:step], offsets[-1]])
    return [found[word] for word in sorted(found, key=lambda one: (len(found[one]), one))]


def _telling(data: bytes, low: int, high: int, words: Iterable[str]) -> tuple[bytes, ...]:
    """The words that tell places apart: not those that stand in every few lines of four samples."""
    starts = [low + (high - low) * part // 4 for part in range(4)]
    sample = b"\n".join(data[start : min(high, start + SAMPLE)] for start in starts).lower()
    most = max(4, sample.count(b"\n") // COMMON_LINES)
    encoded = (word.encode("utf-8", "surrogatepass") for word in dict.fromkeys(words) if word)
    return tuple(word for word in encoded if sample.count(word) <= most)


@lru_cache(maxsize=8)
def _any_of(words: tuple[bytes, ...]) -> Any:
    if not words:
        return None
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # mutant: bytes that are no text only cost time without it
    literals = b"|".join(map(re2.escape, words))
    # The rest of the line is taken along: one hit a line is enough.
    return re2.compile(b"(" + literals + b")[^\n]*", options)


def _evenly(count: int) -> Iterator[int]:
    """Indexes 0 to count - 1 in an order that spreads: bit-reversed, so every prefix is even."""
    bits = max(1, (count - 1).bit_length())
    for index in range(1 << bits):
        spread = int(format(index, f"0{bits}b")[::-1], 2)
        if spread < count:
            yield spread


def _merged(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    last: tuple[int, int] | None = None
    for start, end in sorted(ranges):
        if last is not None and start <= last[1]:
            last = (last[0], max(last[1], end))
            continue
        if last is not None and last[0] < last[1]:
            yield last
        last = (start, end)
    if last is not None and last[0] < last[1]:
        yield last


def _numbered(data: bytes, ranges: Iterable[tuple[int, int]]) -> Iterator[Span]:
    number, at = 1, 0
    for start, end in ranges:
        number += data.count(b"\n", at, start)
        at = start
        yield Span(start, end, number)


def _line_start(data: bytes, at: int) -> int:
    """The start of the line that `at` stands in, if near; else the nearest character start."""
    found = data.rfind(b"\n", max(0, at - AROUND), at)
    if found >= 0:
        return found + 1
    return 0 if at <= AROUND and found < 0 and b"\n" not in data[:at] else _character(data, at)


def _line_end(data: bytes, at: int) -> int:
    found = data.find(b"\n", at, at + AROUND)
    return found + 1 if found >= 0 else _character(data, at)


def _character(data: bytes, at: int) -> int:
    while 0 < at < len(data) and data[at] & 0xC0 == 0x80:
        at -= 1
    return at


def _nth_line(data: bytes, n: int) -> int:
    """Offset after the n-th line feed, or the length, found in blocks."""
    at = 0
    while at < len(data):
        block = data[at : at + BLOCK]
        found = block.count(b"\n")
        if found >= n:
            position = -1
            for _ in range(n):
                position = block.find(b"\n", position + 1)
            return at + position + 1
        n -= found
        at += len(block)
    return len(data)


def _nth_line_back(data: bytes, n: int) -> int:
    at = len(data)
    while at > 0:
        begin = max(0, at - BLOCK)
        found = data.count(b"\n", begin, at)
        if found > n:
            position = at
            for _ in range(n + 1):
                position = data.rfind(b"\n", begin, position)
            return position + 1
        n -= found
        at = begin
    return 0
