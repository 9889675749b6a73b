"""The weights of the matcher: what turns features of a chunk and a snippet into a probability.

One JSON file for the modes ``fused`` and ``lexical``. A mode is refused where it was not shown to tell
guidance that helps from guidance that does not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from math import exp, isfinite
from pathlib import Path
from typing import Any, Literal, NamedTuple

from admit.errors import CalibrationError

from .lexical import Lexicon

SCHEMA = 1
PATH = Path(__file__).parent / "calibration.json"
DECIMALS = 6

Mode = Literal["fused", "lexical"]

FEATURES: Mapping[Mode, tuple[str, ...]] = {
    "fused": ("lift", "depth", "share", "length"),
    "lexical": ("cover", "several", "length"),
}
"""By mode, in the order of the weights.

lift: cosine to what a snippet says of itself, less that to the mean of many other snippets, through an
adapter that was trained to bring situations to what helps in them. depth: the mean of the three best
sections of its body, likewise. share, cover and several: of words in common with description, vocabulary
and path, see `lexical.Common`. length: n / (n + 5) for the n terms of a chunk; few are little evidence.
"""

LEAST_AUC: Mapping[Mode, float] = {"fused": 0.90, "lexical": 0.80}


class Weights(NamedTuple):
    """A fitted logistic regression with its evidence.

    Attributes:
        weights: One a feature, none below 0; a feature that says nothing has 0.
        provenance: Hashes of prompts, corpus and encoder; counts; seed.
        quality: auc (positive pairs against all others), cross-validated by prompt.
        centre: Of ``fused`` the mean vector of many snippets, which are not those of any index.
        lexicon: Of ``lexical`` what words tell beyond an index.
        selfcheck: Of ``fused`` texts and their cosines, see `encoder_fault`.
    """

    features: tuple[str, ...]
    weights: tuple[float, ...]
    intercept: float
    provenance: Mapping[str, Any]
    quality: Mapping[str, Any]
    centre: tuple[float, ...] = ()
    lexicon: Lexicon = Lexicon()
    selfcheck: Mapping[str, Any] | None = None


def probability(logit: float) -> float:
    """The logistic function, rounded to 6 decimals."""
    return round(1 / (1 + exp(-logit)) if logit >= 0 else exp(logit) / (1 + exp(logit)), DECIMALS)


@lru_cache(maxsize=2)
def shipped(mode: Mode) -> Weights:
    """The weights that come with Admit.

    Raises:
        CalibrationError: They cannot be read, were altered, or fail a gate.
    """
    return load(PATH, mode)


def load(path: Path, mode: Mode) -> Weights:
    """Read, check and gate the weights of a mode.

    Raises:
        CalibrationError: They cannot be read, were altered, or fail a gate.
    """
    try:
        held = json.loads(path.read_bytes())
        if held["schema"] != SCHEMA:
            raise ValueError("schema")
        if held["content_hash"] != content_hash(held["modes"]):
            raise CalibrationError(f"{path.name} was altered: its content hash differs")
        weights = _weights(held["modes"][mode])
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise CalibrationError(f"{path.name} cannot be read: {type(error).__name__}") from None
    failed = failed_gate(weights, mode)
    if failed is not None:
        raise CalibrationError(f"{path.name}: {mode}: {failed}")
    return weights


def failed_gate(weights: Weights, mode: Mode) -> str | None:
    """The first gate these weights fail by their own figures, in words; None where they pass all."""
    if weights.features != FEATURES[mode]:
        return "it was fitted on other features"
    negative = [name for name, one in zip(weights.features, weights.weights, strict=True) if one < 0]
    if negative:
        return f"the weight of {negative[0]} is below 0"
    auc = weights.quality.get("auc")
    if not isinstance(auc, float) or not auc >= LEAST_AUC[mode]:
        return f"AUC {auc} is under {LEAST_AUC[mode]}"
    return None


def dump(modes: Mapping[Mode, Weights]) -> bytes:
    """The file of these weights: JSON with its content hash, one line a mode."""
    plain = {
        mode: {**weights._asdict(), "lexicon": weights.lexicon._asdict()} for mode, weights in modes.items()
    }
    rows = ",\n".join(f'    "{mode}": {_canonical(weights)}' for mode, weights in plain.items())
    hash = content_hash(plain)
    return (
        f'{{\n  "schema": {SCHEMA},\n  "modes": {{\n{rows}\n  }},\n  "content_hash": "{hash}"\n}}\n'.encode()
    )


def content_hash(modes: Mapping[str, Any]) -> str:
    """``sha256:`` over the canonical JSON of all modes."""
    return "sha256:" + hashlib.sha256(_canonical(modes).encode()).hexdigest()


def _weights(fields: Mapping[str, Any]) -> Weights:
    numbers = [*fields["weights"], fields["intercept"]]
    if not all(isinstance(one, (int, float)) and isfinite(one) for one in numbers):
        raise ValueError("weights")
    features, weights = tuple(fields["features"]), tuple(fields["weights"])
    if len(features) != len(weights) or not isinstance(fields["lexicon"]["documents"], int):
        raise ValueError("features")
    return Weights(
        features,
        weights,
        fields["intercept"],
        dict(fields["provenance"]),
        dict(fields["quality"]),
        tuple(fields["centre"]),
        Lexicon(fields["lexicon"]["documents"], dict(fields["lexicon"]["counts"])),
        fields["selfcheck"],
    )


def _canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False)
