"""From one output to the kept lines, without a store, a judge or a record: the door's deterministic part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from admit.text.tokens import estimate_tokens

from .model import Gap, Kept, OutputConfig, RawOutput, Task
from .render import compose, header, kept_ranges, line_count
from .scan import scan
from .select import Selection
from .taskwords import TaskWords, task_words
from .view import View, build, characters
from .weigh import FAILURE, Weighed, weigh
from .words import STRONG_WORDS

if TYPE_CHECKING:
    from .masking import Masked

NOTHING_RECOGNISED = "no failure line recognised"


class Looked(NamedTuple):
    """An output that was looked at, before anything is chosen.

    Attributes:
        unread: Bytes that were only searched.
        chars: Characters of the whole.
        lines: Raw lines of the whole.
    """

    view: View
    weighed: Weighed
    sought: TaskWords
    unread: int
    chars: int
    lines: int


class Shown(NamedTuple):
    """A rendered choice: text and bytes with header, kept ranges and sizes, what nearly was kept, notes."""

    text: str
    data: bytes
    kept: tuple[Kept, ...]
    gaps: tuple[Gap, ...]
    kept_chars: int
    kept_lines: int
    passed_over: tuple[Kept, ...]
    notes: tuple[str, ...]


def look(data: bytes, output: RawOutput, task: Task, config: OutputConfig) -> Looked:
    """Build the view of UTF-8 bytes, as far as they are analysed, and weigh its lines."""
    sought = task_words(task)
    keys = [key for key in sought.keys.values() if len(key) > 2]
    parts = scan(
        data, (*sought.quotes, *keys, *config.words_strong, *STRONG_WORDS), scan_chars=config.scan_chars
    )
    view = build(data, parts.spans, long_line=config.long_line)
    weighed = weigh(view, output, task, sought, config)
    return Looked(view, weighed, sought, parts.unread, characters(data), line_count(data))


def saves_enough(chars: int, shown: Shown, config: OutputConfig) -> bool:
    """Whether the choice is worth replacing the original with; one that kept nothing is not."""
    saving = chars - len(shown.text)
    least = max(config.min_saving_chars, config.min_saving_share * chars)
    return bool(shown.kept) and saving >= least


def show(
    looked: Looked,
    selection: Selection,
    nonce: str,
    *,
    exit_code: int | None,
    notes: Sequence[str] = (),
    recall: str = "",
    mask: bool = False,
) -> Shown:
    """Render a selection.

    Args:
        looked: The output.
        selection: The lines to keep.
        nonce: What tells Admit's own lines from the output's.
        exit_code: Of the command; None is unknown.
        notes: Sentences for the header.
        recall: A way to the whole output, for the header.
        mask: Whether credentials are masked: found in the whole output, so that none is shown in part.
    """
    view, weighed = looked.view, looked.weighed
    kept = tuple(kept_ranges(view, selection.lines, selection.rules, weighed.smoothed))
    masked = _masked(view.data) if mask else None
    composed = compose(view.data, kept, nonce, masked.slice if masked is not None else None)
    over = sorted(selection.passed_over)
    kept_chars = sum(len(view.texts[line]) + 1 for line in selection.lines)
    kept_lines = len({view.numbers[line] for line in selection.lines})
    said = (*_own_notes(looked, exit_code, selection), *notes)
    first = header(
        nonce,
        kept_chars=kept_chars,
        chars=looked.chars,
        kept_lines=kept_lines,
        lines=looked.lines,
        exit_code=exit_code,
        notes=said,
        recall=recall,
        masked=masked is not None and any(masked.hides(one.start, one.end) for one in kept),
    )
    return Shown(
        f"{first}\n{composed.text}",
        first.encode() + b"\n" + composed.data,
        kept,
        composed.gaps,
        kept_chars,
        kept_lines,
        tuple(kept_ranges(view, over, dict.fromkeys(over, "did not fit"), weighed.smoothed)),
        said,
    )


def _masked(data: bytes) -> Masked:
    from .masking import Masked

    return Masked(data)


def budget_chars(looked: Looked, config: OutputConfig, chars: int) -> int:
    """The budget in characters, lowered so that `max_kept_tokens` holds too, by this output's own density."""
    if not config.max_kept_tokens or not looked.view.texts:
        return chars
    sample = "\n".join(looked.view.texts[:2_000])[:200_000]
    per_char = estimate_tokens(sample) / max(1, len(sample))
    return max(1, min(chars, int(config.max_kept_tokens / max(per_char, 1e-9))))


def _own_notes(looked: Looked, exit_code: int | None, selection: Selection) -> list[str]:
    notes = list(looked.weighed.report.notes)
    if exit_code and not looked.weighed.failing:
        notes.append(f"Note: {NOTHING_RECOGNISED}.")
    if looked.weighed.failing and selection.rules.keys().isdisjoint(looked.weighed.failing):
        notes.append("Note: no failure line fits.")
    if looked.unread:
        notes.append(f"{looked.unread:,} bytes in the middle were only searched for words.")
    if looked.weighed.mode == FAILURE and exit_code is None and looked.weighed.failing:
        notes.append("Failure lines stand in it.")
    return notes
