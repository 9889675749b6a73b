"""Fit the guidance matcher: weights on the tune half of our own prompts, the adapter on the judge's cases.

    python bench/guidance_fit.py --data PATH [--out src/admit/guidance/calibration.json]

A prompt has several chunks, and no label says which of them calls for a snippet: each pair of prompt and
snippet stands for its best chunk under the weights so far, and the fit is repeated until that settles.
Weights below 0 are held at 0. The AUC is over pairs, from folds that leave out whole prompts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from admit.guidance import calibration
from admit.guidance.calibration import FEATURES, Mode, Weights
from admit.guidance.chunks import chunks
from admit.guidance.compete import Bars
from admit.guidance.fused import ADAPTER, FusedMatcher
from admit.guidance.gather import load
from admit.guidance.matcher import LexicalMatcher
from admit.guidance.model import Root, Snippet
from admit.guidance.sections import path_words
from admit.guidance.vectors import shared_encoder, shared_vectors
from admit.judges.encoder import SELFCHECK_TEXTS, TOKENIZER_SHA256, Encoder
from admit.lab import fit

PROMPTS = Path(__file__).parent / "guidance_set" / "prompts.jsonl"
CORPUS = "ways-2026-04/hooks/ways"
FOLDS = 10
ROUNDS = 6
NONE_REPEAT = 3
"""How often the pairs of a prompt that nothing fits count."""

STEPS, TEMPERATURE, PULL, RANK = 300, 0.05, 0.02, 64
"""How the adapter is trained: gradient steps, softmax temperature, pull to the identity; and its rank."""

ITEMS = Path(__file__).parent / "calibration" / "guidance.jsonl"


class Row(NamedTuple):
    """A prompt: the features of its chunks (chunk, snippet, feature), and which snippets it expects."""

    id: str
    x: Any
    y: Any


def corpus(data: Path) -> tuple[tuple[Snippet, ...], str]:
    """The snippets of the corpus with a description, and the digest of the whole."""
    folder = str((data / CORPUS).resolve())
    index, _ = load([Root("agent-ways", "user", folder, folder)])
    return tuple(one for one in index.snippets if one.semantic()), index.digest


def lexical_rows(matcher: LexicalMatcher, prompts: Sequence[Mapping[str, Any]]) -> list[Row]:
    """The features of every chunk of every prompt, as the matcher itself computes them."""
    names, places = FEATURES["lexical"], range(len(matcher.places))
    found = []
    for prompt in prompts:
        each = [matcher.features(chunk) for chunk in chunks(prompt["prompt"], matcher.weight)]
        x = [[[values[name].get(place, 0.0) for name in names] for place in places] for values in each]
        found.append(_row(prompt, matcher, x))
    return found


def fused_rows(
    matcher: FusedMatcher, lexical: LexicalMatcher, prompts: Sequence[Mapping[str, Any]]
) -> list[Row]:
    """The same of the chunks that are embedded."""
    found = []
    for prompt in prompts:
        values = matcher.features(matcher.embedded(chunks(prompt["prompt"], lexical.weight)))
        x = np.stack([values[name] for name in FEATURES["fused"]], axis=2)
        found.append(_row(prompt, lexical, x))
    return found


def _row(prompt: Mapping[str, Any], matcher: LexicalMatcher, x: Any) -> Row:
    expected = prompt["expected"] or ()
    return Row(prompt["id"], np.array(x), np.array([id in expected for id in matcher.places]))


class Cases(NamedTuple):
    """The labelled cases of the local judge as vectors: its items, its tasks, and which items help a task."""

    items: Any
    tasks: Any
    helps: Any


def judge_cases(encoder: Encoder) -> Cases:
    """Cases that are of no corpus and none of the prompts."""
    rows = [json.loads(line) for line in ITEMS.read_text().splitlines()]
    items = {row["item"]: row["description"] for row in rows if "item" in row}
    tasks = [row for row in rows if row.get("relevant")]
    own = np.array(encoder.vectors(list(items.values())))
    under = np.array(encoder.vectors([f"{path_words(path)}: {text}" for path, text in items.items()]))
    helps = np.array([[item in row["relevant"] for item in items] for row in tasks])
    return Cases((own + under) / 2, np.array(encoder.vectors([row["task"] for row in tasks])), helps)


def adapter_of(cases: Cases) -> bytes:
    """The adapter: what a bilinear form adds to the cosine so that a task comes near what helps it.

    Cross-entropy over all items by plain gradient steps from the identity, drawn back to it; then the
    singular vectors of the greatest values, as half-precision floats.
    """
    items = cases.items - cases.items.mean(axis=0)
    wanted = cases.helps / cases.helps.sum(axis=1, keepdims=True)
    identity = np.eye(items.shape[1])
    form = identity.copy()
    for _ in range(STEPS):
        logits = cases.tasks @ form @ items.T / TEMPERATURE
        logits -= logits.max(axis=1, keepdims=True)
        p = np.exp(logits)
        p /= p.sum(axis=1, keepdims=True)
        slope = cases.tasks.T @ (p - wanted) @ items / TEMPERATURE / len(cases.tasks)
        form -= TEMPERATURE / 2 * (slope + PULL * (form - identity))
    left, values, right = np.linalg.svd(form - identity)
    root = np.sqrt(values[:RANK])
    return np.stack([left[:, :RANK] * root, right[:RANK].T * root]).astype("<f2").tobytes()


def fitted(rows: Sequence[Row], repeat: int) -> tuple[Any, float]:
    """Weights and intercept of rows, each positive pair counted `repeat` times."""
    weights = np.ones(rows[0].x.shape[2])
    intercept = 0.0
    for _ in range(ROUNDS):
        x = np.concatenate([_best(row, weights) for row in rows])
        y = np.concatenate([row.y for row in rows])
        none = np.concatenate([np.full(len(row.y), not row.y.any()) for row in rows])
        x = np.concatenate([x, *[x[y]] * (repeat - 1), *[x[none]] * (NONE_REPEAT - 1)])
        y = np.concatenate([y, *[y[y]] * (repeat - 1), *[y[none]] * (NONE_REPEAT - 1)])
        mean, scale = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-9)
        active = np.ones(len(weights), bool)
        while True:
            some, cuts = fit.fit_levels(((x - mean) / scale)[:, active], y.astype(int), 2)
            standard = np.zeros(len(weights))
            standard[active] = some
            if (standard >= 0).all():
                break
            active[int(standard.argmin())] = False
        weights = standard / scale
        intercept = float(-cuts[0] - weights @ mean)
    return weights, intercept


def _best(row: Row, weights: Any) -> Any:
    """The features of each snippet at its best chunk."""
    return row.x[(row.x @ weights).argmax(axis=0), np.arange(row.x.shape[1])]


def cross_validated(rows: Sequence[Row], repeat: int) -> list[Any]:
    """The best logit of every snippet for every prompt, from a fit that did not see the prompt."""
    order = sorted(range(len(rows)), key=lambda k: hashlib.sha256(rows[k].id.encode()).digest())
    fold = {place: number % FOLDS for number, place in enumerate(order)}
    found: list[Any] = [None] * len(rows)
    for k in range(FOLDS):
        weights, intercept = fitted([row for place, row in enumerate(rows) if fold[place] != k], repeat)
        for place, row in enumerate(rows):
            if fold[place] == k:
                found[place] = (row.x @ weights + intercept).max(axis=0)
    return found


def weights_of(mode: Mode, rows: Sequence[Row], repeat: int, provenance: Mapping[str, Any]) -> Weights:
    """The weights of a mode with their evidence."""
    weights, intercept = fitted(rows, repeat)
    scores = np.concatenate(cross_validated(rows, repeat))
    positive = np.concatenate([row.y for row in rows])
    groups = tuple(row.id for row in rows for _ in row.y)
    low, high = fit.auc_interval(scores, positive, groups, 1)
    return Weights(
        FEATURES[mode],
        tuple(round(float(one), 6) for one in weights),
        round(intercept, 6),
        {**provenance, "prompts": len(rows), "pairs": len(scores), "positive": int(positive.sum()),
         "folds": FOLDS, "repeat": repeat, "none_repeat": NONE_REPEAT},
        {"auc": round(fit.auc(scores, positive), 4), "auc_ci95": [round(low, 4), round(high, 4)]},
    )  # fmt: skip


def _unfitted(mode: Mode) -> Weights:
    return Weights(FEATURES[mode], (0.0,) * len(FEATURES[mode]), 0.0, {}, {})


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds the corpus")
    parser.add_argument("--out", type=Path, default=calibration.PATH)
    parser.add_argument("--repeat", type=int, default=4, help="how often a positive pair counts")
    given = parser.parse_args()
    snippets, digest = corpus(given.data)
    prompts = [row for row in map(json.loads, PROMPTS.read_text().splitlines()) if row["split"] == "tune"]
    provenance = {
        "data_sha256": "sha256:" + hashlib.sha256(PROMPTS.read_bytes()).hexdigest(),
        "half": "tune",
        "corpus_digest": digest,
        "licence": "Apache-2.0",
    }
    encoder = shared_encoder()
    encoder.load()
    pins = {"model_sha256": encoder.model_sha256, "tokenizer_sha256": TOKENIZER_SHA256}
    selfcheck = {"texts": list(SELFCHECK_TEXTS), "cosines": list(encoder.cosines(SELFCHECK_TEXTS))}

    lexical = LexicalMatcher(snippets, _unfitted("lexical"), Bars())
    cases = judge_cases(encoder)
    data = adapter_of(cases)
    ADAPTER.write_bytes(data)
    pins["adapter_sha256"] = "sha256:" + hashlib.sha256(data).hexdigest()
    pins["cases_sha256"] = "sha256:" + hashlib.sha256(ITEMS.read_bytes()).hexdigest()
    centre = tuple(round(float(one), 5) for one in cases.items.mean(axis=0))
    unfitted = _unfitted("fused")._replace(provenance=pins, centre=centre, selfcheck=selfcheck)
    fused = FusedMatcher(lexical, unfitted, shared_vectors(), lexical)
    if not fused.wait():
        raise SystemExit(fused.fault)
    modes: dict[Mode, Weights] = {
        "fused": weights_of(
            "fused", fused_rows(fused, lexical, prompts), given.repeat, {**provenance, **pins}
        )._replace(centre=unfitted.centre, selfcheck=selfcheck),
        "lexical": weights_of("lexical", lexical_rows(lexical, prompts), given.repeat, provenance),
    }
    for mode, weights in modes.items():
        failed = calibration.failed_gate(weights, mode)
        named = zip(weights.features, weights.weights, strict=True)
        print(mode, *(f"{name} {value:.3f}" for name, value in named), f"b {weights.intercept:.3f}")
        print(f"  {weights.quality}  {failed or 'passes its gate'}")
        if failed is not None:
            return 1
    given.out.write_bytes(calibration.dump(modes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
