"""Put a gate together from the files and settings of a folder."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from admit.config.layers import Config, section
from admit.config.layers import load as load_config
from admit.core.question import Judge
from admit.errors import CalibrationError
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
    from admit.judges.door import Load
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
    load_one: Load | None = None,
) -> GuidanceGate:
    """See `GuidanceGate.open`.

    Args:
        matcher_of: Makes another matcher than that of the settings.
        load_one: Gives the judge of a profile; None makes one for this gate alone.
    """
    from admit.judges.door import own_judge

    settled = config if config is not None else load_config(cwd)
    own_clock = clock or SystemClock()
    library = FileLibrary(
        cwd, host, settled, own_clock, matcher_of or (lambda index: matcher(index, settled))
    )
    chosen = gate_judge(settled, load_one or own_judge)
    if judge is not None:
        chosen = chosen._replace(judge=judge, name=judge.name, backend="own", why_not="")
    return cls(library, gate_settings(settled), judge=chosen, ledger=ledger, clock=own_clock)


def matcher(index: Index, config: Config) -> SemanticMatcher:
    """The matcher of the settings, over an index: by embeddings too where they can be used.

    A text is matched by words until the embeddings of the snippets are there; see `FusedMatcher.wait`.
    """
    from .calibration import shipped
    from .compete import Bars
    from .matcher import LexicalMatcher

    values = section(config.values, "guidance.matcher")
    bars = Bars(values["admit"], values["per_chunk"], values["max_scored"])
    snippets = tuple(one for one in index.snippets if one.semantic())
    try:
        lexical = LexicalMatcher(snippets, shipped("lexical"), bars)
    except CalibrationError:
        return ExplicitOnly()
    meanwhile = lexical if values["degraded"] == "lexical" else ExplicitOnly()
    if values["encoder"] != "local" or not snippets:
        return meanwhile
    from .fused import FusedMatcher
    from .vectors import shared_vectors

    vectors = shared_vectors()
    if not vectors.encoder.is_installed():
        return meanwhile
    try:
        weights = shipped("fused")
    except CalibrationError:
        return meanwhile
    return FusedMatcher(lexical, weights, vectors, meanwhile, values["encode_chunks"])


def gate_judge(config: Config, load: Load) -> GateJudge:
    """Who is asked at this door; nobody where it may not be or its profile cannot be used."""
    from admit.judges.door import door_judge

    found = door_judge(config, "guidance", load)
    if isinstance(found, str):
        return GateJudge(why_not=found)
    if found.cell.max_candidates is None:
        return GateJudge(why_not="unsupported")
    return GateJudge(
        found.judge,
        found.profile.name,
        found.profile.backend,
        found.cell.max_candidates,
        GateJudge().threshold if found.threshold is None else found.threshold,
        found.cell.timeout_ms,
        "",
        found.profile_hash,
    )
