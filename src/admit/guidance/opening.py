"""Put a gate together from the files and settings of a folder."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from admit.config.layers import Config, section
from admit.config.layers import load as load_config
from admit.core.events import canonical, sha256
from admit.core.question import Judge
from admit.errors import CalibrationError, ConfigError
from admit.judges.clock import Clock, SystemClock

from .gate import Library
from .gather import Seen, load, settings_of
from .judging import GateJudge
from .matching import ExplicitOnly, SemanticMatcher
from .model import Finding, Index
from .roots import roots_of
from .settings import gate_settings
from .triggers import Triggers

if TYPE_CHECKING:
    from admit.judges.profiles import Profile
    from admit.ledger.port import Ledger

    from .gate import GuidanceGate

FRESH_S = 1.0
"""How long the files are not looked at again, in s."""

MatcherOf = Callable[[Index], SemanticMatcher]


class FileLibrary:
    """The snippets of a folder, read again when files change, at most once a second.

    Attributes:
        findings: What is wrong with the files, as of the last reading.
    """

    def __init__(
        self, cwd: str, host: str | None, config: Config, clock: Clock, matcher_of: MatcherOf
    ) -> None:
        self.findings: tuple[Finding, ...] = ()
        self._roots = roots_of(cwd, host, config.values)
        self._settings = settings_of(config)
        self._clock = clock
        self._matcher_of = matcher_of
        self._lock = threading.Lock()
        self._seen: Seen = {}
        self._at = 0.0
        self._current: Library | None = None

    def current(self) -> Library:
        """What is in force now."""
        with self._lock:
            now = self._clock.monotonic()
            if self._current is None or now - self._at >= FRESH_S:
                self._current = self._read(self._current)
                self._at = self._clock.monotonic()
            return self._current

    def _read(self, before: Library | None) -> Library:
        index, self.findings = load(self._roots, settings=self._settings, seen=self._seen)
        if before is not None and before.guidance == index:
            return before
        if before is not None and before.guidance.snippets == index.snippets:
            return before._replace(guidance=index)
        return Library(index, Triggers(index.snippets), self._matcher_of(index))


def open_gate(
    cls: type[GuidanceGate],
    cwd: str,
    *,
    host: str | None = None,
    config: Config | None = None,
    judge: Judge | None = None,
    ledger: Ledger | None = None,
    clock: Clock | None = None,
    matcher_of: MatcherOf | None = None,
) -> GuidanceGate:
    """See `GuidanceGate.open`."""
    settled = config if config is not None else load_config(cwd)
    own_clock = clock or SystemClock()
    library = FileLibrary(
        cwd, host, settled, own_clock, matcher_of or (lambda index: matcher(index, settled))
    )
    chosen = gate_judge(settled, _load)
    if judge is not None:
        chosen = chosen._replace(judge=judge, name=judge.name, backend="own", why_not="")
    return cls(library, gate_settings(settled), judge=chosen, ledger=ledger, clock=own_clock)


def matcher(index: Index, config: Config) -> SemanticMatcher:
    """The matcher of the settings, over an index; without one that may be used, `ExplicitOnly`."""
    from .calibration import shipped
    from .compete import Bars
    from .matcher import LexicalMatcher

    values = section(config.values, "guidance.matcher")
    bars = Bars(values["admit"], values["per_chunk"], values["max_scored"])
    snippets = tuple(one for one in index.snippets if one.semantic())
    try:
        return LexicalMatcher(snippets, shipped("lexical"), bars)
    except CalibrationError:
        return ExplicitOnly()


def gate_judge(config: Config, load: Callable[[Profile, Mapping[str, Any]], Judge]) -> GateJudge:
    """Who is asked at this door; nobody where it may not be or its profile cannot be used.

    Args:
        load: Gives the judge of a profile under settings by full key; raises ConfigError.
    """
    from admit.judges.profiles import profile, threshold

    if not config.may_ask("guidance"):
        return GateJudge(why_not="config")
    if config.values["judge.mode"] == "off":
        return GateJudge(why_not="off")
    try:
        chosen = profile(config.values["judge.profile"], config.values)
        cell = chosen.doors.get("guidance")
        if cell is None or cell.max_candidates is None:
            return GateJudge(why_not="unsupported")
        judge = load(chosen, config.values)
        least = threshold(chosen, "guidance", judge)
    except ConfigError:
        return GateJudge(why_not="config")  # `admit doctor` and `admit config check` say what is wrong
    return GateJudge(
        judge,
        chosen.name,
        chosen.backend,
        cell.max_candidates,
        GateJudge().threshold if least is None else least,
        cell.timeout_ms,
        "",
        sha256(canonical(chosen)),
    )


def _load(chosen: Profile, values: Mapping[str, Any]) -> Judge:
    from admit.judges.load import load_judge

    return load_judge(chosen, config=values)
