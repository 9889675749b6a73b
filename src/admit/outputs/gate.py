"""The outputs door: what one large tool output may put into the context.

exempt → store → duplicate → gate → look (view, marks, weights) → choose, or ask a judge and choose → check
→ render → record. The whole output stays one call away, and whatever fails, the answer is the original or
the deterministic excerpt.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from admit.core.question import Judge
from admit.errors import StoreFailed
from admit.judges.clock import Clock, SystemClock
from admit.ledger.port import Ledger, OutputMeta, OutputRef, OutputStore, Record

from .asking import Asking
from .binary import is_binary
from .duplicates import Seen, ShownBefore, key_of, unchanged_line
from .excerpt import Looked, Shown, budget_chars, look, saves_enough, show
from .model import How, JudgeEstimate, JudgeProfile, OutputConfig, OutputResult, RawOutput, Task
from .nonce import nonce
from .own import is_own
from .recall import RecallResult, recall
from .record import fault_events, forgot, record
from .render import line_count
from .select import select
from .taskwords import task_words
from .view import as_text, as_utf8, view_chars

if TYPE_CHECKING:
    from .verdicts import Verdicts


class OutputGate:
    """The front of the outputs door.

    Args:
        config: Sizes, shares, words.
        store: Where the full output goes first; without it nothing is cut.
        judge: Who scores passages when the filter is on.
        ledger: Where decisions are recorded; None records nothing.
        clock: For the deadline and the times in the record.
        key: The install key, for the nonce of header and markers.
        profile: What the judge may be asked.
        recall_way: How the agent gets the whole output, with ``{id}``; only a way that works is named.
    """

    def __init__(
        self,
        config: OutputConfig,
        *,
        store: OutputStore,
        judge: Judge | None = None,
        ledger: Ledger | None = None,
        clock: Clock | None = None,
        key: bytes = b"",
        profile: JudgeProfile | None = None,
        recall_way: str = "admit recall {id}",
    ) -> None:
        self.config = config
        self.totals: Counter[str] = Counter()
        self._store = store
        self._clock = clock or SystemClock()
        self._asking = Asking(judge, profile or JudgeProfile(), self._clock)
        self._ledger = ledger
        self._key = key
        self._recall_way = recall_way
        self._shown = ShownBefore()

    def admit(
        self,
        output: RawOutput,
        task: Task | None = None,
        *,
        session: str | None = None,
        budget: int | None = None,
    ) -> OutputResult:
        """Decide what the agent sees of one output.

        Never raises for input, judge, store or ledger faults: then the original is shown, with the reason.

        Args:
            output: The output as it came.
            task: What the agent is doing.
            session: Whose memory of shown outputs applies; None remembers nothing.
            budget: Characters to keep, where not the configured number.
        """
        started = self._clock.monotonic()
        try:
            result = self._masked(self._admit(output, task or Task(), session, budget), output)
        except Exception as fault:  # whatever is wrong in here, the agent gets its output
            name = type(fault).__name__
            broken = _original(output, "exempt", f"internal:{name}")._replace(faults=(("door", name),))
            result = self._masked(broken, output)
        result = result._replace(total_ms=round((self._clock.monotonic() - started) * 1000, 3))
        self.totals[f"{result.how}:{result.reason}"] += 1
        self.totals.update(f"fault:{kind} {name}" for kind, name in result.faults)
        return self._recorded(result, output, task or Task(), session)

    def admit_streams(
        self, stdout: RawOutput, stderr: RawOutput, task: Task | None = None, *, session: str | None = None
    ) -> tuple[OutputResult, OutputResult]:
        """Both streams of one command. Where both are over the gate they share the budget.

        Two to one for stdout, one to one when the command failed.
        """
        budget = self.config.max_kept_chars
        if min(view_chars(as_utf8(one.data)) for one in (stdout, stderr)) < self.config.gate_chars:
            return self.admit(stdout, task, session=session), self.admit(stderr, task, session=session)
        first = budget // 2 if stdout.exit_code else budget * 2 // 3
        return (
            self.admit(stdout, task, session=session, budget=first),
            self.admit(stderr, task, session=session, budget=budget - first),
        )

    def recall(
        self,
        id: str,
        *,
        lines: tuple[int, int] | None = None,
        search: str | None = None,
        regex: bool = False,
        whole: bool = False,
        cursor: str | None = None,
    ) -> RecallResult:
        """Text of a stored output: a range of lines, the hits of a search, the whole, or the first page.

        Raises:
            OutputNotFound: The id is expired, deleted, altered or was never stored.
            BadRange: The range or the cursor cannot be read.
            BadPattern: The pattern does not compile.
        """
        return recall(
            self._store,
            self._key,
            id,
            lines=lines,
            search=search,
            regex=regex,
            whole=whole,
            cursor=cursor,
            page_chars=self.config.recall_chars,
            mask=self.config.mask,
        )

    def forget(self, session: str, *, cause: str | None = "call") -> int:
        """Empty the memory of what this session was shown: after a compaction it is no longer in view.

        Args:
            cause: compaction, branch or call, for the record; None leaves that to the caller.
        """
        entries = self._shown.forget(session)
        if entries and cause is not None and self._ledger is not None:
            self._ledger.append(forgot(session, cause, entries))
        return entries

    def withdraw(self, session: str, output_id: str) -> None:
        """Take back that this output was shown: the answer with it did not reach the agent."""
        self._shown.withdraw(session, output_id)

    def estimate(self, output: RawOutput, task: Task | None = None) -> JudgeEstimate:
        """What the filter would ask of the judge for this output. Sends nothing."""
        looked = look(as_utf8(output.data), output, task or Task(), self.config)
        return self._asking.estimate(looked, output, task or Task(), self.config)

    def _admit(self, output: RawOutput, task: Task, session: str | None, budget: int | None) -> OutputResult:
        config = self.config
        if config.mode == "off":
            return _original(output, "exempt", "off")
        if any(fnmatchcase(output.tool, pattern) for pattern in config.skip_tools):
            return _original(output, "exempt", "skipped")
        if is_own(output.data, self._key, self._store):
            return _original(output, "exempt", "recall")
        data = as_utf8(output.data)
        chars = view_chars(data)
        if chars < config.floor_chars:
            return _original(output, "exempt", "small")
        if is_binary(data):
            return _original(output, "exempt", "binary")
        try:
            ref = self._store.put(output.data, OutputMeta(output.tool, session, output.exit_code))
        except StoreFailed as fault:
            cause = type(fault.__cause__ or fault).__name__
            return _original(output, "exempt", "store_failed")._replace(faults=(("store", cause),))
        result = self._stored(output, task, session, budget, ref, data, chars)
        return result._replace(id=ref.id)

    def _stored(
        self,
        output: RawOutput,
        task: Task,
        session: str | None,
        budget: int | None,
        ref: OutputRef,
        data: bytes,
        chars: int,
    ) -> OutputResult:
        """The steps after the full copy is safe."""
        key, task_key = b"", ""
        if session:
            key = key_of(data, output.exit_code, self.config.scan_chars)
            task_key = hashlib.sha256("\n".join(sorted(task_words(task).weights)).encode()).hexdigest()
        if session and chars >= self.config.duplicate_min_chars:
            seen = self._shown.find(session, key, task_key)
            if seen is not None:
                return self._duplicate(output, seen, ref, chars, data)
        if output.kind == "file_read" or chars < self.config.gate_chars:
            reason = "file_read" if output.kind == "file_read" else "under_gate"
            result = _original(output, "exempt", reason)._replace(original_chars=chars)
        else:
            result = self._selected(output, task, session, ref, data, budget)
        if session:
            self._shown.add(session, key, Seen(ref.id, output.tool, task_key if result.changed else None))
        return result

    def _selected(
        self,
        output: RawOutput,
        task: Task,
        session: str | None,
        ref: OutputRef,
        data: bytes,
        budget: int | None,
    ) -> OutputResult:
        """Choose, with a judge's verdicts where there are any, and keep the choice if it saves enough.

        A judge is asked only where the choice without one would replace the original.
        """
        config = self.config
        looked = look(data, output, task, config)
        result = _original(output, "kept", "saving")._replace(
            mode=looked.weighed.mode,
            original_chars=looked.chars,
            original_lines=looked.lines,
            kept_chars=looked.chars,
            kept_lines=looked.lines,
            parsers=looked.weighed.parsers,
            parsed=looked.weighed.report.parsed,
            faults=tuple(("parser", name) for name in looked.weighed.report.faults),
        )
        shown, _ = self._choice(looked, output, ref, budget, None)
        if not saves_enough(looked.chars, shown, config):
            return result
        word = self._asking.about(looked, output, task, config, session)
        drops, usable = None, False
        if word.fault:
            result = result._replace(faults=(*result.faults, ("judge", word.fault)))
        if word.verdicts is not None:
            result = result._replace(
                chunks=word.verdicts.chunk_rulings(),
                decision=word.verdicts.decision,
                verdicts=word.verdicts,
                requests=word.verdicts.requests,
                judge_ms=word.verdicts.reply.elapsed_ms,
            )
            usable = word.verdicts.usable
            if usable:
                shown, drops = self._choice(looked, output, ref, budget, word.verdicts)
                if not saves_enough(looked.chars, shown, config):
                    return result
        result = result._replace(
            how="judged" if usable else "local",
            reason=word.reason,
            kept_chars=shown.kept_chars,
            kept_lines=shown.kept_lines,
            gaps=shown.gaps,
            kept=shown.kept,
            passed_over=shown.passed_over,
            notes=shown.notes,
            dropped_qualifying=drops,
        )
        return self._replaced(result, output, shown.text, shown.data)

    def _choice(
        self,
        looked: Looked,
        output: RawOutput,
        ref: OutputRef,
        budget: int | None,
        verdicts: Verdicts | None,
    ) -> tuple[Shown, dict[str, float] | None]:
        """The rendered choice, and what a judge admitted and the budget left out."""
        config = self.config
        most = config.max_kept_chars if verdicts is None else config.filter.max_kept_chars
        most = budget_chars(looked, config, most if budget is None else budget)
        whole_only = config.filter.fit == "chunks"
        says = None
        if verdicts is not None:
            says = verdicts.judged(len(looked.view.texts), whole_only=whole_only)
        selection = select(looked.view, looked.weighed, config, most, says)
        drops = verdicts.dropped(selection.lines) if verdicts is not None else None
        shown = show(
            looked,
            selection,
            nonce(self._key, bytes.fromhex(ref.sha256), looked.view.data),
            exit_code=output.exit_code,
            notes=_notes(looked.chars, output.host_limit_chars, ref, verdicts, drops),
            recall=self._way(ref.id),
            mask=config.mask,
        )
        return shown, drops

    def _replaced(self, result: OutputResult, output: RawOutput, text: str, data: bytes) -> OutputResult:
        """The result with this text shown instead of the original; in shadow mode only recorded."""
        if self.config.mode != "enforce":
            return result
        limit = output.host_limit_chars
        without = result.original_chars if limit is None else min(result.original_chars, limit)
        saved = max(0, without - len(text))
        return result._replace(text=text, data=data, changed=True, saved_chars=saved)

    def _masked(self, result: OutputResult, output: RawOutput) -> OutputResult:
        """The result without credentials, where it is the whole output; a cut one has none by now."""
        config = self.config
        if not config.mask or config.mode != "enforce" or result.changed or result.reason == "skipped":
            return result
        try:
            from .masking import masked_result

            return masked_result(result, output)
        except Exception as fault:  # as with every other fault: the agent gets its output
            return result._replace(faults=(*result.faults, ("door", f"mask {type(fault).__name__}")))

    def _way(self, output_id: str) -> str:
        return self._recall_way.format(id=output_id) if self._recall_way else ""

    def _duplicate(
        self, output: RawOutput, seen: Seen, ref: OutputRef, chars: int, data: bytes
    ) -> OutputResult:
        lines = line_count(data)
        digits = nonce(self._key, bytes.fromhex(ref.sha256), data)
        text = unchanged_line(digits, seen, chars, lines, output.exit_code, self._way(ref.id))
        result = _original(output, "duplicate", "")._replace(original_chars=chars, original_lines=lines)
        return self._replaced(result, output, f"{text}\n", f"{text}\n".encode())

    def _recorded(
        self, result: OutputResult, output: RawOutput, task: Task, session: str | None
    ) -> OutputResult:
        if self._ledger is None or not (result.id or result.faults):
            return result
        result = result._replace(decision_id=secrets.token_hex(16) if result.id else "")
        try:
            profile = self._asking.profile
            self._ledger.append(record(result, output, task, session, self.config, self._ledger, profile))
        except Exception as fault:  # a record that cannot be made must not cost the answer
            name = type(fault).__name__
            self.totals[f"fault:ledger {name}"] += 1
            with suppress(Exception):
                self._ledger.append(Record(events=fault_events(result.id, (("ledger", name),), session)))
        return result


def _notes(
    chars: int,
    host_limit: int | None,
    ref: OutputRef,
    verdicts: Verdicts | None,
    drops: Mapping[str, float] | None,
) -> list[str]:
    """What the header has to say beside sizes: cuts made elsewhere, and what a judge did."""
    notes: list[str] = []
    if host_limit is not None and host_limit < chars:
        notes.append(f"The host would have cut it at {host_limit:,} chars.")
    if not ref.complete:
        notes.append("The stored copy holds the first and the last part only.")
    if verdicts is not None:
        coverage = verdicts.decision.coverage
        also = f", {coverage.unjudged} unjudged" if coverage.unjudged else ""
        notes.append(f"A judge scored {coverage.judged} passages{also}.")
    if drops is not None:
        notes.append(f"{drops['chunks']:,.0f} more ({drops['chars']:,.0f} chars) qualified and did not fit.")
    return notes


def _original(output: RawOutput, how: How, reason: str) -> OutputResult:
    return OutputResult(as_text(output.data), output.data, False, how, reason)
