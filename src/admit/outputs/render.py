"""What the agent sees: a header, kept text word for word, and a marker for each gap.

The same function renders a fresh decision and rebuilds an old one from the stored copy, so what is shown
again is what was shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from .model import Gap, Kept
from .nonce import header_line, marker_line
from .view import View, characters, rebuild

HEADER_CHARS = 500


class Composed(NamedTuple):
    """Kept text with its markers, as text and as the bytes to write, and the gaps."""

    text: str
    data: bytes
    gaps: tuple[Gap, ...]


def line_count(data: bytes) -> int:
    """Raw lines: what a line feed ends, and what stands after the last one."""
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


def kept_ranges(
    view: View, lines: Sequence[int], rules: dict[int, str], scores: Sequence[float]
) -> Iterator[Kept]:
    """Runs of kept lines with nothing between them and one rule, in order; the score is the run's best."""
    run: list[int] = []
    for line in lines:
        joined = run and line == run[-1] + 1 and view.follows(line) and rules[line] == rules[run[-1]]
        if run and not joined:
            yield _kept(view, run, rules, scores)
            run = []
        run.append(line)
    if run:
        yield _kept(view, run, rules, scores)


def compose(
    data: bytes, kept: Sequence[Kept], nonce: str, cut: Callable[[int, int], bytes] | None = None
) -> Composed:
    """Kept ranges of `data`, in order, with a marker on a line of its own for each gap.

    `cut` gives the bytes to show between two offsets, where they are not those of `data`.
    """
    parts: list[bytes] = []
    texts: list[str] = []
    gaps: list[Gap] = []
    end = Kept(line_count(data) + 1, 0, "", None, len(data), 0)
    before: Kept | None = None
    for one in (*kept, end):
        gap = _gap(data, before, one)
        opening = "\n" if before is not None else ""
        if gap is not None:
            gaps.append(gap)
            between = f"{opening}{_marker(nonce, gap)}\n"
        else:
            between = opening if one.start > (before.end if before else 0) else ""
        texts.append(between)
        parts.append(between.encode())
        if one is not end:
            piece = data[one.start : one.end] if cut is None else cut(one.start, one.end)
            texts.append(rebuild(piece, 0, len(piece)))
            parts.append(_writable(piece, texts[-1]))
        before = one
    return Composed("".join(texts), b"".join(parts), tuple(gaps))


def header(
    nonce: str,
    *,
    kept_chars: int,
    chars: int,
    kept_lines: int,
    lines: int,
    exit_code: int | None,
    notes: Iterable[str] = (),
    recall: str = "",
    masked: bool = False,
) -> str:
    """The first line, at most 500 characters: what is here, what is not, and how to get it."""
    code = "exit code unknown" if exit_code is None else f"exit code {exit_code}"
    words = (
        f"{kept_chars:,} of {chars:,} chars ({kept_lines:,} of {lines:,} lines) kept for the task, "
        f"{'credentials masked' if masked else 'verbatim'}; {code}. Gaps are marked."
    )
    ending = f" Whole output: {recall}" if recall else ""
    for note in notes:
        if len(words) + len(note) + len(ending) + 80 <= HEADER_CHARS:
            words += f" {note}"
    return header_line(nonce, words + ending)


def _kept(view: View, run: Sequence[int], rules: dict[int, str], scores: Sequence[float]) -> Kept:
    first, last = run[0], run[-1]
    best = max(scores[line] for line in run)
    return Kept(
        view.numbers[first],
        view.numbers[last],
        rules[first],
        round(best, 4),
        view.starts[first],
        view.ends[last],
    )


def _gap(data: bytes, before: Kept | None, after: Kept) -> Gap | None:
    """What lies between two kept ranges; None where it is nothing, or only a line's end."""
    end = before.end if before is not None else 0
    start = after.start
    if start == end or (before is not None and start == end + 1 and data[end:start] == b"\n"):
        return None
    ends_line = before is None or data[end : end + 1] == b"\n"
    starts_line = start == len(data) or data[start - 1 : start] == b"\n"
    last_line = before.last if before is not None else 0
    first = last_line + 1 if ends_line else last_line
    last = after.first - 1 if starts_line else after.first
    return Gap(first, last, characters(data, end, start), ends_line and starts_line)


def _marker(nonce: str, gap: Gap) -> str:
    lines = gap.last - gap.first + 1
    where = f"{gap.first}" if lines == 1 else f"{gap.first}-{gap.last}"
    if gap.whole:
        return marker_line(nonce, f"{lines:,} line{'s' * (lines > 1)} omitted, {where}")
    return marker_line(nonce, f"{gap.chars:,} chars omitted, line{'s' * (lines > 1)} {where}")


def _writable(raw: bytes, text: str) -> bytes:
    """The bytes of a kept range: each line as it came, unless the view took something out of it."""
    if b"\x1b" not in raw and b"\r" not in raw:
        return raw  # mutant: only faster
    lines = zip(raw.split(b"\n"), text.split("\n"), strict=True)
    return b"\n".join(shown.encode() if _is_cleaned(line) else line for line, shown in lines)


def _is_cleaned(line: bytes) -> bool:
    return b"\x1b" in line or b"\r" in line.rstrip(b"\r")
