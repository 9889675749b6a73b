"""What the outputs door would have done with tool outputs that agents have already seen: a what-if.

Nothing is written, recorded or sent: the gate runs over a store in memory, without a judge and a ledger.
The agents did not see the replayed text: the figures say what it would have held, not what they would have
done with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from admit.ledger.memory import MemoryOutputs
from admit.outputs.gate import OutputGate
from admit.outputs.model import FilterConfig, OutputConfig, OutputResult, RawOutput, Task
from admit.outputs.nonce import header_id
from admit.text.cut import head
from admit.text.tokens import estimate_tokens
from admit.transcripts.find import Found
from admit.transcripts.model import Session, ToolKind, ToolUse, Usage, UserTurn, input_texts

from .audit_model import Audit, Case, Example, NextUse, ToolRow
from .blind import blind_excerpt
from .returns import find_return, held_by
from .stats import clustered_mean, wilson
from .used import next_calls, used_next

EVERYTHING = Found()
EXAMPLES = 10
COMMAND_CHARS = 500
# What the door handles, by the kind of tool, and what it takes it for. The rest passes untouched.
HANDLED: dict[ToolKind, str] = {
    "command": "command",
    "file_read": "file_read",
    "mcp": "mcp",
    "search": "other",
    "fetch": "other",
}


def audit(
    sessions: Iterable[Session],
    found: Found = EVERYTHING,
    config: OutputConfig | None = None,
    *,
    on_session: Callable[[int, int], None] | None = None,
) -> Audit:
    """Replay the door over recorded sessions.

    Args:
        sessions: The sessions, in order; each is let go before the next is read.
        found: The window and what was left out; outputs before the window are context, not counted.
        config: The door's settings; its mode and filter do not matter.
        on_session: Told the sessions and the large outputs so far, after each session.
    """
    config = (config or OutputConfig())._replace(mode="enforce", filter=FilterConfig())
    totals = _Totals(config, found.since_ms)
    for session in sessions:
        totals.take(session)
        if on_session is not None:
            on_session(sum(totals.sessions.values()), len(totals.cases))
    return totals.audit(found)


class _Totals:
    """What has been counted so far."""

    def __init__(self, config: OutputConfig, since_ms: int) -> None:
        self.sessions: Counter[str] = Counter()
        self.cases: list[Case] = []
        self._config = config
        self._since_ms = since_ms
        self._counts: Counter[str] = Counter()
        self._odd: Counter[str] = Counter()
        self._usage = Usage()
        self._tools: dict[str, ToolRow] = {}
        self._examples: list[Example] = []

    def take(self, session: Session) -> None:
        """Count one session."""
        self._odd.update(session.odd)
        counted = [use for use in session.uses if self._counts_here(use)]
        if not counted and not session.turns:
            return
        self.sessions[session.host] += 1
        self._counts["requests"] += sum(
            not turn.machine and not turn.agent and self._counts_here(turn) for turn in session.turns
        )
        self._usage = Usage(*map(sum, zip(self._usage, session.usage, strict=True)))
        gate = OutputGate(self._config, store=MemoryOutputs(), key=b"what-if")
        before = _Before(session)
        compactions = list(session.compactions)
        for index, use in enumerate(session.uses):
            while compactions and compactions[0][0] < use.order:
                gate.forget(f"{compactions.pop(0)[1]}:")
            if use.shown is None:
                self._counts["no_result"] += self._counts_here(use)
                continue
            result = self._replay(gate, use)
            if not self._counts_here(use):
                self._counts["repeated"] += use.repeated
                continue
            self._count(session, index, use, result, before)

    def audit(self, found: Found) -> Audit:
        """The totals."""
        return Audit(
            found.since_ms,
            found.last_ms,
            self._config.gate_chars,
            dict(sorted(self.sessions.items())),
            self._counts["requests"],
            self._counts["no_result"],
            self._counts["through_admit"],
            self._counts["repeated"],
            self._usage,
            dict(sorted(self._odd.items())),
            found.skipped,
            found.older,
            tuple(sorted(self._tools.values(), key=lambda row: (-row.large_chars, -row.chars, row.tool))),
            tuple(self.cases),
            next_use(self.cases),
            tuple(self._examples),
        )

    def _counts_here(self, one: ToolUse | UserTurn) -> bool:
        return not one.repeated and (one.ts_ms is None or one.ts_ms >= self._since_ms)

    def _replay(self, gate: OutputGate, use: ToolUse) -> OutputResult | None:
        """What the door would have done; None for a tool that it does not handle."""
        kind = HANDLED.get(use.kind)
        if kind is None:
            return None
        limit = len(use.shown or "") if use.cut_by_host else None
        output = RawOutput(
            use.text.encode("utf-8", "surrogatepass"),
            use.exit_code,
            use.tool,
            use.command or None,
            kind,  # type: ignore[arg-type]
            host_limit_chars=limit,
        )
        task = Task(use.task.text, command=head(use.command, COMMAND_CHARS))
        return gate.admit(output, task, session=f"{use.agent}:")

    def _count(
        self, session: Session, index: int, use: ToolUse, result: OutputResult | None, before: _Before
    ) -> None:
        shown = use.shown or ""
        row = self._tools.get(use.tool, ToolRow(use.tool))
        row = row._replace(outputs=row.outputs + 1, chars=row.chars + len(shown))
        if header_id(shown) is not None:
            self._counts["through_admit"] += 1
        elif max(len(use.text), use.original_chars or 0) >= self._config.gate_chars:
            case, example = self._case(session, index, use, result, before)
            self.cases.append(case)
            row = row._replace(
                large=row.large + 1,
                large_chars=row.large_chars + len(shown),
                cut_by_host=row.cut_by_host + bool(use.cut_by_host),
                returned=row.returned + (case.returned is not None),
                changed=row.changed + case.changed,
                would_chars=row.would_chars + case.would_chars,
            )
            if case.changed:
                self._examples = sorted([*self._examples, example], key=_clearest_first)[:EXAMPLES]
        self._tools[use.tool] = row

    def _case(
        self, session: Session, index: int, use: ToolUse, result: OutputResult | None, before: _Before
    ) -> tuple[Case, Example]:
        shown = use.shown or ""
        after = result.text if result is not None and result.changed else shown
        changed = len(after) < len(shown)
        grown = len(after) > len(shown)
        back = find_return(session.uses, index)
        # The host's own notice names the stored file: reading that is a return, not a use of the output.
        told = shown.partition("\n\n")[2] if use.cut_by_host == "preview" else shown
        used = used_next(told, next_calls(session.uses, index), lambda: before.text(use), session.cwd)
        blind = blind_excerpt(use.text, len(after)) if changed and used else ""
        case = Case(
            session.host,
            session.id,
            use.order,
            use.tool,
            use.command or next(iter(input_texts(use.input)), ""),
            use.cut_by_host,
            use.complete,
            use.original_chars,
            len(shown),
            len(after),
            estimate_tokens(shown),
            estimate_tokens(after),
            result.how if result is not None else "exempt",
            "more_than_shown" if grown else result.reason if result is not None else "not_handled",
            use.failed and use.kind == "command" and session.host == "claude-code",
            back.way if back is not None else None,
            held_by(back.use.text, use.text, after) if back is not None else None,
            used,
            tuple(one.text in after for one in used) if changed else (),
            tuple(one.text in blind for one in used) if changed else (),
        )
        return case, Example(case, use.task.text, shown, after)


class _Before:
    """The text that stood in an agent's context before a result: requests, words, calls, results."""

    def __init__(self, session: Session) -> None:
        pieces: dict[str, list[tuple[int, str]]] = {}
        for turn in session.turns:
            pieces.setdefault(turn.agent, []).append((turn.order, turn.text))
        for said in session.said:
            pieces.setdefault(said.agent, []).append((said.order, said.text))
        for use in session.uses:
            own = pieces.setdefault(use.agent, [])
            own.extend((use.order, text) for text in input_texts(use.input))
            if use.result_order is not None:
                own.append((use.result_order, use.shown or ""))
        self._pieces = {agent: sorted(own, key=lambda piece: piece[0]) for agent, own in pieces.items()}

    def text(self, use: ToolUse) -> str:
        """All of it before this result, with the task, which a subagent got from outside its context."""
        end = use.result_order or 0
        own = [text for order, text in self._pieces.get(use.agent, ()) if order < end]
        return "\n".join([use.task.text, *own])


def next_use(cases: Sequence[Case]) -> NextUse:
    """How much of what was used next stands in the kept text, and in the blind excerpt, by session."""
    chosen = [case for case in cases if case.kept]
    clusters = [f"{case.host}:{case.session}" for case in chosen]
    ours = [case.kept_share for case in chosen]
    theirs = [case.blind_share for case in chosen]
    return NextUse(
        len(chosen),
        len(set(clusters)),
        clustered_mean(ours, clusters),
        clustered_mean(theirs, clusters),
        clustered_mean([a - b for a, b in zip(ours, theirs, strict=True)], clusters),
        wilson(sum(all(case.kept) for case in chosen), len(chosen)),
        wilson(sum(all(case.blind) for case in chosen), len(chosen)),
    )


def _clearest_first(example: Example) -> tuple[float, int, str, int]:
    """The largest difference to the blind excerpt either way, then the most characters spared."""
    case = example.case
    difference = abs(case.kept_share - case.blind_share) if case.kept else 0.0
    return -difference, case.would_chars - case.shown_chars, case.session, case.order
