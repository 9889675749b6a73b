"""The default judge: local and free. No network code is imported here, and no model until it is needed.

Two modes. ``embed`` holds a task against a subject by an embedding and by words; ``lexical`` by words alone,
and needs no model, no onnxruntime and no numpy. Where the embedder or its calibration cannot be used, the
judge falls to ``lexical``; where that has no calibration for the question either, nothing is judged.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from admit.config.places import config_dir
from admit.core.question import (
    NO_LIMITS,
    Answer,
    Ask,
    Call,
    Choice,
    Note,
    Question,
    Reply,
    RequestLimits,
    fallback,
)
from admit.errors import CalibrationError

from . import artifact as artifacts
from .artifact import Artifact, Mode
from .encoder import (
    SELFCHECK_PAIRS,
    SELFCHECK_TOLERANCE,
    TOKENIZER_SHA256,
    Encoder,
    EncoderUnavailable,
)
from .features import Query, latin_share, lexicon_of
from .replies import answer, reply

FOLDER = "calibration"
"""Where the user's own calibrations are, in the configuration folder."""

DOORS = ("guidance", "outputs")
"""The doors whose questions a calibration ships for."""

LEAST_LATIN = 0.5
"""The share of Latin letters in a task below which the embedder, trained on English, is not asked."""


class LocalConfig(NamedTuple):
    """`[judge.local]`.

    Attributes:
        mode: ``embed`` or ``lexical``.
        threads: Threads of the embedder.
        embed_max: The most subjects of one ask that are embedded, those of the best lexical score; a fixed
            count and no clock, so that answers do not depend on the machine's speed. The rest are
            judged by words.
        embed_chars: A longer subject is embedded as its best window of this many characters.
        model_path: Another model file; it needs its own calibration.
        artifacts: A folder whose calibrations stand above the shipped ones.
    """

    mode: Mode = "embed"
    threads: int = 1
    embed_max: int = 24
    embed_chars: int = 500
    model_path: Path | None = None
    artifacts: Path | None = None


class LocalJudge:
    """Answers yes-or-no and rubric questions of the doors it has a calibration for.

    The same text, versions and type of machine give the same answers. A choice is ``unsupported``: whether
    a text grounds a claim cannot be told from an embedding. The first reply after a calibration was refused
    tells of it, in its notes.
    """

    def __init__(self, config: LocalConfig | None = None) -> None:
        self.name = "local"
        self._config = config or LocalConfig()
        self._encoder = Encoder(self._config.model_path, threads=self._config.threads)
        self._lock = threading.Lock()
        self._loaded: dict[tuple[str, Mode], Artifact | str] = {}
        self._faults: dict[str, str] = {}
        self._untold: list[Note] = []

    def supports(self, question: Question) -> bool:
        return not isinstance(question, Choice)

    def limits(self) -> RequestLimits:
        return NO_LIMITS

    def threshold(self, door: str) -> float | None:
        """The least value that admits at a door, by its calibration; None without one. Loads no model."""
        for mode in self._modes():
            found = self._artifact(door, mode)
            if isinstance(found, Artifact) and (mode == "lexical" or self._encoder.is_installed()):
                return found.threshold
        return None

    def warm(self, door: str) -> None:
        """Load the calibration of a door, and the embedder."""
        self.refusals(door)

    def refusals(self, door: str) -> tuple[tuple[Mode, str], ...]:
        """The calibrations of a door that cannot be used, with the reason. Loads the embedder."""
        found: list[tuple[Mode, str]] = []
        for mode in self._modes():
            artifact = self._artifact(door, mode)
            why = artifact if isinstance(artifact, str) else self._encoder_fault(artifact)
            if why:
                found.append((mode, why))
        return tuple(found)

    def ask(self, ask: Ask) -> Reply:
        if not all(map(self.supports, ask.questions)):
            return fallback("unsupported")
        return self._asked(ask)._replace(notes=self._refusals_to_tell())

    def _asked(self, ask: Ask) -> Reply:
        latin = latin_share(ask.task) >= LEAST_LATIN
        lexical = self._fitting(ask, "lexical")
        embed = self._fitting(ask, "embed") if latin and self._config.mode == "embed" else None
        if lexical is None and embed is None:
            return fallback("not_calibrated")
        answers = self._answers(ask, embed, lexical)
        quirks = () if latin else ("non_latin",)
        if self._config.mode == "embed" and latin and embed is None:
            quirks = ("lexical",)
        return reply(ask.questions, answers, calls=(_call(ask, embed),), quirks=quirks)

    def _answers(self, ask: Ask, embed: Artifact | None, lexical: Artifact | None) -> list[Answer]:
        lexicon = ask.lexicon or lexicon_of(question.subject for question in ask.questions)
        query = Query(ask.task, lexicon)
        features = [query.features(question.subject) for question in ask.questions]
        chosen = _best(features, lexical, self._config.embed_max) if embed is not None else []
        if chosen:
            windows = [query.best_window(ask.questions[k].subject, self._config.embed_chars) for k in chosen]
            task, *subjects = self._encoder.vectors([ask.task, *windows])
            for k, vector in zip(chosen, subjects, strict=True):
                features[k]["cos"] = float(task @ vector)
        found: list[Answer] = []
        for question, values in zip(ask.questions, features, strict=True):
            model = embed if "cos" in values else lexical
            if model is not None:
                found.append(answer(question, model.probabilities(values)))
        return found

    def _modes(self) -> tuple[Mode, ...]:
        return ("embed", "lexical") if self._config.mode == "embed" else ("lexical",)

    def _fitting(self, ask: Ask, mode: Mode) -> Artifact | None:
        found = self._artifact(ask.door, mode)
        if not isinstance(found, Artifact) or not all(map(found.fits, ask.questions)):
            return None
        return None if self._encoder_fault(found) else found

    def _artifact(self, door: str, mode: Mode) -> Artifact | str:
        """The calibration of a door, or why it is refused; looked for once."""
        with self._lock:
            if (door, mode) not in self._loaded:
                self._loaded[door, mode] = self._load(door, mode)
            return self._loaded[door, mode]

    def _load(self, door: str, mode: Mode) -> Artifact | str:
        name = f"{door}-{mode}.json"
        path = _own(self._config, door, mode) or artifacts.DATA / name
        if not path.is_file():
            return f"{name} does not exist"
        try:
            return artifacts.load(path)
        except CalibrationError as error:
            return self._refused(door, mode, str(error))

    def _refused(self, door: str, mode: Mode, gate: str) -> str:
        """Keep for the record that a calibration fails a gate; gives the gate. Under the lock."""
        self._untold.append(("judge.artifact_refused", {"door": door, "mode": mode, "gate": gate}))
        return gate

    def _refusals_to_tell(self) -> tuple[Note, ...]:
        with self._lock:
            fresh, self._untold = self._untold, []
        return tuple(fresh)

    def _encoder_fault(self, found: Artifact) -> str:
        """Why the embedder cannot serve this calibration; empty where it can. Looked for once."""
        if found.mode == "lexical":
            return ""
        with self._lock:
            if found.content_hash not in self._faults:
                self._faults[found.content_hash] = self._look_at_encoder(found)
            return self._faults[found.content_hash]

    def _look_at_encoder(self, found: Artifact) -> str:
        try:
            self._encoder.load()
        except EncoderUnavailable as error:
            return str(error)  # there is no embedder, whatever the calibration is
        failed = self._failed_by_encoder(found)
        return self._refused(found.door, found.mode, failed) if failed else ""

    def _failed_by_encoder(self, found: Artifact) -> str:
        pins = (found.provenance.get("model_sha256"), found.provenance.get("tokenizer_sha256"))
        if pins != (self._encoder.model_sha256, TOKENIZER_SHA256):
            return f"{found.door}-embed.json was fitted with another model"
        check = found.selfcheck or {}
        here = self._encoder.cosines(check.get("texts", ()))
        there = tuple(check.get("cosines", ()))
        if len(here) != SELFCHECK_PAIRS or len(there) != SELFCHECK_PAIRS:
            return f"{found.door}-embed.json has no self-check of {SELFCHECK_PAIRS} cosines"
        worst = max(abs(a - b) for a, b in zip(here, there, strict=True))
        return f"cosines differ by {worst:.3f} on this machine" if worst > SELFCHECK_TOLERANCE else ""


