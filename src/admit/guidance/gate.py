"""The front door: one scan finds what a prompt, command, file or state calls for, asks, and renders.

clean → find (eligible, triggers, meaning, veto, holds) → order → cap → ask → rule → budgets → render
"""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from admit.core.question import Judge
from admit.errors import UnknownSnippet
from admit.judges.clock import Clock, SystemClock

from .choose import Choice, ruled, spend
from .hits import cleaned, context_of, find, nothing
from .judging import GateJudge
from .matching import SemanticMatcher
from .memory import Memory
from .model import Finding, GuidanceResult, Index, Outcome, Surface
from .outcomes import outcomes_of
from .settings import GateSettings
from .triggers import Triggers

if TYPE_CHECKING:
    from admit.config.layers import Config
    from admit.ledger.port import Ledger, Record

RecordMaker = Callable[[], "Record"]


class Library(NamedTuple):
    """The snippets of a project, and what finds them."""

    guidance: Index
    triggers: Triggers
    matcher: SemanticMatcher


class LibrarySource(Protocol):
    """Where the snippets in force come from.

    Attributes:
        findings: What is wrong with the files, as of the last reading.
    """

    findings: tuple[Finding, ...]

    def current(self) -> Library:
        """What is in force now."""
        ...


class GuidanceGate:
    """Guidance of one project, for all its sessions.

    Args:
        library: Gives the snippets in force; called once a scan.
        settings: See `gate_settings`.
        judge: Who is asked.
        ledger: Where decisions are recorded; None records nothing.
        clock: Of deliveries and of the judge's time.
        memory: Of what was shown; shared by the gates of one host.

    Attributes:
        totals: Counts of faults since the gate was made.
    """

    def __init__(
        self,
        library: LibrarySource,
        settings: GateSettings,
        *,
        judge: GateJudge = GateJudge(),  # noqa: B008 - a value that nothing can change
        ledger: Ledger | None = None,
        clock: Clock | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.settings = settings
        self.judge = judge
        self.memory = memory or Memory()
        self.totals: Counter[str] = Counter()
        self._library = library
        self._ledger = ledger
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._pending: dict[str, tuple[Surface, GuidanceResult]] = {}

    @classmethod
    def open(
        cls,
        cwd: str | Path,
        *,
        host: str | None = None,
        config: Config | None = None,
        judge: Judge | None = None,
        ledger: Ledger | None = None,
        clock: Clock | None = None,
    ) -> GuidanceGate:
        """The gate of a working folder, from its files and settings.

        Args:
            cwd: The working folder.
            host: The host whose own files are left to it; None reads all.
            config: Settings; None reads the files.
            judge: Asked in place of the profile's.

        Raises:
            ConfigError: A setting cannot be used.
        """
        from .opening import open_gate

        return open_gate(cls, str(cwd), host=host, config=config, judge=judge, ledger=ledger, clock=clock)

    @property
    def library(self) -> Library:
        """The snippets in force now."""
        return self._library.current()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong with the files, as of the last reading."""
        return self._library.findings

    def scan(
        self, surface: Surface, *, dry_run: bool = False, ask: bool = True, judge_ms: int | None = None
    ) -> GuidanceResult:
        """What this surface calls for, and why; never raises for content.

        What is shown is claimed until `delivered` or `withdrawn` is called with the result's id, at most 5 s.
        A repeat of a host's event gets the same answer and is not recorded again.

        Args:
            dry_run: Claim, count and record nothing.
            ask: Whether the judge may be asked.
            judge_ms: The most that a judge may take, where that is less than its profile allows.
        """
        key = None if dry_run else surface.delivery_key
        if key is None:
            return self._scanned(surface, dry_run=dry_run, ask=ask, judge_ms=judge_ms)
        with self.memory.once(key):
            before = self.memory.answer(key)
            if isinstance(before, GuidanceResult):
                return before
            result = self._scanned(surface, dry_run=dry_run, ask=ask, judge_ms=judge_ms)
            self.memory.remember(key, result)
        return result

    def explain(self, surface: Surface, id: str | None = None, *, ask: bool = False) -> tuple[Outcome, ...]:
        """Where each snippet's way would end, or the one of this id. Changes nothing.

        Raises:
            UnknownSnippet: There is no such snippet.
        """
        outcomes = self.scan(surface, dry_run=True, ask=ask).outcomes
        if id is None:
            return outcomes
        found = tuple(one for one in outcomes if one.id == id)
        if not found:
            raise UnknownSnippet(id)
        return found

    def delivered(self, result_id: str) -> None:
        """The host has the text. Twice, or an unknown id, is ignored and counted."""
        with self._lock:
            pending = self._pending.pop(result_id, None)
        settled = self.memory.delivered(result_id, self._clock.monotonic())
        if settled is None:
            self.totals["delivered:unknown"] += 1
        elif pending is not None and settled.ids:
            from .record import shown_record

            surface, result = pending
            self._append(lambda: shown_record(result, surface, settled.ids, settled.again))

    def withdrawn(self, result_id: str) -> None:
        """The host did not get the text: nothing was shown, and it may show again at once."""
        self.memory.withdrawn(result_id)
        with self._lock:
            self._pending.pop(result_id, None)

    def reset(self, session: str, agent: str | None = None) -> None:
        """The context of an agent, or of a whole session, was replaced: nothing shown is in view."""
        self.memory.reset(session, agent)

    def _scanned(self, surface: Surface, *, dry_run: bool, ask: bool, judge_ms: int | None) -> GuidanceResult:
        started, delivered = self._clock.monotonic(), self.memory.deliveries()
        library = self.library
        result_id = secrets.token_hex(16)
        is_on = surface.lane in self.settings.lanes
        clean = cleaned(surface, self.settings.envelopes) if is_on else None
        if clean is None:
            found = nothing(library.guidance, "envelope" if is_on else "no_trigger", library.matcher.mode)
            clean = surface
        else:
            if surface.lane == "prompt" and not dry_run:
                self.memory.new_turn(context_of(surface))
            found = find(
                clean,
                library.guidance,
                library.triggers,
                library.matcher,
                self.memory,
                self.settings,
                started,
            )
        judge = self.judge.within(judge_ms)
        judged = ruled(clean, found, judge, self.settings, ask=ask)
        with self.memory.alone():
            now = self._clock.monotonic()
            taken = () if dry_run else self.memory.taken(context_of(clean), delivered, now)
            choice = spend(judged, clean, self.settings, self.memory, taken)
            shown = choice.decision.shown if clean.delivers else ()
            if shown and not dry_run:
                shown = self._claimed(result_id, clean, choice, shown, delivered)
        outcomes = outcomes_of(library.guidance, found, choice, shown, clean.delivers)
        used = sum(choice.units[name].units for name in shown)
        result = GuidanceResult(
            "\n".join(choice.units[name].text for name in shown),
            shown,
            outcomes,
            choice.report(self.judge, clean),
            found.matcher,
            result_id,
            choice.decision,
            result_id,
            (used, self.settings.budget),
        )
        if is_on and not dry_run:
            self._record(result, surface, clean, choice, library, started)
        return result

    def _claimed(
        self, result_id: str, surface: Surface, choice: Choice, shown: tuple[str, ...], delivered: int
    ) -> tuple[str, ...]:
        if surface.session is None:
            return shown
        counted = frozenset(name for name in shown if choice.hits[name].trigger.kind != "state")
        return self.memory.claim(
            result_id,
            context_of(surface),
            shown,
            counted=counted,
            position=surface.tokens_used,
            since=delivered,
            now=self._clock.monotonic(),
            key=surface.delivery_key,
        )

    def _record(
        self, result: GuidanceResult, surface: Surface, clean: Surface, choice: Choice,
        library: Library, started: float,
    ) -> None:  # fmt: skip
        if self._ledger is None:
            return
        from .record import scan_record

        with self._lock:
            if result.shown:
                self._pending[result.result_id] = (surface, result)
                while len(self._pending) > 512:
                    self._pending.pop(next(iter(self._pending)))
        ledger = self._ledger
        self._append(
            lambda: scan_record(
                result,
                clean,
                choice.hits,
                choice.policy,
                choice.reply,
                ledger,
                self.judge,
                self.settings,
                index_digest=library.guidance.digest,
                elapsed_ms=(self._clock.monotonic() - started) * 1000,
            )
        )

    def _append(self, make: RecordMaker) -> None:
        if self._ledger is None:
            return
        try:
            self._ledger.append(make())
        except Exception:  # a record that cannot be made must not cost the answer
            self.totals["fault:ledger"] += 1
