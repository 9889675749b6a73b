"""Calibration artefacts: what turns the local judge's features into probabilities, and the gates they pass.

One JSON file a door and mode. An artefact holds for one wording of the question, and is refused where it
was not shown to be better than plain word overlap.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from math import exp, fsum, isfinite
from pathlib import Path
from typing import Any, Literal, NamedTuple

from admit.core.question import KINDS, Question
from admit.errors import CalibrationError

from .features import EMBEDDED, LEXICAL
from .rubric import rubric_hash

SCHEMA = 1
LEAST_AUC = 0.70
DECIMALS = 4
DATA = Path(__file__).parent / "data"

Mode = Literal["embed", "lexical"]
QuestionKind = Literal["noul", "score"]


class Artifact(NamedTuple):
    """A fitted model with its evidence.

    Attributes:
        features: Names in the order of `mean`, `scale` and `weights`; the first is the leading one.
        intercept: Of a logistic regression (noul).
        cuts: Of a proportional odds model (score), one fewer than levels, rising.
        threshold: The least value (probability, or expectation of a score) that admits.
        provenance: Versions, data name and hash, n_pos, n_neg, folds, seed, licence.
        quality: auc, auc_ci95, brier_skill, ece, kept_at_recall_90, baseline_auc; cross-validated by case.
        selfcheck: Texts and their cosines, for the mode ``embed``.
        content_hash: Of everything else.
    """

    schema: int
    door: str
    mode: Mode
    question_kind: QuestionKind
    rubric_hash: str
    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    intercept: float | None
    cuts: tuple[float, ...] | None
    threshold: float
    provenance: Mapping[str, Any]
    quality: Mapping[str, Any]
    selfcheck: Mapping[str, Any] | None
    content_hash: str = ""

    def probabilities(self, features: Mapping[str, float]) -> tuple[float, ...]:
        """P(yes) of a noul, or one probability per level of a score; rounded to 4 decimals."""
        logit = self.logit(features)
        if self.cuts is None:
            return (round(_sigmoid(logit + (self.intercept or 0.0)), DECIMALS),)
        below = [*(_sigmoid(cut - logit) for cut in self.cuts), 1.0]
        return tuple(round(b - a, DECIMALS) for a, b in zip([0.0, *below], below, strict=False))

    def logit(self, features: Mapping[str, float]) -> float:
        """The weighted sum of the standardised features, without intercept or cuts."""
        return fsum(
            weight * (features[name] - mean) / scale
            for name, mean, scale, weight in zip(
                self.features, self.mean, self.scale, self.weights, strict=True
            )
        )

    def failed_gate(self) -> str | None:
        """The first gate this artefact fails by its own figures, in words; None where it passes all."""
        auc, baseline, skill = (self.quality[name] for name in ("auc", "baseline_auc", "brier_skill"))
        if auc < LEAST_AUC:
            return f"AUC {auc} is under {LEAST_AUC}"
        if self.weights[0] <= 0:
            return f"the slope of {self.features[0]} is not above 0"
        if skill <= 0:
            return f"Brier skill {skill} is not above 0"
        if auc <= baseline:
            return f"AUC {auc} is not above word overlap ({baseline})"
        return None

    def fits(self, question: Question) -> bool:
        """Whether this artefact was fitted for a question with these answers."""
        same_kind = self.question_kind == KINDS[type(question)]
        return same_kind and self.rubric_hash == rubric_hash(question)


def load(path: Path) -> Artifact:
    """Read, check and gate an artefact.

    Raises:
        CalibrationError: It cannot be read, was altered, or fails a gate.
    """
    try:
        artifact = _from_json(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise CalibrationError(f"{path.name} cannot be read: {type(error).__name__}") from None
    if content_hash(artifact) != artifact.content_hash:
        raise CalibrationError(f"{path.name} was altered: its content hash differs")
    failed = artifact.failed_gate()
    if failed is not None:
        raise CalibrationError(f"{path.name}: {failed}")
    return artifact


def dump(artifact: Artifact) -> bytes:
    """The file of an artefact: canonical JSON with its content hash, one line a field."""
    sealed = artifact._replace(content_hash=content_hash(artifact))
    rows = (f'  "{name}": {_canonical(value)}' for name, value in sealed._asdict().items())
    return ("{\n" + ",\n".join(rows) + "\n}\n").encode()


def content_hash(artifact: Artifact) -> str:
    """``sha256:`` over the canonical JSON of everything but the hash itself."""
    fields = artifact._asdict()
    del fields["content_hash"]
    return "sha256:" + hashlib.sha256(_canonical(fields).encode()).hexdigest()


def _canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _from_json(fields: Any) -> Artifact:
    if not isinstance(fields, dict) or fields.get("schema") != SCHEMA:
        raise ValueError("schema")
    lists = {name: tuple(fields[name]) for name in ("features", "mean", "scale", "weights")}
    cuts = None if fields["cuts"] is None else tuple(fields["cuts"])
    known = {name: fields[name] for name in Artifact._fields}
    artifact = Artifact(**{**known, **lists, "cuts": cuts})
    allowed = EMBEDDED if artifact.mode == "embed" else LEXICAL
    numbers = [*artifact.mean, *artifact.scale, *artifact.weights, *(cuts or ()), artifact.threshold]
    sound = (
        0 < len(artifact.features) == len(artifact.mean) == len(artifact.scale) == len(artifact.weights)
        and set(artifact.features) <= set(allowed)
        and all(isinstance(one, (int, float)) and isfinite(one) for one in numbers)
        and all(scale > 0 for scale in artifact.scale)
        and (cuts is None) == (artifact.question_kind != "score")
        and (cuts is None or list(cuts) == sorted(cuts))
        and isinstance(artifact.quality, dict)
        and isinstance(artifact.provenance, dict)
    )
    if not sound:
        raise ValueError("fields")
    return artifact


def _sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))
