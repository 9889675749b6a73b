"""What the outputs door works on: one tool output, its lines and marks, and the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from admit.config.keys import default
from admit.core.decision import Decision

if TYPE_CHECKING:
    from .verdicts import Verdicts

How = Literal["kept", "duplicate", "local", "judged", "exempt"]
MarkKind = Literal["summary", "failure", "detail", "structure", "noise", "term"]


class RawOutput(NamedTuple):
    """One tool output as it came.

    Attributes:
        data: The bytes; `of` accepts text and encodes it, lone surrogates included.
        exit_code: None is unknown, never 0.
        tool: The tool's name, for the record and `skip_tools`.
        command: The command line, where there is one.
        kind: ``file_read`` is never selected from.
        stream: Which stream it is.
        host_limit_chars: What the host would have shown of it, in characters; None is unknown.
    """

    data: bytes
    exit_code: int | None = None
    tool: str = ""
    command: str | None = None
    kind: Literal["command", "file_read", "mcp", "other"] = "command"
    stream: Literal["stdout", "stderr", "merged"] = "merged"
    host_limit_chars: int | None = None

    @classmethod
    def of(cls, text: bytes | str, **fields: Any) -> RawOutput:
        """An output from bytes or text, with the other fields by name."""
        return cls(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text, **fields)


class Task(NamedTuple):
    """What the agent is doing; every field may be empty.

    Attributes:
        text: The request.
        history: Earlier requests, at most 4, 1,200 characters together.
        plan: The agent's own words, at most 500 characters.
        command: The command, at most 500 characters.
    """

    text: str = ""
    history: tuple[str, ...] = ()
    plan: str = ""
    command: str = ""


class Mark(NamedTuple):
    """What a parser knows of one view line.

    Attributes:
        line: Index into the view's lines, from 0.
        kind: What the line is.
        rule: Who says so, such as ``pytest.failed``.
    """

    line: int
    kind: MarkKind
    rule: str


class Block(NamedTuple):
    """Lines that belong together, by index, both ends included.

    Attributes:
        whole: Kept whole or not at all (a diff hunk); else whole only where it fits a quarter of the budget.
    """

    first: int
    last: int
    whole: bool = False

    @property
    def lines(self) -> range:
        """The indexes of its lines."""
        return range(self.first, self.last + 1)


class Parsed(NamedTuple):
    """What one parser says of an output.

    Attributes:
        name: The parser.
        marks: In line order.
        blocks: In line order, not overlapping.
        note: A sentence for the header, or empty.
        quiet: Whether diagnostic words in its region report nothing, as in the source of a program.
    """

    name: str
    marks: tuple[Mark, ...]
    blocks: tuple[Block, ...] = ()
    note: str = ""
    quiet: bool = False


class Gap(NamedTuple):
    """What is left out between two kept pieces.

    Attributes:
        first: First raw line left out, from 1.
        last: Last raw line left out.
        chars: Characters left out.
        whole: Whether it is whole lines; else it begins or ends inside one.
    """

    first: int
    last: int
    chars: int
    whole: bool = True


class Kept(NamedTuple):
    """One kept run of raw lines, from 1, both ends included, the rule that kept it, and the best score.

    `start` and `end` are byte offsets into the raw output, so that the text can be rebuilt from the store.
    """

    first: int
    last: int
    rule: str
    score: float | None
    start: int
    end: int


class ChunkRuling(NamedTuple):
    """What became of one chunk: its state, and its score in 0..3 where it was judged."""

    chunk: str
    chars: int
    state: str
    score: float | None = None


class OutputResult(NamedTuple):
    """What the agent sees of one output, and what was decided.

    Attributes:
        text: What is shown. Equal to the original's text when `changed` is False.
        data: The same as bytes; equal to the raw bytes when `changed` is False.
        how: See `How`.
        reason: Why, where `how` alone does not say.
        id: ``o_`` and hex digits of the content hash; empty where nothing was stored.
        original_chars, kept_chars: Characters of the view, and of the kept lines without header and markers.
        original_lines, kept_lines: Raw lines.
        notes: Sentences for the first line, beside sizes and exit code.
        dropped_qualifying: What the judge admitted and the budget left out: chunks, chars, best_score.
        saved_chars: What the context was spared, against what the host would have shown.
        requests: To a judge, those that left the machine.
        verdicts: The settled ask behind `decision`; None where no judge was asked.
        faults: Pairs (store, parser, ledger, judge or door; its name) of what broke and cost no answer.
    """

    text: str
    data: bytes
    changed: bool
    how: How
    reason: str
    id: str = ""
    mode: str = ""
    original_chars: int = 0
    kept_chars: int = 0
    original_lines: int = 0
    kept_lines: int = 0
    gaps: tuple[Gap, ...] = ()
    kept: tuple[Kept, ...] = ()
    chunks: tuple[ChunkRuling, ...] = ()
    dropped_qualifying: Mapping[str, float] | None = None
    parsers: tuple[str, ...] = ()
    parsed: bool = False
    decision: Decision | None = None
    decision_id: str = ""
    requests: int = 0
    judge_ms: float | None = None
    total_ms: float = 0.0
    saved_chars: int = 0
    passed_over: tuple[Kept, ...] = ()
    notes: tuple[str, ...] = ()
    verdicts: Verdicts | None = None
    faults: tuple[tuple[str, str], ...] = ()


class JudgeProfile(NamedTuple):
    """What the judge's profile says for this door: questions per ask, least score, time in ms.

    Attributes:
        hash: ``sha256:`` of the whole profile, for the record; None is unknown.
        redact_patterns: RE2 patterns that are masked beside the built-in shapes.
    """

    max_candidates: int = 24
    threshold: float = 1.5
    timeout_ms: int = 2_000
    name: str = "local"
    hash: str | None = None
    redact_patterns: tuple[str, ...] = ()


class JudgeEstimate(NamedTuple):
    """What the filter would send: requests, bytes of the passages, passages asked about."""

    requests: int
    bytes: int
    chunks: int


class FilterConfig(NamedTuple):
    """`[outputs.filter]`; every default stands in the key table."""

    enabled: bool = default("outputs.filter.enabled")
    scope: str = default("outputs.filter.scope")
    partial: str = default("outputs.filter.partial")
    fit: str = default("outputs.filter.fit")
    chunk_chars: int = default("outputs.filter.chunk_chars")
    min_score: float | None = None
    max_kept_chars: int = default("outputs.filter.max_kept_chars")
    timeout_ms: int = default("outputs.filter.timeout_ms")


class OutputConfig(NamedTuple):
    """`[outputs]`; every default stands in the key table.

    Attributes:
        weights_failure, weights_spread: Weight of task words, diagnostics and rarity.
    """

    mode: str = default("outputs.mode")
    max_kept_chars: int = default("outputs.max_kept_chars")
    max_kept_tokens: int = default("outputs.max_kept_tokens")
    floor_chars: int = default("outputs.floor_chars")
    gate_chars: int = default("outputs.gate_chars")
    tail_chars: int = default("outputs.tail_chars")
    run_share: float = default("outputs.run_share")
    run_after: int = default("outputs.run_after")
    guard_share_failure: float = default("outputs.guard_share.failure")
    guard_share_spread: float = default("outputs.guard_share.spread")
    guard_context: int = default("outputs.guard_context")
    weights_failure: tuple[float, float, float] = default("outputs.weights.failure")
    weights_spread: tuple[float, float, float] = default("outputs.weights.spread")
    words_strong: tuple[str, ...] = default("outputs.words.strong")
    words_weak: tuple[str, ...] = default("outputs.words.weak")
    words_negated: tuple[str, ...] = default("outputs.words.negated")
    min_saving_chars: int = default("outputs.min_saving_chars")
    min_saving_share: float = default("outputs.min_saving_share")
    duplicate_min_chars: int = default("outputs.duplicate_min_chars")
    long_line: int = default("outputs.long_line")
    scan_chars: int = default("outputs.scan_chars")
    skip_tools: tuple[str, ...] = default("outputs.skip_tools")
    mask: bool = default("outputs.mask")
    recall_chars: int = default("outputs.recall_chars")
    filter: FilterConfig = FilterConfig()