FIX = "pip install 'admit[local]', or admit config set judge.local.mode lexical"


def findings(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with the local judge under these settings: pairs of a sentence and its fix.

    One for each reason, with the doors it holds at. Loads the embedder, as a first ask would; that its
    packages are missing is for the caller to say.
    """
    config = local_config(values)
    if not Encoder(config.model_path).is_installed():
        config = config._replace(mode="lexical")
    judge = LocalJudge(config)
    doors: dict[tuple[Mode, str], list[str]] = {}
    for door in DOORS:
        for refusal in judge.refusals(door):
            doors.setdefault(refusal, []).append(door)
    for (mode, why), where in doors.items():
        then = "words alone judge" if mode == "embed" else "nothing is judged"
        files = [str(path) for door in where if (path := _own(config, door, mode)) is not None]
        fix = f"fit it again, or delete {' and '.join(files)}" if files else FIX
        yield f"The calibration {mode} is not used ({why}): {then} at {' and '.join(where)}.", fix


def local_config(values: Mapping[str, Any]) -> LocalConfig:
    """`[judge.local]` out of settings by full key; what is absent has its default."""
    plain = LocalConfig()
    path = values.get("judge.local.model_path")
    return plain._replace(
        mode=values.get("judge.local.mode", plain.mode),
        threads=values.get("judge.local.threads", plain.threads),
        embed_max=values.get("judge.local.embed_max", plain.embed_max),
        embed_chars=values.get("judge.local.embed_chars", plain.embed_chars),
        model_path=Path(path).expanduser() if path else None,
        artifacts=Path(config_dir(), FOLDER),
    )


def _own(config: LocalConfig, door: str, mode: Mode) -> Path | None:
    """The user's own calibration; None where there is none."""
    path = config.artifacts / f"{door}-{mode}.json" if config.artifacts is not None else None
    return path if path is not None and path.is_file() else None


def _best(features: Sequence[Mapping[str, float]], lexical: Artifact | None, most: int) -> list[int]:
    """The places of the best subjects by lexical score, earlier ones first among equals, in order asked."""

    def score(k: int) -> float:
        return lexical.logit(features[k]) if lexical is not None else features[k]["bm25"]

    return sorted(sorted(range(len(features)), key=lambda k: (-score(k), k))[:most])


def _call(ask: Ask, embed: Artifact | None) -> Call:
    model = "minilm-int8" if embed is not None else "lexical"
    return Call(
        destination="local",
        model_asked=model,
        model_answered=model,
        questions=len(ask.questions),
        cost_usd=0.0,
        cost_source="free",
        sent="no",
        outcome="ok",
    )
