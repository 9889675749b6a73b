"""A recorded decision again: the text it showed, from the stored copy, and the reasons, as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from .masking import Masked, masked_whole
from .model import Kept
from .nonce import header_line, nonce
from .record import ranges
from .render import compose, header, line_count
from .view import as_utf8

if TYPE_CHECKING:
    from admit.ledger.port import DecisionView

COLUMNS = ("", "lines", "rule", "score", "chars")
NUMBERS = (1, 3, 4)


class Explained(NamedTuple):
    """One decision in words: sentences for the head, then rows of `COLUMNS`."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def shown_again(
    stored: bytes,
    extra: Mapping[str, Any],
    sha256: bytes,
    key: bytes,
    *,
    total: int = 0,
    recall: str = "",
    mask: bool = False,
) -> bytes:
    """The bytes that a decision showed, or would have shown in shadow mode.

    Args:
        stored: The stored output.
        extra: The door's own fields of the decision.
        sha256: SHA-256 of the stored output.
        key: The install key.
        total: Bytes of the whole output, where only its two ends are stored; a kept range between them is
            shown as part of the gap.
        recall: The way to the whole output that the header names.
        mask: Whether credentials are masked.
    """
    data = as_utf8(stored)
    lost = max(0, total - len(stored))
    digits = nonce(key, sha256, data)
    sizes = {"chars": extra.get("original_chars", 0), "lines": extra.get("lines", 0)}
    if extra.get("how") == "duplicate":
        words = f"{sizes['chars']:,} chars, {sizes['lines']:,} lines: unchanged, shown before."
        return f"{header_line(digits, words)}\n".encode()
    kept = ranges(extra)
    if not kept:
        return masked_whole(stored) if mask else stored
    if lost:
        half = len(stored) // 2
        kept = tuple(one for one in kept if one.end <= half or one.start >= half + lost)
        data = data[:half] + _filler(lost, sizes["lines"] - line_count(data)) + data[half:]
    masked = Masked(data) if mask else None
    first = header(
        digits,
        kept_chars=extra.get("kept_chars", 0),
        kept_lines=extra.get("kept_lines", _line_count(kept)),
        exit_code=extra.get("exit_code"),
        notes=extra.get("notes", ()),
        recall=recall,
        masked=masked is not None and any(masked.hides(one.start, one.end) for one in kept),
        **sizes,
    )
    return (
        first.encode()
        + b"\n"
        + compose(data, kept, digits, masked.slice if masked is not None else None).data
    )


def explain(view: DecisionView) -> Explained:
    """Why an output was shown as it was: mode and sizes, kept ranges with their rule, scored passages."""
    row, extra = view.decision, view.decision.extra
    kept, chars = extra.get("kept_chars", 0), extra.get("original_chars", 0)
    code = extra.get("exit_code")
    head = [
        f"{row.output_id or 'not stored'} from {extra.get('tool') or 'an unnamed tool'}, "
        f"exit code {'unknown' if code is None else code}: {extra.get('how', 'unknown')}"
    ]
    lines = ranges(extra)
    if lines:
        head.append(
            f"{extra.get('mode', 'unknown')} mode: {kept:,} of {chars:,} characters kept, "
            f"{_line_count(lines):,} of {extra.get('lines', 0):,} lines, {extra.get('gaps', 0):,} gaps"
        )
    else:
        head.append(f"everything is shown: {chars:,} characters")
    if extra.get("parsers"):
        head.append(f"recognised by {', '.join(extra['parsers'])}")
    if dropped := extra.get("dropped_qualifying"):
        head.append(
            f"{dropped['chunks']:,.0f} qualifying passages ({dropped['chars']:,.0f} characters, "
            f"best score {dropped['best_score']:.2f}) did not fit"
        )
    if view.recalls:
        times = len(view.recalls)
        head.append(f"recalled {times:,} time{'s' * (times > 1)}")
    rows = [("kept", _lines(one), one.rule, _score(one.score), "") for one in lines]
    verdicts = {verdict.ord: verdict for verdict in view.verdicts}
    for candidate in view.candidates:
        verdict = verdicts.get(candidate.ord)
        words = "no verdict" if verdict is None else verdict.verdict
        if verdict is not None and verdict.reason not in (None, verdict.verdict):
            words += f" ({verdict.reason})"
        score = verdict.expectation if verdict is not None else None
        size = "" if candidate.size is None else f"{candidate.size:,}"
        rows.append((f"passage {candidate.candidate_id}", "", words, _score(score), size))
    return Explained(tuple(head), tuple(rows))


def _filler(size: int, lines: int) -> bytes:
    """In place of what is not stored: as many bytes and lines, so that numbers and offsets hold."""
    lines = max(0, min(lines, size))
    return b" " * (size - lines) + b"\n" * lines


def _lines(one: Kept) -> str:
    return f"{one.first:,}" if one.first == one.last else f"{one.first:,}-{one.last:,}"


def _score(score: float | None) -> str:
    return "" if score is None else f"{score:.2f}"


def _line_count(kept: Sequence[Kept]) -> int:
    """Raw lines in the kept ranges; two pieces of one long line are one."""
    count = sum(one.last - one.first + 1 for one in kept)
    return count - sum(1 for before, one in pairwise(kept) if before.last == one.first)
