"""Fit the local judge on labelled cases, and write the artefact that it loads.

    python -m admit.lab.calibrate --door outputs --mode lexical --cases FILE --out FILE

Everything reported is cross-validated with whole groups left out. The threshold is the one that keeps 90 % of
the positives. The artefact is written only where it passes its gates. Needs the extra ``lab``, and for the
mode ``embed`` the extra ``local``.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import admit
from admit.core.question import Question, Score
from admit.errors import CalibrationError
from admit.judges.artifact import SCHEMA, Artifact, Mode, dump
from admit.judges.encoder import SELFCHECK_TEXTS, TOKENIZER_SHA256, Encoder, EncoderUnavailable
from admit.judges.features import Query, lexicon_of
from admit.judges.rubric import guidance_question, outputs_question, rubric_hash
from admit.text.terms import terms

from . import fit
from .cases import Case, read_cases

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLDS = 10
WINDOW = 500


class Door(NamedTuple):
    """What is fitted for a door: its question, the least level that is positive, its features."""

    question: Question
    positive_from: int
    lexical: tuple[str, ...]

    @property
    def levels(self) -> int:
        return len(self.question.levels) if isinstance(self.question, Score) else 2


DOORS: Mapping[str, Door] = {
    "guidance": Door(guidance_question("q1", ""), 1, ("bm25", "cover", "gram", "len")),
    "outputs": Door(outputs_question("q1", ""), 2, ("bm25", "cover", "gram", "len", "rare")),
}


class Table(NamedTuple):
    """All rows of all cases: one a subject.

    Attributes:
        overlap: Plain word overlap of task and subject (Jaccard): what a fit must beat.
    """

    x: NDArray[Any]
    y: NDArray[Any]
    groups: tuple[str, ...]
    overlap: NDArray[Any]


def fit_artifact(
    rows: Sequence[Case],
    door: str,
    mode: Mode,
    seed: int,
    *,
    data_name: str = "",
    data_sha256: str = "",
    encoder: Encoder | None = None,
) -> Artifact:
    """Fit and measure; the same rows, versions and seed give the same artefact.

    Raises:
        CalibrationError: Too few cases, no embedder in the mode ``embed``, or a gate is not passed.
    """
    artifact = measure(rows, door, mode, seed, data_name=data_name, data_sha256=data_sha256, encoder=encoder)
    failed = artifact.failed_gate()
    if failed is not None:
        raise CalibrationError(f"{door}-{mode}: {failed}")
    return artifact


def measure(
    rows: Sequence[Case],
    door: str,
    mode: Mode,
    seed: int,
    *,
    data_name: str = "",
    data_sha256: str = "",
    encoder: Encoder | None = None,
) -> Artifact:
    """The same without the gate: what a refused artefact would say of itself."""
    if door not in DOORS:
        raise CalibrationError(f"no calibration for the door {door!r}; there are: {', '.join(DOORS)}")
    spec = DOORS[door]
    if mode == "embed" and encoder is None:
        encoder = Encoder()
    features = ("cos", *spec.lexical) if mode == "embed" else spec.lexical
    try:
        table = tabulate(rows, features, encoder if mode == "embed" else None)
        selfcheck = encoder.cosines(SELFCHECK_TEXTS) if mode == "embed" and encoder is not None else None
    except EncoderUnavailable as error:
        raise CalibrationError(str(error)) from None
    positive = table.y >= spec.positive_from
    if len(set(table.groups)) < 2 * FOLDS or positive.sum() < 10:
        raise CalibrationError(
            f"{door}: too few cases: {2 * FOLDS} groups and 10 positive rows are the least"
        )
    p = cross_validated(table, spec.levels, seed)
    mean, scale, weights, cuts = _fitted(table.x, table.y, spec.levels)
    is_score = isinstance(spec.question, Score)
    return Artifact(
        schema=SCHEMA,
        door=door,
        mode=mode,
        question_kind="score" if is_score else "noul",
        rubric_hash=rubric_hash(spec.question),
        features=features,
        mean=_numbers(mean),
        scale=_numbers(scale),
        weights=_numbers(weights),
        intercept=None if is_score else _number(-cuts[0]),
        cuts=_numbers(cuts) if is_score else None,
        threshold=_number(fit.threshold_at_recall(_values(p, is_score), positive), 4),
        provenance={
            "admit_version": admit.__version__,
            "model_sha256": encoder.model_sha256 if encoder is not None and mode == "embed" else None,
            "tokenizer_sha256": TOKENIZER_SHA256 if mode == "embed" else None,
            "onnxruntime": metadata.version("onnxruntime") if mode == "embed" else None,
            "data_name": data_name,
            "data_sha256": data_sha256,
            "n_cases": len(rows),
            "n_groups": len(set(table.groups)),
            "n_pos": int(positive.sum()),
            "n_neg": int((~positive).sum()),
            "folds": FOLDS,
            "seed": seed,
            "fitted_on": f"{platform.system()} {platform.machine()}",
            "licence": "Apache-2.0",
        },
        quality=quality(p, table, spec, seed),
        selfcheck=(
            {"texts": list(SELFCHECK_TEXTS), "cosines": list(selfcheck)} if selfcheck is not None else None
        ),
    )


def tabulate(rows: Sequence[Case], features: Sequence[str], encoder: Encoder | None) -> Table:
    """The features of every row, as the judge itself computes them."""
    import numpy as np

    x: list[list[float]] = []
    overlap: list[float] = []
    for case in rows:
        query = Query(case.task, lexicon_of(case.subjects))
        task = encoder.vectors([case.task])[0] if encoder is not None else None
        words = frozenset(terms(case.task))
        for subject in case.subjects:
            values = query.features(subject)
            if encoder is not None:
                values["cos"] = float(task @ encoder.vectors([query.best_window(subject, WINDOW)])[0])
            x.append([values[name] for name in features])
            others = frozenset(terms(subject))
            overlap.append(len(words & others) / max(1, len(words | others)))
    y = np.array([label for case in rows for label in case.labels])
    groups = tuple(case.group for case in rows for _ in case.subjects)
    return Table(np.array(x), y, groups, np.array(overlap))


def cross_validated(table: Table, levels: int, seed: int) -> NDArray[Any]:
    """Probabilities of each level, from a fit that saw no row of the same group."""
    import numpy as np

    names = sorted(set(table.groups))
    Random(seed).shuffle(names)
    folds = {name: k % FOLDS for k, name in enumerate(names)}
    fold = np.array([folds[name] for name in table.groups])
    p = np.empty((len(table.y), levels))
    for k in range(FOLDS):
        mean, scale, weights, cuts = _fitted(table.x[fold != k], table.y[fold != k], levels)
        p[fold == k] = fit.levels_probabilities((table.x[fold == k] - mean) / scale, weights, cuts)
    return p


def quality(p: NDArray[Any], table: Table, spec: Door, seed: int) -> dict[str, Any]:
    """The figures of an artefact, over cross-validated probabilities."""
    values = _values(p, isinstance(spec.question, Score))
    positive = table.y >= spec.positive_from
    stated = p[:, spec.positive_from :].sum(axis=1)
    low, high = fit.auc_interval(values, positive, table.groups, seed)
    kept = values >= fit.threshold_at_recall(values, positive)
    return {
        "auc": _number(fit.auc(values, positive), 4),
        "auc_ci95": [_number(low, 4), _number(high, 4)],
        "brier_skill": _number(fit.brier_skill(stated, positive), 4),
        "ece": _number(fit.expected_calibration_error(stated, positive), 4),
        "kept_at_recall_90": _number(kept.mean(), 4),
        "baseline_auc": _number(fit.auc(table.overlap, positive), 4),
    }


def _values(p: NDArray[Any], is_score: bool) -> NDArray[Any]:
    """What a threshold is held against: the expectation of a score, P(yes) of a noul."""
    import numpy as np

    return p @ np.arange(p.shape[1]) if is_score else p[:, 1]


def _fitted(x: NDArray[Any], y: NDArray[Any], levels: int) -> tuple[NDArray[Any], ...]:
    import numpy as np

    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale = np.where(scale > 1e-9, scale, 1.0)
    weights, cuts = fit.fit_levels((x - mean) / scale, y, levels)
    return mean, scale, weights, cuts


def _number(value: Any, decimals: int = 6) -> float:
    return round(float(value), decimals)


def _numbers(values: Any) -> tuple[float, ...]:
    return tuple(_number(value) for value in values)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="admit.lab.calibrate", description="Fit the local judge.")
    parser.add_argument("--door", required=True, choices=sorted(DOORS))
    parser.add_argument("--mode", required=True, choices=("embed", "lexical"))
    parser.add_argument("--cases", required=True, type=Path, help="labelled cases, JSON lines")
    parser.add_argument("--out", required=True, type=Path, help="the artefact to write")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    try:
        rows, data_hash = read_cases(given.cases)
        artifact = measure(
            rows, given.door, given.mode, given.seed, data_name=given.cases.name, data_sha256=data_hash
        )
    except CalibrationError as error:
        print(error, file=sys.stderr)
        return 2
    for name, value in artifact.quality.items():
        print(f"{name:18} {value}")
    print(f"{'threshold':18} {artifact.threshold}")
    failed = artifact.failed_gate()
    if failed is not None:
        print(f"not written: {failed}", file=sys.stderr)
        return 1
    given.out.write_bytes(dump(artifact))
    return 0


if __name__ == "__main__":
    sys.exit(main())
