"""What an audit knows: one row for each large output, the totals, and the clearest examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from admit.transcripts.model import Cut, Usage

from .returns import Held, Way
from .stats import Estimate
from .used import Used


class Case(NamedTuple):
    """One output over the gate: what the host did with it, and what the door would have done.

    Attributes:
        session, order: Where it stands.
        command: Its command, file, pattern or address.
        complete: Whether the door was given all of it, or only what could be found.
        original_chars: None is unknown.
        shown_chars, would_chars: What the model saw, and what it would have seen.
        shown_tokens, would_tokens: The same as an estimate.
        how, reason: What the door would have done.
        wrap_only: A failed command: no hook can replace it, only `admit run` around it.
        returned: How the agent went back for it; None where it did not.
        held: Whether what it went back for stands in the kept text; None without a return.
        used: What the next calls took from it.
        kept, blind: For each of `used`, whether it stands in the kept text, and in a blind excerpt.
    """

    host: str
    session: str
    order: int
    tool: str
    command: str
    cut_by_host: Cut
    complete: bool
    original_chars: int | None
    shown_chars: int
    would_chars: int
    shown_tokens: int
    would_tokens: int
    how: str
    reason: str
    wrap_only: bool
    returned: Way | None = None
    held: Held | None = None
    used: tuple[Used, ...] = ()
    kept: tuple[bool, ...] = ()
    blind: tuple[bool, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the door would have shown less than the model saw."""
        return self.how in ("local", "duplicate") and self.would_chars < self.shown_chars

    @property
    def kept_share(self) -> float:
        """Of what was used next, the share that stands in the kept text."""
        return sum(self.kept) / len(self.kept)

    @property
    def blind_share(self) -> float:
        """The same for the blind excerpt."""
        return sum(self.blind) / len(self.blind)


class Example(NamedTuple):
    """One case with its texts: what the model saw, what it would have seen, and the task."""

    case: Case
    task: str
    before: str
    after: str


class ToolRow(NamedTuple):
    """Counts and characters of one tool's outputs; those of the large ones alone after `large`."""

    tool: str
    outputs: int = 0
    chars: int = 0
    large: int = 0
    large_chars: int = 0
    cut_by_host: int = 0
    returned: int = 0
    changed: int = 0
    would_chars: int = 0


class NextUse(NamedTuple):
    """What was used next, over the outputs that the door would have cut and something of which was used.

    Attributes:
        outputs, sessions: The population.
        kept, blind, difference: Mean share of the used strings that stands in the text; paired difference.
        all_kept, all_blind: Outputs of which every used string stands in the text.
    """

    outputs: int
    sessions: int
    kept: Estimate
    blind: Estimate
    difference: Estimate
    all_kept: Estimate
    all_blind: Estimate


class Audit(NamedTuple):
    """A what-if over recorded sessions.

    Attributes:
        since_ms, last_ms: The window, UTC epoch milliseconds; 0 where nothing was found.
        gate_chars: What counts as large, in characters.
        sessions: Sessions by host.
        requests: Requests of people.
        no_result: Calls without a result.
        through_admit: Outputs that Admit had already shortened; they are not judged again.
        repeated: Tool uses that stand in an earlier file too, counted there.
        usage: Tokens of the sessions as the providers counted them.
        odd: What the files held that was left out or is not known, by name.
        skipped: Files that were left out, by reason.
        older: Sessions that end before the window.
    """

    since_ms: int
    last_ms: int
    gate_chars: int
    sessions: Mapping[str, int]
    requests: int
    no_result: int
    through_admit: int
    repeated: int
    usage: Usage
    odd: Mapping[str, int]
    skipped: Mapping[str, int]
    older: int
    tools: tuple[ToolRow, ...]
    cases: tuple[Case, ...]
    next_use: NextUse
    examples: tuple[Example, ...]
